import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from nws.core.analysis.intervals import mean_interval, mean_intervals, score_intervals
from nws.core.findings.scores import Interval

F1 = st.floats(-1, 1, allow_subnormal=False)


@pytest.mark.parametrize("articles", [2, 7, 300])
@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_agrees_with_scipy(articles, confidence):
    values = np.random.default_rng(3).beta(2, 5, articles)
    found = mean_interval(values, confidence)
    expected = stats.ttest_1samp(values, 0).confidence_interval(confidence)
    assert found.mean == pytest.approx(values.mean(), abs=1e-12)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert found.half_width == pytest.approx((expected.high - expected.low) / 2)


@settings(max_examples=30, deadline=None)
@given(value=F1, articles=st.integers(1, 40))
def test_equal_values_have_no_interval(value, articles):
    found = mean_interval([value] * articles)
    assert found == Interval(value, None, None)
    assert found.half_width is None


def test_a_column_that_lacks_articles_is_its_own_sample():
    values = np.random.default_rng(0).normal(size=(20, 3))
    values[[3, 8], 1] = np.nan
    found = mean_intervals(values)
    for column in range(3):
        alone = mean_interval(values[~np.isnan(values[:, column]), column])
        assert (found[column].low, found[column].high) == pytest.approx((alone.low, alone.high), abs=1e-12)


def test_the_bootstrap_of_a_mean_agrees_with_scipy():
    values = np.random.default_rng(3).beta(2, 5, (40, 2))
    found = score_intervals(lambda rows: rows.mean(axis=0), values, seed=11, resamples=300)
    for column, interval in enumerate(found):
        # The same seed draws the same articles.
        expected = stats.bootstrap(
            (values[:, column],), np.mean, n_resamples=300, method="percentile", rng=np.random.default_rng(11)
        ).confidence_interval
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert found == score_intervals(lambda rows: rows.mean(axis=0), values, seed=11, resamples=300)
    assert found != score_intervals(lambda rows: rows.mean(axis=0), values, seed=12, resamples=300)


def test_equal_rows_have_no_interval():
    (found,) = score_intervals(lambda rows: rows.mean(axis=0), np.full((7, 1), 0.5), seed=0)
    assert found == Interval(0.5, None, None)
