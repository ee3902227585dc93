import numpy as np
import pytest
from scipy import stats

from core.analysis.intervals import score_intervals


def test_a_mean_agrees_with_scipy():
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
    equal = np.full((7, 1), 0.5)
    (found,) = score_intervals(lambda rows: rows.mean(axis=0), equal, seed=0)
    assert (found.mean, found.low, found.high) == (0.5, None, None)
