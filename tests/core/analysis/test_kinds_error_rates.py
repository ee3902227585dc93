"""How sure it is what is kept of a kind of word: with few articles, most of which keep nothing of a rare kind."""

import numpy as np

from nws.core.analysis.kept_by_kind import contrast_of, shares_of
from nws.core.text.word_kinds import KINDS

STUDIES = 300


def terms_of(kept: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The terms of names and dates, (articles, 2 · kinds), from those of both, (articles, 2)."""
    terms = np.full((2, len(kept), len(KINDS)), np.nan)
    columns = [KINDS.index("who"), KINDS.index("when")]
    terms[0][:, columns], terms[1][:, columns] = kept, whole
    return np.hstack(terms)


def test_the_interval_of_a_rare_kind_holds_the_truth() -> None:
    """Of 60 articles 3 keep all their dates; those of 40 are drawn, and often none of the 3 is among them."""
    rng = np.random.default_rng(0)
    whole = rng.uniform(0.02, 0.2, (60, 2))
    kept = np.where(np.arange(60)[:, None] < 3, 1, 0.01) * whole
    truth = kept[:, 1].sum() / whole[:, 1].sum()
    held = 0
    for _ in range(STUDIES):
        drawn = rng.integers(0, 60, 40)
        share = shares_of(terms_of(kept[drawn], whole[drawn]))["when"].interval
        assert share.low is not None
        assert share.high is not None
        held += share.low <= truth <= share.high
    assert held >= 0.93 * STUDIES


def test_kinds_that_are_kept_alike_are_seldom_told_apart() -> None:
    """Names are nearly whole everywhere, dates wholly lost in a twentieth of the articles: as much is kept of both."""
    rng = np.random.default_rng(0)
    told = 0
    for _ in range(STUDIES):
        kept = np.column_stack([rng.uniform(0.9, 1, 30), rng.random(30) > 0.05])
        verdict = contrast_of(shares_of(terms_of(kept, np.ones((30, 2)))))
        told += verdict is not None and verdict.significant
    assert told <= 0.05 * STUDIES


def test_a_clear_difference_is_told() -> None:
    rng = np.random.default_rng(0)
    kept = rng.normal((0.7, 0.2), 0.2, (40, 2))
    verdict = contrast_of(shares_of(terms_of(kept, np.ones((40, 2)))))
    assert verdict is not None
    assert verdict.significant
    assert (verdict.most, verdict.least) == ("who", "when")
