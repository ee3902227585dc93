"""How sure a mean over articles is: percentile bootstrap intervals, many columns at once.

Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13. The percentile interval is too
narrow for few articles: on normal values its 95 % covered the mean 84, 90, 92 and 94 % of the time with 5,
10, 20 and 50.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CELLS_AT_ONCE = 4_000_000
"""Resampled articles held at a time: 32 MiB of float64, whatever the number of articles."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over articles and the ends of its bootstrap interval, in the unit of the values."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    @property
    def above_zero(self) -> bool:
        return self.low > 0


def mean_interval(
    values: Sequence[float] | NDArray[np.float64],
    seed: int,
    confidence: float = 0.95,
    resamples: int = 10_000,
) -> Interval:
    """The mean of `values` (one per article) with its percentile bootstrap interval.

    One value, or equal values, give an interval without width.

    Raises:
        ValueError: there are no values.
    """
    return mean_intervals(np.asarray(values, dtype=np.float64)[:, None], seed, confidence, resamples)[0]


def mean_intervals(
    values: NDArray[np.float64], seed: int, confidence: float = 0.95, resamples: int = 10_000
) -> list[Interval]:
    """The mean of every column of `values` with its percentile bootstrap interval.

    Articles are resampled whole, and columns that lack the same articles see the same resamples.

    Args:
        values: float64 of shape (articles, columns). NaN says that the column lacks the article.
        seed: of numpy's `default_rng`; the same seed and values give the same intervals.
        confidence: share of the resampled means inside the interval.
        resamples: how many times the articles are drawn with replacement.

    Raises:
        ValueError: a column has no value.
    """
    intervals: dict[int, Interval] = {}
    for columns, group in complete_columns(values):
        intervals |= zip(columns, _complete_intervals(group, seed, confidence, resamples), strict=True)
    return [intervals[column] for column in range(values.shape[1])]


def complete_columns(values: NDArray[np.float64]) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """The columns that lack the same articles (NaN): their indices, and their values, (articles they have, columns).

    Raises:
        ValueError: a column has no value.
    """
    present = ~np.isnan(values)
    if not present.any(axis=0).all():
        raise ValueError("a mean needs at least one value: a column is empty")
    groups: dict[bytes, list[int]] = {}
    for column in range(values.shape[1]):
        groups.setdefault(present[:, column].tobytes(), []).append(column)
    for columns in groups.values():
        yield columns, values[present[:, columns[0]]][:, columns]


def score_intervals(
    score: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    statistics: NDArray[np.float64],
    seed: int,
    confidence: float = 0.95,
    resamples: int = 1_000,
) -> list[Interval]:
    """Any score of many rows, each of its parts with its percentile bootstrap interval.

    For scores that are no mean over rows, such as BLEU's: `score` is called once for every resample. Scores of as many
    rows see the same resamples.

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
    return [Interval(float(s), float(a), float(b)) for s, a, b in zip(score(statistics), low, high, strict=True)]


def _complete_intervals(values: NDArray[np.float64], seed: int, confidence: float, resamples: int) -> list[Interval]:
    # Relative to the first article, equal values become exact zeros: no rounding gives them a width.
    anchor = values[0]
    offsets = values - anchor
    means = anchor + offsets.mean(axis=0)
    tail = (1 - confidence) / 2
    low, high = anchor + np.quantile(_resampled_means(offsets, seed, resamples), [tail, 1 - tail], axis=0)
    return [Interval(float(m), float(a), float(b)) for m, a, b in zip(means, low, high, strict=True)]


def _resampled_means(values: NDArray[np.float64], seed: int, resamples: int) -> NDArray[np.float64]:
    """Means of shape (resamples, columns), from how often each article was drawn: one matrix product."""
    articles = len(values)
    rng = np.random.default_rng(seed)
    step = max(1, CELLS_AT_ONCE // articles)
    parts = []
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = rng.integers(0, articles, size=(rows, articles)) + articles * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * articles).reshape(rows, articles)
        parts.append(counts.astype(np.float64) @ values / articles)
    return np.concatenate(parts)
