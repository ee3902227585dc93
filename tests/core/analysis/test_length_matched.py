"""Systems at their own length, what more words still add, and systems that write words of their own."""

from dataclasses import replace

import numpy as np
import pytest
from made_scores import Point, in_columns, kept_points, list_kept_points, point_scores
from system_kinds import kind_of

from nws.core.analysis.abstractive import abstractive
from nws.core.analysis.late_gains import late_gains
from nws.core.analysis.length_matched import compare_length_matched, length_matched_pairs
from nws.core.analysis.sign_flip import holm
from nws.core.findings.content import CONTENT_KEPT


def point(system, article, n, words, kept, **scores):
    made = point_scores(kept=kept, coverage=1.0, **scores)
    return Point("news", f"{article:02}", system, n, words, made, kind_of(system))


def points_of(abstractive, others, lengths=(5, 10, 20)):
    """Of each article a summary of its own length that keeps .5, and others that keep a hundredth of their words."""
    own = [point("mine", i, 0, words, 0.5) for i, words in enumerate(abstractive)]
    swept = [point(system, i, n, n, n / 100) for system in others for n in lengths for i in range(len(abstractive))]
    return in_columns(own + swept)


def compared(points, *pairs):
    return compare_length_matched(points, points, pairs or length_matched_pairs(points), CONTENT_KEPT)


@pytest.mark.parametrize(
    ("words", "lengths", "kept"),
    [
        (20, (5, 10, 20), 0.2),
        (22, (5, 10, 20), 0.2),  # 10 % less than 22 is 19.8
        (18, (5, 10, 20), None),  # 20 is 11 % more
        (18, (17, 19), 0.18),  # both are as near: their mean
        (18, (17, 19, 20), 0.18),
        (30, (5, 33), 0.33),
        (1, (5,), None),
    ],
)
def test_each_summary_is_compared_with_the_nearest_of_the_same_article(words, lengths, kept):
    found = compared(points_of([10, words], ["a"], {10, *lengths}))
    (at,) = found[0].lengths
    assert (at.n, at.articles, at.only_a) == (0, 1 + (kept is not None), int(kept is None))
    assert at.difference.mean == pytest.approx(0.4 if kept is None else 0.45 - kept / 2)


def test_the_pairs_and_their_correction():
    rng = np.random.default_rng(1)
    points = points_of([10] * 40, ["a", "lead", "random", "mine", "oracle"])
    near = {"a": 0.47, "lead": 0.32}
    means = [near.get(points.systems[system], 0.5) for system in points.system]
    points.scores[CONTENT_KEPT][:] = means + rng.normal(0, 0.2, len(points))
    assert length_matched_pairs(points) == [("mine", "a"), ("mine", "lead"), ("mine", "random")]
    found = compared(points)
    tests = [pair.lengths[0] for pair in found]
    assert [at.p_holm for at in tests] == holm([at.p for at in tests])
    assert max(at.p_holm for at in tests) > 0.05 > min(at.p for at in tests)
    (alone,) = compared(points, ("mine", "a"))
    assert alone.lengths[0].p_holm == alone.lengths[0].p == pytest.approx(tests[0].p)
    assert compared(points_of([60, 70], ["a"])) == compared(kept_points({"a": {3: 0.1}})) == ()


def test_a_system_of_at_most_n_words_is_compared_at_each_n_with_as_many_as_it_wrote():
    name = "m|prompt=0f|at_most"
    own = [point(name, i, n, words, 0.5) for i in range(3) for n, words in ((5, 4), (10, 9))]
    others = [point("a", i, n, n, n / 100) for i in range(3) for n in (4, 5, 9, 10)]
    points = in_columns(own + others)
    assert length_matched_pairs(points) == [(name, "a")]
    found = compared(points)
    assert all(pair.is_length_matched for pair in found)
    tests = [pair.lengths[0] for pair in found]
    assert [(at.n, at.words_a, at.words_b, at.articles) for at in tests] == [(5, 4, 4, 3), (10, 9, 9, 3)]
    assert [at.difference.mean for at in tests] == pytest.approx([0.46, 0.41])
    assert [at.p_holm for at in tests] == holm([at.p for at in tests])


@pytest.mark.parametrize(
    ("gain", "reference", "stopped"),
    [(0.03, 0.4, True), (-0.05, 0.4, True), (0.2, 0.4, False), (0.0, 0.03, False)],  # the last is at its end
)
def test_a_system_has_stopped_where_the_reference_goes_on(gain, reference, stopped):
    points = kept_points({"a": {10: 0.3, 20: 0.3 + gain}, "reference-words": {10: 0.4, 20: 0.4 + reference}})
    points.scores[CONTENT_KEPT][:] += np.random.default_rng(0).normal(0, 0.05, len(points))
    (found,) = late_gains(points)
    assert (found.start, found.end, found.has_stopped) == (10, 20, stopped)


def test_the_end_of_the_references_is_looked_at_by_systems_that_write_n():
    shares = {n: 0.3 for n in (5, 9, 11, 19, 21, 41)}
    listed = list_kept_points({"a": shares, "short": shares, "reference-words": shares, "random": shares})
    points = in_columns(replace(of, words=min(of.n, 17)) if of.system == "short" else of for of in listed)
    found = late_gains(replace(points, reference_lengths={"news": 20.5}))
    assert [(of.system, of.start, of.end) for of in found] == [("a", 9, 19)]


def test_systems_with_words_of_their_own():
    places = (("copies", 9), ("lead3", 0), ("lead3", 9), ("a file", 0), ("a file", 9), ("lead", 9))
    listed = [point(system, i, n, 9, 0.1, faithfulness=0.4 + 0.2 * i) for system, n in places for i in range(2)]
    points = in_columns(listed)
    (own,) = abstractive(points)
    assert (own.dataset, own.system, own.coverage) == ("news", "a file", 1.0)
    assert own.faithfulness == pytest.approx(0.5)
    points.scores["coverage"][:2] = 0.9
    assert [(of.system, of.coverage) for of in abstractive(points)] == [("a file", 1.0), ("copies", 0.9)]
    del points.scores["faithfulness"]
    assert abstractive(points)[0].faithfulness is None
    del points.scores["coverage"]
    assert abstractive(points) == ()
