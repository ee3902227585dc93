from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from nws.core.analysis.correlation import (
    COEFFICIENTS,
    LEVELS,
    coefficients,
    coefficients_of_draws,
    observed,
    resampled_correlations,
    shares_of_pairs,
)
from nws.core.analysis.correlation import correlations as correlated

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def correlations(metrics, human, **options):
    return correlated(metrics, human, resampled_correlations(metrics, human, **options))


def by_name(found):
    return {(one.metric, one.level, one.coefficient): one for one in found}


def made(systems, documents, agreement, rng):
    """Scores of a metric and of people whose true scores of a system correlate by `agreement`."""
    true = rng.multivariate_normal([0, 0], [[1, agreement], [agreement, 1]], size=systems)
    return [true[:, [i]] + rng.normal(size=(1, documents)) + rng.normal(size=(systems, documents)) for i in (0, 1)]


def test_the_worked_example_of_the_authors_library():
    # The documentation of `nlpstats`, by the first author of the paper, shows these.
    draws = np.random.RandomState(4)
    metric, human = draws.rand(10, 25), draws.rand(10, 25)
    found = by_name(correlations({"m": metric}, human, seed=0, resamples=20))
    assert found["m", "system", "pearson"].value == pytest.approx(-0.5011117333825296, abs=1e-12)
    assert found["m", "summary", "spearman"].value == pytest.approx(-0.07103030303030303, abs=1e-12)


def test_documents_without_a_correlation_are_left_out_and_counted():
    metric, human = made(6, 10, 0.5, np.random.default_rng(2))
    metric[:, 3], human[:, [3, 7]] = 0.5, 1.0
    found = by_name(correlations({"m": metric}, human, seed=0, resamples=50))
    rest = [d for d in range(10) if d not in (3, 7)]
    expected = np.mean([stats.kendalltau(metric[:, d], human[:, d]).statistic for d in rest])
    one = found["m", "summary", "kendall"]
    assert (one.value, one.documents_left_out) == (pytest.approx(expected), 2)
    assert found["m", "system", "kendall"].documents_left_out == 0


def test_means_that_differ_by_rounding_are_tied():
    # The same three scores in another order: their sums differ in the last digit.
    metric = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.9, 0.5, 0.7], [0.2, 0.9, 0.4]])
    assert metric[0].sum() != metric[1].sum()
    human = np.array([[1.0, 2, 3], [5, 2, 6], [5, 5, 5], [4, 4, 4]])
    expected = stats.kendalltau([1, 1, 3, 2], human.mean(axis=1)).statistic
    assert by_name(correlations({"m": metric}, human, seed=0, resamples=5))["m", "system", "kendall"].value == (
        pytest.approx(expected)
    )


def test_resamples_are_those_of_the_paper():
    """Boot-Both by hand: systems and documents drawn with replacement, the correlation of what was drawn."""
    metric, human = made(7, 12, 0.7, np.random.default_rng(3))
    human = human.round()
    found = by_name(correlations({"m": metric}, human, seed=0, resamples=3000))
    rng = np.random.default_rng(9)
    by_hand = []
    for _ in range(400):
        cells = np.ix_(rng.integers(0, 7, 7), rng.integers(0, 12, 12))
        by_hand.append(observed(metric[cells], human[cells]))
    for (i, level), (j, name) in product(enumerate(LEVELS), enumerate(COEFFICIENTS)):
        low, high = np.nanquantile([values[i, j] for values in by_hand], [0.025, 0.975])
        one = found["m", level, name]
        assert (one.low, one.high) == (pytest.approx(low, abs=0.12), pytest.approx(high, abs=0.06))


def share_by_hand(metric, human, words, apart, systems, documents):
    """Of all pairs of drawn systems on drawn documents, one after another."""
    told = [
        np.sign(metric[i, d] - metric[j, d]) * np.sign(human[i, d] - human[j, d]) / 2 + 0.5
        for d in documents
        for k, i in enumerate(systems)
        for j in systems[:k]
        if abs(words[i, d] - words[j, d]) <= apart and abs(human[i, d] - human[j, d]) > 0
    ]
    return len(told), np.mean(told) if told else np.nan


@pytest.mark.parametrize("apart", [0, 2])
def test_the_share_of_pairs_of_equal_length(apart):
    rng = np.random.default_rng(8)
    metric, human = (scores.round(1) for scores in made(5, 9, 0.6, rng))  # some are ties
    words = rng.integers(5, 9, size=human.shape).astype(float)
    human[1, 4] = human[3, 7] = np.nan
    metric[np.isnan(human)] = words[np.isnan(human)] = np.nan
    pairs, (one, length) = shares_of_pairs({"m": metric, "words": words}, human, words, apart, seed=3, resamples=60)
    assert (pairs, one.value) == pytest.approx(share_by_hand(metric, human, words, apart, range(5), range(9)))
    draws = np.random.default_rng(3)
    systems, documents = (draws.multinomial(size, np.full(size, 1 / size), size=60) for size in human.shape)
    drawn = [np.repeat(np.arange(5), s) for s in systems], [np.repeat(np.arange(9), d) for d in documents]
    shares = [share_by_hand(metric, human, words, apart, *both)[1] for both in zip(*drawn, strict=True)]
    assert [one.low, one.high] == pytest.approx(np.nanquantile(shares, [0.025, 0.975]))
    assert one.resamples == np.isfinite(shares).sum()
    assert (length.value == 0.5) == (apart == 0), "of equal numbers, each is a tie"


