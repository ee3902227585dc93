"""Pearson's r, Spearman's rho and Kendall's tau-b of many samples at once.

Each is a cosine similarity. Pearson's r is that of the values minus their mean. For the other two, let
s_ij = sign(x_i - x_j) and t_ij = sign(y_i - y_j) over all pairs of units. Spearman's rho is the cosine of the row sums
of s and t: a row sum is twice (rank - mean rank), and ties share their mean rank. Kendall's tau-b is the cosine of s
and t themselves.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Coefficient = Literal["pearson", "spearman", "kendall"]
COEFFICIENTS: tuple[Coefficient, ...] = get_args(Coefficient)
FloatArray = NDArray[np.float64]


def coefficients(x: FloatArray, y: FloatArray) -> FloatArray:
    """The coefficients between each row of `x` and the same row of `y`.

    Args:
        x: float64 of shape (samples, units).
        y: of the same shape.

    Returns:
        float64 of shape (3, samples), in the order of `COEFFICIENTS`. NaN where `x` or `y` is constant.
    """
    s, t = (np.sign(values[:, :, None] - values[:, None, :]) for values in (x, y))
    less_mean = (values - values.mean(axis=1, keepdims=True) for values in (x, y))
    ranks = (signs.sum(axis=2) for signs in (s, t))
    pairs = (signs.reshape(len(x), -1) for signs in (s, t))
    values_by_coefficient = np.stack([_cosine(*less_mean), _cosine(*ranks), _cosine(*pairs)])
    # Signs are exact and sums of squares are not: only the signs tell what is constant.
    constant = ~(s.any(axis=(1, 2)) & t.any(axis=(1, 2)))
    return np.where(constant, np.nan, np.clip(values_by_coefficient, -1, 1))


def coefficients_of_draws(x: FloatArray, y: FloatArray, counts: FloatArray) -> FloatArray:
    """The same for each row of `x` and `y` when its units are drawn any number of times.

    The result equals `coefficients` of rows that repeat unit i as often as it was drawn. It is computed by matrix
    products over all draws and rows. Two draws of one unit are a tie, and a sum over draws is a weighted sum of units.

    Args:
        x: float64 of shape (rows, units).
        y: of the same shape.
        counts: float64 of shape (draws, units), whole numbers: how often each unit was drawn, for all rows alike.

    Returns:
        float64 of shape (3, rows, draws), in the order of `COEFFICIENTS`. NaN where `x` or `y` is constant.
    """
    i, j = np.triu_indices(x.shape[1], 1)
    s, t = (np.sign(values[:, i] - values[:, j]) for values in (x, y))
    pairs = (counts[:, i] * counts[:, j]).T
    untied_x, untied_y, concordant = (signs @ pairs for signs in (np.abs(s), np.abs(t), s * t))
    with np.errstate(divide="ignore", invalid="ignore"):
        kendall = concordant / np.sqrt(untied_x * untied_y)
        values_by_coefficient = np.stack([_pearson(x, y, counts), _spearman(x, y, counts), kendall])
    return np.where((untied_x == 0) | (untied_y == 0), np.nan, np.clip(values_by_coefficient, -1, 1))


def _pearson(x: FloatArray, y: FloatArray, counts: FloatArray) -> FloatArray:
    # Centred on the mean of all units, so that subtracting products of sums loses little precision.
    x, y = (values - values.mean(axis=1, keepdims=True) for values in (x, y))
    sum_x, sum_y, xx, yy, xy = (values @ counts.T for values in (x, y, x * x, y * y, x * y))
    drawn = counts.sum(axis=1)
    product = np.sqrt(xx - sum_x**2 / drawn) * np.sqrt(yy - sum_y**2 / drawn)
    return np.asarray((xy - sum_x * sum_y / drawn) / product)


def _spearman(x: FloatArray, y: FloatArray, counts: FloatArray) -> FloatArray:
    rows = []
    for row_x, row_y in zip(x, y, strict=True):
        ranks = [counts @ np.sign(values[:, None] - values).T for values in (row_x, row_y)]
        rows.append(_cosine(*(np.sqrt(counts) * rank for rank in ranks)))
    return np.stack(rows)


def _cosine(u: FloatArray, v: FloatArray) -> FloatArray:
    """The cosine of each row, (rows,); NaN where `u` or `v` is all zeros."""
    with np.errstate(divide="ignore", invalid="ignore"):
        # The product of two roots, not the root of a product: squares of small values would underflow when multiplied.
        lengths = np.sqrt(np.einsum("ru,ru->r", u, u)) * np.sqrt(np.einsum("ru,ru->r", v, v))
        return np.asarray(np.einsum("ru,ru->r", u, v) / lengths)
