"""What is told of a claim about lengths, of made sweeps whose means, elbow and best n are known."""

from dataclasses import replace

import pytest
from made_scores import kept_points

from nws.core.analysis.claimed_lengths import claimed_lengths
from nws.core.errors import RecipeError

SYSTEM = {1: 0.10, 3: 0.30, 5: 0.40, 7: 0.44, 9: 0.46}


def told(system, claim=(3, 5), metrics=("kept", "bertscore_f1")):
    points = kept_points({"a": system, "random": {1: 0.05, 3: 0.14, 5: 0.22, 7: 0.29, 9: 0.35}})
    only = replace(points, scores={name: points.scores[name] for name in metrics})
    return claimed_lengths(only, "news", "a", claim)


def test_of_a_known_curve() -> None:
    found = told(SYSTEM)
    assert [share.mean for share in found.shares] == pytest.approx([0.30 / 0.46, 0.40 / 0.46])
    assert {end: at.n for end, at in found.elbows.items()} == {3: 3, 5: 5, 9: 5}
    assert [(at.n, at.may_be) for at in found.best] == [(5, (5,))] * 2
    assert [at.per_word.mean for at in found.steps] == pytest.approx([0.10, 0.05, 0.02, 0.01])
    assert [(at.p_more, at.p_less) for at in found.steps] == [(0, 1), (0, 0), (0, 0), (0, 0)]
    assert [at.p_more for at in told(SYSTEM | {9: 0.44}).steps] == [0, 0, 0, 1]  # the last adds nothing
    assert [at.p_less for at in told({3: 0.2, 5: 0.3, 7: 0.4}).steps] == [1, 1]


def test_lengths_are_singled_out_where_every_metric_gains_most() -> None:
    assert [told(SYSTEM, claim).is_singled_out for claim in ((3, 5), (5, 5), (7, 9))] == [True, True, False]
    assert not told(SYSTEM, metrics=("kept", "rouge1_f1")).is_singled_out  # ROUGE-1 gains nothing anywhere


def test_a_claim_about_nothing_is_refused() -> None:
    for system, claim, message in (
        (SYSTEM, (3, 13), r"news has no n = 13: the nearest of its n \(1, 3, 5, 7, 9\) is 9"),
        ({9: 0.3}, (9, 9), "news has only n = 9: run more"),
        (SYSTEM, (1, 9), "A claim must leave out some n, but news has only n = 1–9"),
        ({3: -0.2, 7: -0.2, 9: -0.1}, (3, 7), "a keeps nothing of news at n = 9"),
    ):
        with pytest.raises(RecipeError, match=message):
            told(system, claim)
