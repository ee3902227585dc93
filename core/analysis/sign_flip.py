"""Is a mean difference more than chance? The paired sign-flip test, and Holm's correction for several tests.

This is the paired randomisation test of Fisher (The Design of Experiments, 1935, section 21). If every article's
difference could equally well have the other sign, all 2^k sign patterns of the k differences that are not 0 would be
equally likely. p is two-sided: the share of patterns whose |sum| is at least the observed one. Nothing is drawn at
random, so no verdict depends on a seed:

- Up to `COUNTED` differences every pattern is counted, as sums of two halves (Horowitz and Sahni 1974).
- Beyond that the share comes from the characteristic function of the sum, the product of cos(t d) over the differences
  d, as a Fourier series (Bohman 1975, Scandinavian Actuarial Journal). Its error: docs/compare.md.
- For thousands of differences, none of them far larger than the others, the logarithm of that product is computed as a
  power series in t, whose coefficients are sums of powers of the differences. Then no cosine of each is needed.
"""

import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.special import zeta

COUNTED = 24
"""The largest number of differences whose 2^k sign patterns are all counted: two halves have 4,096 each."""
SMALLEST_P = 1e-12
"""The smallest p of a series. p is 1 minus the series, so a smaller number would be rounding."""
CELLS_AT_ONCE = 2_000_000
"""The cosines that each thread has in memory at a time: 16 MB, whatever the number of articles."""
MOST_THREADS = 8
_TERMS = 32
_MOST_TERMS = 2_048
_VANISHED = 1e-12
_FAR = 8.0
"""Standard deviations beyond which a sum lies with a probability below 3e-14 (Hoeffding 1963, theorem 2)."""
_GONE = 36.0
"""Where t² Σd² / 2 is this, φ is below 3e-16, since log cos x is at most -x² / 2."""
_LOOKED_AT, _NEXT_TO_NOTHING = 1_000, 1e-7
_WIDEST = 1.0
"""The largest t d for which log φ is taken as a power series, which converges below π/2."""


def sign_flip_p(differences: NDArray[np.float64]) -> list[tuple[float, bool]]:
    """Test whether the mean of each column is 0: return the two-sided p, and whether every sign pattern was counted.

    Args:
        differences: float64 of shape (articles, columns), NaN where a column lacks the article.

    Raises:
        ValueError: a column has no value.
    """
    if np.isnan(differences).all(axis=0).any():
        raise ValueError("a mean needs at least one value: a column is empty")
    # Columns become contiguous rows, so that no sum depends on which other columns there are.
    columns_as_rows = np.ascontiguousarray(np.nan_to_num(differences).T)
    sizes, sums = np.abs(columns_as_rows), np.abs(columns_as_rows.sum(axis=1))
    differing = (sizes > 0).sum(axis=1)
    p = np.ones(len(sizes))
    counted = differing <= COUNTED
    for column in np.flatnonzero(counted & (differing > 0)):
        own = sizes[column]
        p[column] = _counted_p(own[own > 0], sums[column])
    pieces = list(_pieces(np.flatnonzero(~counted), sizes.shape[1]))
    # Nearly all of the time is spent here, and NumPy lets other threads work meanwhile.
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as threads:
        for columns, part in zip(pieces, threads.map(lambda i: _series_p(sizes[i], sums[i]), pieces), strict=True):
            p[columns] = part
    return list(zip(p.tolist(), counted.tolist(), strict=True))


def holm(p: Sequence[float]) -> list[float]:
    """Correct each p for the number of tests by Holm's step-down method (Holm 1979). The order stays the same."""
    corrected = [0.0] * len(p)
    largest = 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        corrected[i] = largest
    return corrected


