import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.analysis import bootstrap
from core.analysis.bootstrap import Interval, mean_interval, mean_intervals, score_intervals

F1 = st.floats(-1, 1, allow_subnormal=False)


@pytest.mark.parametrize("articles", [2, 7, 300])
@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_agrees_with_scipy(articles, confidence):
    values = np.random.default_rng(3).beta(2, 5, articles)
    found = mean_interval(values, seed=11, confidence=confidence, resamples=2000)
    expected = stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=confidence,
        n_resamples=2000,
        method="percentile",
        rng=np.random.default_rng(11),
    ).confidence_interval
    assert found.mean == pytest.approx(values.mean(), abs=1e-12)
    # scipy draws the same articles from the same seed, so this is exact up to rounding.
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_drawing_in_parts_changes_nothing(monkeypatch):
    values = np.random.default_rng(0).normal(size=(101, 3))
    whole = mean_intervals(values, seed=5, resamples=500)
    monkeypatch.setattr(bootstrap, "CELLS_AT_ONCE", 1000)
    in_parts = mean_intervals(values, seed=5, resamples=500)
    for one, other in zip(whole, in_parts, strict=True):
        assert (one.mean, one.low, one.high) == pytest.approx((other.mean, other.low, other.high), abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(value=F1, articles=st.integers(1, 40), seed=st.integers(0, 2**32))
def test_equal_values_have_no_width(value, articles, seed):
    assert mean_interval([value] * articles, seed, resamples=50) == Interval(value, value, value)


@settings(max_examples=50, deadline=None)
@given(values=st.lists(F1, min_size=1, max_size=30), seed=st.integers(0, 2**32))
def test_the_interval_lies_within_the_values_and_repeats(values, seed):
    found = mean_interval(values, seed, resamples=400)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert found == mean_interval(values, seed, resamples=400)


def test_more_confidence_is_wider_and_another_seed_differs():
    values = np.random.default_rng(0).normal(size=50)
    narrow, wide = mean_interval(values, 1, confidence=0.5), mean_interval(values, 1, confidence=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert mean_interval(values, 2) != mean_interval(values, 1)


def test_covers_the_true_mean_as_often_as_it_says():
    samples = np.random.default_rng(9).normal(size=(100, 1000))
    covered = np.mean([i.low <= 0 <= i.high for i in mean_intervals(samples, seed=1, resamples=1000)])
    assert 0.92 < covered < 0.97


def test_a_column_that_lacks_articles_is_its_own_sample():
    values = np.random.default_rng(0).normal(size=(20, 3))
    values[[3, 8], 1] = np.nan
    found = mean_intervals(values, seed=4, resamples=300)
    assert found[1] == mean_interval(values[~np.isnan(values[:, 1]), 1], seed=4, resamples=300)
    # Not bit for bit: a product over two columns may add in another order than over one.
    assert found[2].low == pytest.approx(mean_interval(values[:, 2], seed=4, resamples=300).low, abs=1e-12)


def test_columns_share_their_resamples():
    values = np.random.default_rng(0).normal(size=(20, 1))
    first, second = mean_intervals(np.hstack([values, values + 1]), seed=4, resamples=300)
    assert (second.low, second.high) == pytest.approx((first.low + 1, first.high + 1))


def test_no_values_is_an_error():
    with pytest.raises(ValueError, match="at least one value"):
        mean_interval([], seed=0)
    with pytest.raises(ValueError, match="a column is empty"):
        mean_intervals(np.array([[1.0, np.nan]]), seed=0)


def test_a_score_that_is_a_mean_agrees_with_the_mean():
    values = np.random.default_rng(3).beta(2, 5, (40, 2))
    found = score_intervals(lambda rows: rows.mean(axis=0), values, seed=11, resamples=300)
    # The same seed draws the same articles, here one resample after the other.
    expected = mean_intervals(values, seed=11, resamples=300)
    for one, other in zip(found, expected, strict=True):
        assert (one.mean, one.low, one.high) == pytest.approx((other.mean, other.low, other.high), abs=1e-12)


def test_a_ratio_of_sums_agrees_with_scipy():
    values = np.random.default_rng(4).integers(1, 9, (30, 2)).astype(np.float64)
    (found,) = score_intervals(lambda rows: rows[:, :1].sum(axis=0) / rows[:, 1].sum(), values, seed=2, resamples=400)
    expected = stats.bootstrap(
        (values[:, 0], values[:, 1]),
        lambda a, b: a.sum() / b.sum(),
        n_resamples=400,
        method="percentile",
        paired=True,
        vectorized=False,
        rng=np.random.default_rng(2),
    ).confidence_interval
    assert found.mean == values[:, 0].sum() / values[:, 1].sum()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_score_of_no_rows_or_equal_ones():
    with pytest.raises(ValueError, match="at least one row"):
        score_intervals(lambda rows: rows.mean(axis=0), np.zeros((0, 1)), seed=0)
    equal = np.full((7, 1), 0.1)
    (found,) = score_intervals(lambda rows: rows.mean(axis=0), equal, seed=0)
    assert found.low == found.mean == found.high == pytest.approx(0.1)
