"""Answers at an end of the n tried."""

import dataclasses

import pytest
from made_scores import kept_points

from core.analysis.content_kept import content_kept
from jobs.report.sweep.gain_answer import headline, recommendation
from jobs.report.sweep.numbers import analyse, report_json


@pytest.mark.parametrize(("n", "edge"), [(3, "shortest"), (7, None), (21, "longest"), (None, None)])
def test_the_edge_of_a_share(n, edge):
    (kept, *_) = content_kept(kept_points({"a": {3: 0.3, 7: 0.4, 21: 0.5}}))
    assert kept.edge(n) == edge


def with_candidates(numbers, *candidates):
    first, *others = numbers.magic_numbers
    return dataclasses.replace(numbers, magic_numbers=(dataclasses.replace(first, recommended=candidates), *others))


@pytest.mark.parametrize(
    ("candidates", "edge", "said"),
    [
        ((1,), "shortest", "only n = 1 is left (the shortest there is); largest gain over random"),
        ((21,), "longest", "only n = 21 is left (the longest tried); largest gain over random"),
        ((9,), None, "n = 9 is recommended, since all other n are ruled out;"),
        ((19, 21), None, "n = 19–21 remain candidates"),
    ],
)
def test_the_edge_of_a_gain_is_said_and_never_recommended(run, make_points, candidates, edge, said):
    numbers = with_candidates(analyse(run, make_points(("a", "random"))), *candidates)
    number = numbers.magic_numbers[0]
    assert number.edge == edge
    assert recommendation(number).startswith(said)
    assert report_json(numbers)["magic_numbers"][0]["at"] == edge
    if edge:
        assert "recommended" not in recommendation(number)
        assert headline(numbers, "news") == "Some n can be ruled out, but no single n can be recommended."
