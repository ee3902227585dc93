"""The words that one system needs to keep as much as another, against means that are computed here."""

import dataclasses

import numpy as np
import pytest
from made_scores import kept_points

from nws.core.analysis.points import Points
from nws.core.analysis.words_saved import saved_at_each_length, saved_over_lead

SHARES = {"best": {3: 0.2, 5: 0.35, 7: 0.5, 9: 0.6}, "lead": {3: 0.1, 7: 0.35, 9: 0.45}, "never": {3: 0.0, 9: 0.01}}


def found(points: Points, a: str, b: str) -> list[tuple[int, int | None, int | None]]:
    return [(at.m, at.smallest.n, at.smallest.claimed) for at in saved_at_each_length(points, a, b)]


def test_they_are_the_smallest_n_whose_mean_and_those_of_all_longer_n_are_as_high() -> None:
    points = kept_points(SHARES, spread=0.02)
    # Each article differs alike at all n, so that means alone decide; that of 5 words and 7 of lead are equal.
    assert found(points, "best", "lead") == [(3, 3, 3), (7, 5, 7), (9, 7, 7)]
    assert [n for _, n, _ in found(points, "lead", "best")] == [7, 7, None, None]
    (at,) = saved_over_lead(points, {"news": ("best", "never")})
    assert (at.m, at.a, at.articles, at.smallest.n) == (9, "best", 60, 7)
    assert saved_over_lead(points, {"news": ("lead",)}) == saved_over_lead(points, {}) == ()
    assert found(points, "best", "nobody") == []
    assert found(points, "lead", "never")[0][0] == 9, "3 words of never keep nothing"


def test_noise_moves_the_claim_and_more_lengths_demand_more() -> None:
    points = kept_points(SHARES, spread=0.02)
    rng = np.random.default_rng(1)
    points = dataclasses.replace(points, scores={"kept": points.scores["kept"] + rng.normal(0, 0.3, len(points))})
    for at in saved_at_each_length(points, "best", "lead"):
        means = {n: points.scores["kept"][_of(points, "best", n)].mean() for n in SHARES["best"]}
        wanted = points.scores["kept"][_of(points, "lead", at.m)].mean()
        enough = [n for n in means if all(means[longer] >= wanted for longer in means if longer >= n)]
        assert at.smallest.n == min(enough, default=None)
        assert at.smallest.claimed is None or at.smallest.claimed >= at.smallest.n


def _of(points: Points, system: str, n: int) -> np.ndarray:
    return (points.system == points.systems.index(system)) & (points.n == n)


@pytest.mark.parametrize("what", ["characters", "fewer words"])
def test_characters_and_systems_that_do_not_write_n_words_have_none(what: str) -> None:
    points = kept_points(SHARES)
    change = (
        {"article_characters": points.n} if what == "characters" else {"words": points.words - (points.system == 0)}
    )
    changed = dataclasses.replace(points, **change)
    assert found(changed, "best", "lead") == []
    assert saved_over_lead(changed, {"news": ("best",)}) == ()
