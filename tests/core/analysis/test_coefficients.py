import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.analysis.correlation import COEFFICIENTS, coefficients, coefficients_of_draws

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


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
