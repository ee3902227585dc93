"""Confidence intervals of means, many columns at once, and tests of whether a mean is above 0.

There are Student's t intervals (Student 1908, The Probable Error of a Mean), intervals that are corrected for skewness,
and bootstrap intervals. How often Student's interval contains the mean of real scores: docs/phase1.md.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from nws.core.findings.scores import CONFIDENCE, ONE_SIDED_LEVEL, Interval


def mean_interval(values: Sequence[float] | NDArray[np.float64], confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of `values` with its interval, see `mean_intervals`.

    Raises:
        ValueError: there are no values.
    """
    return mean_intervals(np.asarray(values, dtype=np.float64)[:, None], confidence)[0]


def mean_intervals(values: NDArray[np.float64], confidence: float = CONFIDENCE) -> list[Interval]:
    """Return the mean of every column with its interval.

    The interval is mean ± t · s / √m, for m values with standard deviation s (by m - 1).

    Args:
        values: float64 of shape (articles, columns), NaN where a column lacks the article.
        confidence: how often such an interval contains the mean of the population of the values.

    Raises:
        ValueError: a column has no value.
    """
    counts = (~np.isnan(values)).sum(axis=0)
    if not counts.all():
        raise ValueError("a mean needs at least one value: a column is empty")
    # Relative to one of the values, equal values are exact zeros, so that rounding gives them no width.
    anchor = np.nanmin(values, axis=0)
    offsets = values - anchor
    means = np.nansum(offsets, axis=0) / counts
    variance = np.nansum((offsets - means) ** 2, axis=0) / np.maximum(counts - 1, 1)
    half_widths = stdtrit(np.maximum(counts - 1, 1), (1 + confidence) / 2) * np.sqrt(variance / counts)
    return [
        Interval(float(mean), float(mean - half) if half else None, float(mean + half) if half else None)
        for mean, half in zip(anchor + means, half_widths, strict=True)
    ]


def score_intervals(
    score: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    statistics: NDArray[np.float64],
    seed: int,
    confidence: float = CONFIDENCE,
    resamples: int = 1_000,
) -> list[Interval]:
    """Return any score of many rows, with a percentile bootstrap interval for each of its parts.

    `score` is called once for every resample. Two scores of the same number of rows see the same resamples. There is no
    interval where all resamples have the same score.

    Args:
        score: the function from the statistics of any rows, (rows, statistics), to their score, (parts,).
        statistics: the statistics of the rows, float64 of shape (rows, statistics).
        seed: the seed of numpy's `default_rng`; the same seed and statistics give the same intervals.
        confidence: the share of the resampled scores inside the interval.
        resamples: the number of times that the rows are drawn with replacement.

    Raises:
        ValueError: there are no rows.
    """
    rows = len(statistics)
    if not rows:
        raise ValueError("a score needs at least one row")
    rng = np.random.default_rng(seed)
    scores = np.array([score(statistics[rng.integers(0, rows, size=rows)]) for _ in range(resamples)])
    tail = (1 - confidence) / 2
    low, high = np.quantile(scores, [tail, 1 - tail], axis=0)
    return list(map(_interval, score(statistics), low, high))


def _interval(mean: float, low: float, high: float) -> Interval:
    """Make an interval from numbers of NumPy, without ends where they are equal."""
    return Interval(float(mean), float(low), float(high)) if low < high else Interval(float(mean), None, None)


Floats: TypeAlias = NDArray[np.float64]

_SKEWNESS_MARGIN = 2.5
"""The standard errors by which a skewness is assumed to be worse than it looks."""
_MOST_TAIL = 0.3
"""The largest skewness / √articles in an interval. Beyond it, Hall's correction makes intervals many times as wide."""
_EQUAL = 1e-12
"""The spread, relative to the largest value, below which values differ only by rounding."""


def above_zero_p(articles: int, columns: "Moments") -> Floats:
    """Return for each column the one-sided p of the test that its mean is above 0.

    The test is Student's t. It errs too often if the values have a tail below 0. So Hall's correction for skewness
    (1992, On the Removal of Skewness by Transformation, Journal of the Royal Statistical Society B 54, 221-228) is made
    where it raises p. Few articles may not show the tail, so the skewness is assumed to be lower by
    `_SKEWNESS_MARGIN` of its standard errors. The standard error is √(6/m) for m normal values.

    Args:
        articles: the number of values of each column, at least two.
        columns: the moments of the columns.
    """
    means, spreads, skewness = columns
    varies = spreads > 0
    t = math.sqrt(articles) * means / np.where(varies, spreads, 1)
    tail = _tail(skewness, articles)
    corrected = t + tail * t**2 / 3 + tail**2 * t**3 / 27 + tail / 6
    return np.where(varies, stdtr(articles - 1, -np.minimum(t, corrected)), np.where(means > 0, 0.0, 1.0))


def skewed_intervals(values: Floats) -> list[Interval]:
    """Return the mean of every column with its 95 % interval.

    The interval has the means that the tests of `above_zero_p` do not exclude. With few articles the tests would
    exclude even less, so there the interval limits the skewness to `_MOST_TAIL`.

    Args:
        values: the values, (articles, columns).
    """
    articles = len(values)
    if articles < 2:
        return [Interval(float(value), None, None) for value in values[0]]
    means, spreads, skewness = moments(values)
    least = _SKEWNESS_MARGIN * math.sqrt(6 / articles) - _MOST_TAIL * math.sqrt(articles)
    lows, highs = (
        means + side * least_t(np.maximum(-side * skewness, least), articles) * spreads / math.sqrt(articles)
        for side in (-1, 1)
    )
    return list(map(_interval, means, lows, highs))


class Moments(NamedTuple):
    """The mean, standard deviation and skewness of each column, float64 of shape (columns,)."""

    means: Floats
    spreads: Floats
    skewness: Floats

    def mirrored(self) -> "Moments":
        """Return the moments of the columns times -1, from the last column to the first."""
        return Moments(-self.means[::-1], self.spreads[::-1], -self.skewness[::-1])


def moments(values: Floats) -> Moments:
    """Return mean, standard deviation (by m - 1; 0 where values differ only by rounding) and skewness of each column.

    Args:
        values: the values of at least two articles, (articles, columns).
    """
    means = values.mean(axis=0)
    deviations = values - means
    spreads = deviations.std(axis=0, ddof=1)
    spreads = np.where(spreads > _EQUAL * np.abs(values).max(axis=0), spreads, 0)
    standard = deviations / np.where(spreads > 0, spreads, 1)
    # On an array, ** 3 takes twenty times as long.
    return Moments(means, spreads, np.asarray((standard * standard * standard).mean(axis=0)))


def least_t(skewness: Floats, articles: int) -> Floats:
    """Return the t from which on `above_zero_p` is at most `ONE_SIDED_LEVEL`, for columns with this skewness."""
    quantile = float(stdtrit(articles - 1, 1 - ONE_SIDED_LEVEL))
    tail = _tail(skewness, articles)
    bent = np.where(tail < 0, tail, 1)
    # Hall's correction is ((1 + tail t / 3)³ - 1) / tail + tail / 6, which can be solved for t.
    corrected = 3 / bent * (np.cbrt(1 + bent * (quantile - bent / 6)) - 1)
    return np.where(tail < 0, np.maximum(quantile, corrected), quantile)


def _tail(skewness: Floats, articles: int) -> Floats:
    """Return the skewness that is assumed for a mean of this many articles: at most 0."""
    return np.minimum(skewness - _SKEWNESS_MARGIN * math.sqrt(6 / articles), 0) / math.sqrt(articles)