def _pieces(columns: NDArray[np.intp], articles: int) -> Iterator[NDArray[np.intp]]:
    step = max(1, CELLS_AT_ONCE // (_TERMS * max(1, articles)))
    for start in range(0, len(columns), step):
        yield columns[start : start + step]


def _counted_p(sizes: NDArray[np.float64], observed: float) -> float:
    """Return the share of all sign patterns of `sizes`, (differences,), whose |sum| is at least `observed`."""
    # Equal sums from different signs must not differ by rounding, or a tie with the observed sum would not count.
    least = observed - 1e-12 * sizes.sum()
    if least <= 0:
        return 1.0
    half = len(sizes) // 2
    first, second = _all_sums(sizes[:half]), np.sort(_all_sums(sizes[half:]))
    at_least = len(second) - np.searchsorted(second, least - first)
    return float(2 * at_least.sum()) / 2.0 ** len(sizes)


def _all_sums(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _series_p(sizes: NDArray[np.float64], observed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of sign patterns whose |sum| is at least the observed one, for each row of `sizes`.

    The sum, wrapped around a circle of length c, is inside of ±x with the probability 2x/c + Σ_j 2/(πj) sin(t_j x)
    φ(t_j), t_j = 2πj/c. The circle is so long that what wraps around into ±x is negligible. The series ends where φ has
    vanished. If it comes back later, as it does where all differences are multiples of one step, sums lie on a grid;
    the series then is the smooth curve between its points. So x is less than the observed sum by half of the distance
    between two points (`_half_steps`), which is next to nothing where there is no grid.

    Args:
        sizes: float64 of shape (columns, articles), not negative.
        observed: float64 of shape (columns,), not negative.
    """
    deviations = np.sqrt((sizes**2).sum(axis=1))
    x = observed - _half_steps(sizes, deviations)
    circle = np.maximum(x, 0) + _FAR * deviations
    inside = 2 * x / circle
    is_narrow = np.sqrt(2 * _GONE) * sizes.max(axis=1) <= _WIDEST * deviations
    for column in np.flatnonzero(is_narrow):
        inside[column] += _sum_by_powers(sizes[column], x[column], circle[column])
    wide = ~is_narrow
    if wide.any():
        inside[wide] += _sums_by_cosines(sizes[wide], x[wide], circle[wide])
    return np.where(x > 0, np.clip(1 - inside, SMALLEST_P, 1), 1.0)


def _sums_by_cosines(
    sizes: NDArray[np.float64], x: NDArray[np.float64], circle: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the series of `_series_p` from j = 1 on, for each row of `sizes`, with φ as a product of cosines."""
    sums, left = np.zeros(len(x)), np.arange(len(x))
    for first in range(1, _MOST_TERMS, _TERMS):
        j = np.arange(first, first + _TERMS)
        t = 2 * np.pi * j / circle[left, None]
        phi = np.cos(t[:, :, None] * sizes[left, None, :]).prod(axis=2)
        small = np.abs(phi) < _VANISHED
        vanished = small[:, :-2] & small[:, 1:-1] & small[:, 2:]
        is_over = vanished.any(axis=1)
        end = np.where(is_over, first + vanished.argmax(axis=1), first + _TERMS)
        sums[left] += np.where(j < end[:, None], 2 / (np.pi * j) * np.sin(t * x[left, None]) * phi, 0).sum(axis=1)
        left = left[~is_over]
        if not left.size:
            break
    return sums


def _sum_by_powers(sizes: NDArray[np.float64], x: float, circle: float) -> float:
    """Return the series of `_sums_by_cosines` for a narrow row, whose t d stays below `_WIDEST` until φ has vanished.

    This takes a tenth of the time.

    log φ(t) = -Σ_m a_m t^2m Σ_i d_i^2m with a_m = (1 - 4^-m) ζ(2m) (2/π)^2m / m, from the series of log cos (Abramowitz
    and Stegun 1964, 4.3.72). It ends where what is left out of log φ is below 1e-16.
    """
    largest, squares = sizes.max(), float((sizes**2).sum())
    last = math.sqrt(2 * _GONE / squares)
    # a_m (t d)^2m is below (2 t d / π)^2m, and Σ (t d)² is at most 2 _GONE.
    terms = math.ceil(math.log(1e-18) / (2 * math.log(2 / math.pi * last * largest)))
    m = np.arange(1, terms + 1)
    a = (1 - 4.0**-m) * zeta(2 * m) * (2 / np.pi) ** (2 * m) / m
    ratios = (sizes / largest) ** 2
    powers, sums = np.ones_like(ratios), np.empty(terms)
    for k in range(terms):
        powers *= ratios
        sums[k] = powers.sum()
    j = np.arange(1, 1 + int(last * circle / (2 * math.pi)))
    t = 2 * np.pi * j / circle
    phi = np.exp(-((t[:, None] * largest) ** (2 * m) * a * sums).sum(axis=1))
    return float((2 / (np.pi * j) * np.sin(t * x) * phi).sum())


def _half_steps(sizes: NDArray[np.float64], deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return half of the least by which sums of `sizes`, (columns, articles), can differ if one or two signs flip.

    One flip changes a sum by twice a size. Two flips of opposite signs change it by twice the difference of two sizes.
    With many articles, only the first ones are looked at if their least change is negligible beside the deviation of
    the sum, since that of all articles is no larger.
    """
    least = _least_gaps(sizes[:, :_LOOKED_AT])
    if sizes.shape[1] > _LOOKED_AT:
        wide = np.flatnonzero(least > _NEXT_TO_NOTHING * deviations)
        least[wide] = _least_gaps(sizes[wide])
    return least


def _least_gaps(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least difference of two different values of each row, 0 included; infinite where all are 0."""
    ordered = np.sort(np.concatenate([np.zeros((len(sizes), 1)), sizes], axis=1), axis=1)
    gaps = np.diff(ordered, axis=1)
    return np.asarray(np.where(gaps > 1e-9 * ordered[:, -1:], gaps, np.inf).min(axis=1))
