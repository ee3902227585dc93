import math

import numpy as np
import pytest
from made_scores import Point, in_columns
from numpy.typing import NDArray

from core.analysis import compare_systems
from core.analysis.sample_size import (
    MOST_ARTICLES,
    Needed,
    articles_needed,
    articles_to_show,
    whole_articles,
)
from core.analysis.sign_flip import sign_flip_p

PAIR = ("lexrank", "lead")


def points(differences: NDArray[np.float64]) -> list[Point]:
    """LexRank has these over lead, (articles, lengths); the lengths are 1, 2 and so on."""
    return [
        Point("made", f"{article:03d}", system, n, n, {"kept": 0.3 + (value if system == "lexrank" else 0.0)})
        for article, row in enumerate(differences)
        for n, value in enumerate(row.tolist(), start=1)
        for system in PAIR
    ]


def needed(differences: NDArray[np.float64], **asked: float) -> tuple[Needed, ...]:
    (pair,) = articles_needed(in_columns(points(differences)), [PAIR], "kept", **asked)
    return pair.lengths


def differences(tail: bool) -> NDArray[np.float64]:
    """Those of 200 articles: the mean .05, the standard deviation .1, and with a tail as long as real ones have."""
    rng = np.random.default_rng(0)
    values = rng.gamma(10, size=(200, 1)) if tail else rng.normal(size=(200, 1))
    return np.asarray(0.05 + 0.1 * (values - values.mean()) / values.std(ddof=1))


@pytest.mark.parametrize("tail", [False, True])
@pytest.mark.parametrize(("asked", "power"), [({}, 0.8), ({"power": 0.9, "difference": 0.03, "alpha": 0.01}, 0.9)])
def test_a_study_of_so_many_articles_has_the_power(asked: dict[str, float], power: float, tail: bool) -> None:
    values = differences(tail)
    (at,) = needed(values, **asked)
    assert at.articles is not None
    rng = np.random.default_rng(1)
    studies = rng.integers(0, len(values), (at.articles, 1_000))
    shifted = values[:, 0] + asked.get("difference", 0.05) - 0.05
    found = np.mean([p < asked.get("alpha", 0.05) for p, _ in sign_flip_p(shifted[studies])])
    assert found == pytest.approx(power, abs=0.05)


def test_it_says_what_was_seen() -> None:
    (at,) = needed(differences(tail=False))
    assert (at.n, at.seen, at.spread) == (1, 200, pytest.approx(0.1))
    # The book's example: with z, (1.96 + 0.84)² · 4 = 31.4; t takes two more.
    assert at.articles == 34


@pytest.mark.slow
def test_all_n_together_take_more_articles_and_as_many_suffice_to_compare() -> None:
    rng = np.random.default_rng(2)
    values = 0.05 + 0.02 * rng.normal(size=(60, 6)) + 0.1 * rng.normal(size=(60, 1))
    at = needed(values)[0]
    assert at.articles is not None
    assert at.articles_at_all is not None
    assert at.articles < at.articles_at_all
    drawn = (values[rng.integers(0, 60, at.articles_at_all)] for _ in range(60))
    compared = (compare_systems(points(of), points(of), [PAIR], "kept")[0].lengths[0] for of in drawn)
    assert np.mean([at_n.significant for at_n in compared]) > 0.75


def test_nothing_is_advised_where_no_number_would_do_and_few_where_few_signs_suffice() -> None:
    (same,) = needed(np.zeros((30, 1)))
    assert (same.articles, same.spread) == (None, 0)
    (sure,) = needed(0.5 + 0.01 * np.random.default_rng(3).normal(size=(30, 1)))
    assert sure.articles == 12
    (strict,) = needed(0.5 + 0.01 * np.random.default_rng(3).normal(size=(30, 1)), alpha=1e-6)
    assert strict.articles == 21  # of 20, the rarest two patterns of signs have p = 1.9e-6
    assert whole_articles(MOST_ARTICLES + 1, 6) is None
    assert math.isinf(articles_to_show(0.0, 1.0, 0.8, 0.05))


def test_what_is_not_there_is_left_out() -> None:
    given = points(np.full((2, 1), 0.1))
    assert articles_needed(in_columns(given[:3]), [PAIR], "kept") == ()  # one article has both
    assert articles_needed(in_columns(given), [("lexrank", "oracle")], "kept") == ()
    with_gap = [*given, Point("made", "002", "lexrank", 1, 1, {"kept": math.nan})]
    (pair,) = articles_needed(in_columns(with_gap), [PAIR], "kept")
    assert pair.lengths[0].seen == 2