def test_the_seed_decides_and_other_metrics_do_not():
    metric, human = made(6, 8, 0.5, np.random.default_rng(6))
    alone = correlations({"m": metric}, human, seed=1, resamples=100)
    assert correlations({"other": human + 1, "m": metric}, human, seed=1, resamples=100)[6:] == alone
    assert correlations({"m": metric}, human, seed=2, resamples=100) != alone


def by_scipy(x, y):
    """(3,), NaN where one of them is constant, which scipy warns about."""
    if len(set(x)) == 1 or len(set(y)) == 1:
        return [np.nan] * 3
    return [SCIPY[name](x, y).statistic for name in COEFFICIENTS]


# Few values, so that there are ties and constant rows.
rows = st.integers(2, 7).flatmap(
    lambda units: st.lists(st.tuples(*[st.integers(0, 3)] * units), min_size=2, max_size=4)
)


@settings(max_examples=60, deadline=None)
@given(rows=rows)
def test_every_row_is_as_scipy_says(rows):
    x, y = np.array(rows, dtype=np.float64), np.array(rows[::-1], dtype=np.float64)
    expected = np.transpose([by_scipy(*pair) for pair in zip(x, y, strict=True)])
    np.testing.assert_allclose(coefficients(x, y), expected, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(rows=rows, seed=st.integers(0, 99))
def test_a_draw_is_as_scipy_says_of_the_units_drawn(rows, seed):
    x, y = np.array(rows, dtype=np.float64), np.array(rows[::-1], dtype=np.float64) / 3
    units = x.shape[1]
    drawn = np.random.default_rng(seed).integers(0, units, size=(2, units))
    counts = np.array([np.bincount(draw, minlength=units) for draw in drawn], dtype=np.float64)
    found = coefficients_of_draws(x, y, counts)
    assert found.shape == (3, len(rows), 2)
    for row in range(len(rows)):
        for i, draw in enumerate(drawn):
            np.testing.assert_allclose(found[:, row, i], by_scipy(x[row, draw], y[row, draw]), atol=1e-12)


@pytest.mark.parametrize("scale", [1e-90, 1e-9, 1, 1e9])
def test_neither_scale_nor_offset_changes_anything(scale):
    x, y = np.random.default_rng(0).normal(size=(2, 4, 9))
    counts = np.ones((1, 9))
    expected = coefficients(x, y)
    np.testing.assert_allclose(coefficients(x * scale, y - 3), expected, atol=1e-12)
    np.testing.assert_allclose(coefficients_of_draws(x * scale, y - 3, counts)[:, :, 0], expected, atol=1e-12)


def test_a_constant_row_is_undefined_although_its_mean_is_rounded():
    x = np.full((1, 6), 0.1)
    assert (x - x.mean()).any()  # the mean of six 0.1 is not 0.1
    y = np.arange(6.0)[None]
    assert np.isnan(coefficients(x, y)).all()
    assert np.isnan(coefficients_of_draws(x, y, np.ones((1, 6)))).all()
    for one in correlations({"m": np.full((4, 5), 0.1)}, np.random.default_rng(0).normal(size=(4, 5)), seed=0):
        assert (one.value, one.low, one.high, one.resamples) == (None, None, None, 0)


def test_resamples_of_scores_with_gaps_are_those_of_the_pairs_that_are_there():
    rng = np.random.default_rng(7)
    metric, human = made(6, 9, 0.8, rng)
    gaps = rng.random((6, 9)) < 0.2
    metric[gaps], human[gaps] = np.nan, np.nan
    counts = rng.multinomial(6, np.full(6, 1 / 6), size=40).astype(float)
    found = coefficients_of_draws(metric.T, human.T, counts)
    for (row, draw), (i, name) in product(np.ndindex(9, 40), enumerate(COEFFICIENTS)):
        drawn = np.repeat(np.arange(6), counts[draw].astype(int))
        drawn = drawn[~gaps[drawn, row]]
        if len({*drawn}) < 2:
            assert np.isnan(found[i, row, draw])
        else:
            expected = SCIPY[name](metric[drawn, row], human[drawn, row]).statistic
            assert found[i, row, draw] == pytest.approx(expected, abs=1e-9)
    there = ~np.isnan(metric[:, 0])
    alone = coefficients(metric[there, :1].T, human[there, :1].T)
    assert coefficients(metric[:, :1].T, human[:, :1].T) == pytest.approx(alone)
