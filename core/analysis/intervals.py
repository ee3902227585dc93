"""How sure a mean is: Student's t interval, many columns at once.

Student (1908), The Probable Error of a Mean. How often it holds the mean of real scores: docs/phase1.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

CONFIDENCE = 0.95
FEW_ARTICLES = 30
"""With fewer values, an interval leans on them being roughly symmetric around their mean."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the ends of its interval, in the unit of the values.

    There is no interval (None) where nothing shows how values spread: there is only one value, or all are equal.
    """

    mean: float
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def mean_interval(values: Sequence[float] | NDArray[np.float64], confidence: float = CONFIDENCE) -> Interval:
    """The mean of `values` with its interval, see `mean_intervals`.

    Raises:
        ValueError: there are no values.
    """
    return mean_intervals(np.asarray(values, dtype=np.float64)[:, None], confidence)[0]


def mean_intervals(values: NDArray[np.float64], confidence: float = CONFIDENCE) -> list[Interval]:
    """The mean of every column with its interval: mean ± t · s / √m, for m values with standard deviation s (by m - 1).

    Args:
        values: float64 of shape (articles, columns). NaN says that the column lacks the article.
        confidence: how often such an interval holds the mean of what the values were drawn from.

    Raises:
        ValueError: a column has no value.
    """
    counts = (~np.isnan(values)).sum(axis=0)
    if not counts.all():
        raise ValueError("a mean needs at least one value: a column is empty")
    # Relative to one of them, equal values become exact zeros: no rounding gives them a width.
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
    """Any score of many rows, each of its parts with its percentile bootstrap interval.

    `score` is called once for every resample. Scores of as many rows see the same resamples. There is no interval where
    all resamples score alike.

    Args:
        score: from the statistics of any rows, (rows, statistics), their score, (parts,).
        statistics: float64 of shape (rows, statistics).
        seed: of numpy's `default_rng`; the same seed and statistics give the same intervals.
        confidence: share of the resampled scores inside the interval.
        resamples: how many times the rows are drawn with replacement.

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
    return [
        Interval(float(value), float(lower), float(upper)) if lower < upper else Interval(float(value), None, None)
        for value, lower, upper in zip(score(statistics), low, high, strict=True)
    ]
