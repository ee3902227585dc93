"""What is kept of each kind of word: shares, intervals, articles that have all n, and which kinds differ."""

import numpy as np
import pytest
from numpy.typing import NDArray

from nws.core.analysis.kept_by_kind import KindTerms, differences_of, kept_by_kind, shares_of
from nws.core.text.word_kinds import KINDS, NAMED

WHO, WHEN, NUMBER = (KINDS.index(kind) for kind in ("who", "when", "number"))


def drawn(seed: int, articles: int, spread: float = 0.1, lacks: float = 0.3, **shares: float) -> NDArray[np.float16]:
    """Terms of articles, of which systems keep these shares of each kind, or 0.4; some articles lack some kinds."""
    rng = np.random.default_rng(seed)
    whole = rng.uniform(0.02, 0.3, (articles, len(KINDS)))
    kept = whole * (np.array([shares.get(kind, 0.4) for kind in KINDS]) + rng.normal(0, spread, whole.shape))
    terms = np.where(rng.uniform(size=whole.shape) < lacks, np.nan, [kept, whole])
    return np.hstack(list(terms)).astype(np.float16)


def cell(n: int, terms: NDArray[np.float16], articles: range | None = None, system: str = "a") -> KindTerms:
    return KindTerms("news", system, n, np.array(articles or range(len(terms))), terms)


def test_a_share_is_the_ratio_of_the_sums_over_the_articles_that_have_the_kind() -> None:
    terms = drawn(1, 60)
    terms[:, WHEN] = terms[:, WHEN + len(KINDS)] = np.nan
    terms[19:, NUMBER] = terms[19:, NUMBER + len(KINDS)] = np.nan
    (of,) = kept_by_kind([cell(7, terms)])
    assert [at.kind for at in of.kinds] == [kind for kind in KINDS if kind != "when"]
    for kind, at in of.by_kind.items():
        kept, whole = terms[:, KINDS.index(kind)].astype(float), terms[:, KINDS.index(kind) + len(KINDS)].astype(float)
        assert at.articles == np.isfinite(whole).sum()
        assert at.share.mean == pytest.approx(np.nansum(kept) / np.nansum(whole))
        assert (at.share.low is None) == (at.share.high is None) == (at.articles < 20)
    assert of.by_kind["number"].share.low is None
    assert of.contrast is not None
    assert "number" not in (of.contrast.most, of.contrast.least)


def test_intervals_have_the_width_of_a_bootstrap_over_articles() -> None:
    terms, rng = drawn(2, 150, spread=0.3), np.random.default_rng(0)
    again = [shares_of(terms[rng.integers(0, 150, 150)])["who"].interval.mean for _ in range(800)]
    found = shares_of(terms)["who"].interval
    low, high = np.quantile(again, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.15 * (high - low))
    other = drawn(3, 150, spread=0.3, lacks=0)
    other[np.isnan(terms)] = np.nan
    other[:, len(KINDS) :] = terms[:, len(KINDS) :]
    picks = rng.integers(0, 150, (800, 150))
    differ = [shares_of(terms[p])["who"].interval.mean - shares_of(other[p])["who"].interval.mean for p in picks]
    found = differences_of(shares_of(terms), shares_of(other))["who"]
    low, high = np.nanquantile(differ, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.15 * (high - low))


def test_only_articles_with_every_n_count_and_the_longest_is_compared() -> None:
    short, long, uncut = drawn(4, 40), drawn(4, 30, lacks=0.1, who=0.8, number=-0.2), drawn(5, 10)
    found = kept_by_kind([cell(0, uncut), cell(3, short), cell(7, long, range(5, 35))])
    assert [(of.n, of.contrast is not None) for of in found] == [(0, False), (3, False), (7, True)]
    assert found[1].kinds == kept_by_kind([cell(3, short[5:35])])[0].kinds
    assert (found[2].contrast.most, found[2].contrast.least, found[2].contrast.significant) == ("who", "number", True)
    doubled = cell(7, np.vstack([long, short[:30]]), range(30))
    twice = KindTerms("news", "a", 7, np.concatenate([np.arange(30)] * 2), doubled.terms)
    assert kept_by_kind([twice])[0].kinds == kept_by_kind([cell(7, long)])[0].kinds, "the first row of an article"
    assert kept_by_kind([cell(3, short[:5]), cell(7, short[:5], range(5, 10))]) == ()


def test_kinds_that_are_kept_alike_differ_in_few_studies() -> None:
    found = [kept_by_kind([cell(7, drawn(seed, 60, spread=0.3))])[0].contrast for seed in range(200)]
    assert 1 <= sum(apart.significant for apart in found) <= 16
    assert all(apart.most in NAMED and apart.p <= 1 for apart in found)
