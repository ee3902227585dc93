"""How many articles a study needs to be sure, if they vary as those of a run that there is.

A t-test at the level α (of one side) shows a mean μ of values with standard deviation σ with the power π if there are

    ((z_α + z_π) σ / μ)² + z_α² / 2

of them (Guenther 1981, Sample Size Formulas for Normal Theory t Tests, The American Statistician 35, 243-244), where z
are the normal distribution's upper quantiles. The last summand makes up for t's wider tails. How well it holds of real
articles: docs/answer.md. It takes for granted that other articles are like those of the run. They are likely to vary
more, above all where they come from elsewhere.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from core.analysis.grids import Grid, build_grids
from core.analysis.intervals import FEWEST_ARTICLES, Interval, first_kept, least_t, mean_intervals, moments
from core.analysis.paired import ALPHA, TIE
from core.analysis.points import Metric, Points

Floats: TypeAlias = NDArray[np.float64]

POWER = 0.8
"""How often a study with so many articles as are advised shows what it looks for, unless asked for another."""
MOST_ARTICLES = 10_000_000
"""With more, nothing is advised."""
_DRAWS, _SEED = 2_000, 20_261_123
_TINY = 1e-100
_SIZES = (*range(FEWEST_ARTICLES, 100), *(size * 10**k for k in range(1, 6) for size in range(10, 100)), MOST_ARTICLES)


@dataclass(frozen=True, slots=True)
class Needed:
    """The number of articles that it takes to tell two systems apart at n words, as `nws compare` tests them.

    Attributes:
        seen: how many articles of the run have a summary by both.
        difference: A minus B over those, with its 95 % interval.
        spread: standard deviation of the differences by article.
        articles: with so many, the difference is shown with the power asked for where this n alone is tested; None if
            it would take more than `MOST_ARTICLES`.
        articles_at_all: the same where all n that both have are tested together (Holm's correction).
    """

    n: int
    seen: int
    difference: Interval
    spread: float
    articles: int | None
    articles_at_all: int | None


@dataclass(frozen=True, slots=True)
class NeededByPair:
    """Two systems on one dataset; `lengths` in rising n, those at which at least two articles have both."""

    dataset: str
    a: str
    b: str
    lengths: tuple[Needed, ...]


def articles_needed(
    points: Points,
    pairs: Sequence[tuple[str, str]],
    metric: Metric,
    *,
    difference: float | None = None,
    power: float = POWER,
    alpha: float = ALPHA,
) -> tuple[NeededByPair, ...]:
    """The number of articles that it takes to tell each pair of systems apart, at each n.

    Args:
        points: those of one run.
        pairs: names of systems. A pair that shares no two articles at any n of a dataset is left out there.
        metric: what is compared.
        difference: what is to be shown, in the metric's unit; default: what was seen, which may be chance.
        power: how often the study is to show it, between 0 and 1.
        alpha: how often it may err where there is none, two-sided.

    Raises:
        StoreError: `points` are not those of one run (see `build_grids`).
    """
    needed_by_pair = []
    for grid in build_grids(points, metric, points.n > 0):
        for a, b in pairs:
            if a in grid.systems and b in grid.systems:
                differences = dict(_differences(grid, a, b))
                lengths = tuple(
                    _needed(n, values, difference, power, alpha, len(differences)) for n, values in differences.items()
                )
                needed_by_pair += [NeededByPair(grid.dataset, a, b, lengths)] * bool(lengths)
    return tuple(needed_by_pair)


def _differences(grid: Grid, a: str, b: str) -> Iterator[tuple[int, Floats]]:
    raw = grid.values[grid.systems.index(a)] - grid.values[grid.systems.index(b)]
    for n, values in zip(grid.lengths, np.where(np.abs(raw) <= TIE, 0.0, raw), strict=True):
        both = values[~np.isnan(values)]
        if len(both) > 1:
            yield n, both


def _needed(
    n: int,
    values: Floats,
    difference: float | None,
    power: float,
    alpha: float,
    lengths: int,
) -> Needed:
    (interval,) = mean_intervals(values[:, None])
    spread = float(values.std(ddof=1))
    effect = interval.mean if difference is None else difference
    alone, together = (
        whole_articles(articles_to_show(effect, spread, power, level / 2), _fewest(level))
        for level in (alpha, alpha / lengths)
    )
    return Needed(n, len(values), interval, spread, alone, together)


def articles_for_one_step(above: Floats, power: float = POWER) -> int | None:
    """With how many articles the 95 % interval of the smallest n is at most one step of the grid wide.

    Studies are drawn: their t have those of the run as means, scaled to as many articles, and are normal, correlated as
    the articles say. It is rounded up to two digits, beyond which draws differ.

    Args:
        above: (articles, lengths), what each article keeps beyond the share (`Kept.above`).
        power: how often it is to be.

    Returns:
        None if no length keeps the share, there is one article alone, or it takes more than `MOST_ARTICLES`.
    """
    articles, lengths = above.shape
    if articles < 2 or above[:, -1].mean() < 0:
        return None
    means, spreads, skewness = moments(above)
    scaled = (above - means) / np.where(spreads > 0, spreads, np.inf)
    effects = means / np.maximum(spreads, _TINY)
    correlation = scaled.T @ scaled / (articles - 1) + 1e-9 * np.eye(lengths)
    noise = np.random.default_rng(_SEED).standard_normal((_DRAWS, lengths)) @ np.linalg.cholesky(correlation).T

    def is_sure(size: int) -> bool:
        t = math.sqrt(size) * effects + noise
        high = first_kept(t - least_t(skewness, size), 0)
        shown_below = -t[:, ::-1] - least_t(-skewness, size)[::-1]
        low = lengths - first_kept(shown_below, 0)
        return float(((high - low <= 1) & (high < lengths)).mean()) >= power

    place = bisect_left(_SIZES, True, key=is_sure)
    return _SIZES[place] if place < len(_SIZES) else None


def articles_to_show(mean: float, spread: float, power: float, alpha: float) -> float:
    """The number of values with which a one-sided t-test shows, with `power`, on which side of 0 their mean lies."""
    if mean == 0:
        return math.inf
    quantile = -float(ndtri(alpha))
    return ((quantile + float(ndtri(power))) * spread / mean) ** 2 + quantile**2 / 2


def whole_articles(needed: float, fewest: int) -> int | None:
    """A number of articles that can be had; None for more than `MOST_ARTICLES`."""
    return max(fewest, math.ceil(needed)) if needed <= MOST_ARTICLES else None


def _fewest(alpha: float) -> int:
    """With fewer, too little is known of skewness, or no pattern of signs is so rare: two are 2 / 2^articles of all."""
    return max(FEWEST_ARTICLES, math.ceil(1 - math.log2(alpha)))
