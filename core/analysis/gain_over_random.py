"""The gain over `random` by n: the n that may have the largest gain, and two simpler choices of the best n.

The smallest n that keeps a share of the content is decided in `nws.core.analysis.content_kept`.

The best n per article and the best n by mean, which the study has, are plain maxima over n. Since F1 rises with n even
for chunks drawn at random, both are partly an effect of length. The gain over `random` at equal n is not, since every
article is compared with a control of the same length. So recommendations come from that gain alone. They make two
statements about a system, each wrong in at most 5 % of sweeps:

- The system is significantly better than `random`. The test is a sign-flip test at each n, corrected over n by Holm.
- These n may have the largest gain: all n except those that gain significantly less than another n. The test is a
  sign-flip test of every pair of n, corrected over the pairs by Holm. The n form a confidence set of the best, after
  Hsu (1984) and Hansen, Lunde and Nason (2011): it contains the best n, and all n that are as good, in at least 95 % of
  sweeps.

bench/error_rates.py measures how often both are wrong.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from nws.core.analysis.grids import Grid, build_grids
from nws.core.analysis.intervals import mean_intervals
from nws.core.analysis.paired import TIE, compare_systems
from nws.core.analysis.points import Points
from nws.core.analysis.sign_flip import CELLS_AT_ONCE, holm, sign_flip_p
from nws.core.findings.comparisons import Comparison
from nws.core.findings.lengths import Gain, MagicNumber, enough_articles
from nws.core.findings.scores import CONFIDENCE
from nws.core.metrics.specs import Metric
from nws.core.types import RANDOM


def magic_numbers(points: Points, metric: Metric = "bertscore_f1") -> tuple[MagicNumber, ...]:
    """Find the `MagicNumber` of each dataset and system, in the order of `system_order`, without uncut summaries.

    Args:
        points: the points of one run.
        metric: the metric of the gains.

    Raises:
        StoreError: the points are not those of one run (see `build_grids`).
    """
    systems = set(points.systems) - {RANDOM}
    pairs = [(system, RANDOM) for system in sorted(systems)]
    compared = compare_systems(points, points, pairs, metric)
    over_random = {(comparison.dataset, comparison.a): comparison for comparison in compared}
    by_dataset = map(lambda grid: _magic_numbers(grid, over_random), build_grids(points, metric, points.n > 0))
    return tuple(chain.from_iterable(by_dataset))


def _magic_numbers(grid: Grid, over_random: Mapping[tuple[str, str], Comparison]) -> Iterator[MagicNumber]:
    for s, system in enumerate(grid.systems):
        over = over_random.get((grid.dataset, system))
        columns = _gain_columns(grid, over)
        yield _magic_number(grid, s, columns, _gains(over, columns))


def _gain_columns(grid: Grid, comparison: Comparison | None) -> NDArray[np.float64]:
    """Return the gains over `random`, (articles, compared n), NaN where either of the two has no summary."""
    if comparison is None:
        return np.empty((len(grid.articles), 0))
    lengths = [grid.lengths.index(length.n) for length in comparison.lengths]
    system, random = (grid.systems.index(name) for name in (comparison.a, comparison.b))
    return np.asarray((grid.values[system, lengths] - grid.values[random, lengths]).T, dtype=np.float64)


def _p_behind(gains: NDArray[np.float64]) -> list[float | None]:
    """Return for each compared n the smallest corrected p of a pair in which the other n gains more.

    It is 1 without such a pair. Each pair is compared over the articles that have both n. An n with too few articles is
    in no pair, and has None.
    """
    lengths, has = gains.shape[1], ~np.isnan(gains)
    compared = np.count_nonzero(has, axis=0) >= enough_articles(max(1, lengths * (lengths - 1) // 2))
    both = combinations(np.flatnonzero(compared).tolist(), 2)
    pairs = [(i, j) for i, j in both if (has[:, i] & has[:, j]).any()]
    tests = list(_test_pairs(gains, pairs))
    smallest: list[float | None] = [1.0 if is_compared else None for is_compared in compared]
    for (i, j), (total, _), p in zip(pairs, tests, holm([p for _, p in tests]), strict=True):
        behind = j if total > 0 else i
        smallest[behind] = min(smallest[behind] or 0.0, p)
    return smallest


def _test_pairs(gains: NDArray[np.float64], pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[float, float]]:
    """Yield for each pair (n, other n) the sum of the gains at n minus those at the other n, and its p."""
    step = max(1, CELLS_AT_ONCE // max(1, len(gains)))
    for start in range(0, len(pairs), step):
        first, second = np.array(pairs[start : start + step]).T
        raw = gains[:, first] - gains[:, second]
        differences = np.where(np.abs(raw) <= TIE, 0.0, raw)
        yield from zip(np.nansum(differences, axis=0).tolist(), (p for p, _ in sign_flip_p(differences)), strict=True)


def _gains(comparison: Comparison | None, columns: NDArray[np.float64]) -> tuple[Gain, ...]:
    if comparison is None:
        return ()
    intervals = mean_intervals(columns, 1 - (1 - CONFIDENCE) / len(comparison.lengths))
    return tuple(
        Gain(length.n, length.articles, interval, length.p_holm, length.too_skewed, p)
        for length, interval, p in zip(comparison.lengths, intervals, _p_behind(columns), strict=True)
    )


def _magic_number(grid: Grid, s: int, columns: NDArray[np.float64], gains: tuple[Gain, ...]) -> MagicNumber:
    system, kind = grid.systems[s], grid.kinds[s]
    present = ~np.isnan(grid.values[s])
    lengths = np.flatnonzero(present.any(axis=1))
    has, some = present[lengths], present.any(axis=0)
    complete = some & (has | grid.short[lengths]).all(axis=0)
    scores, n_of_row = grid.values[s, lengths], np.array(grid.lengths)[lengths]
    shares: dict[int, float] = {}
    median = None
    if complete.any():
        best = n_of_row[np.nanargmax(scores[:, complete], axis=0)]
        shares = {int(n): float(np.mean(best == n)) for n in n_of_row}
        median = float(np.median(best))
    everywhere = has.all(axis=0)
    by_mean = int(n_of_row[np.argmax(scores[:, everywhere].mean(axis=1))]) if everywhere.any() else None
    gained = ~np.isnan(columns).any(axis=1)
    largest = gains[int(np.argmax(columns[gained].mean(axis=0)))] if gains and gained.any() else None
    beats = any(gain.above_random for gain in gains) and kind != "oracle"
    recommended = tuple(gain.n for gain in gains if beats and gain.may_be_largest)
    return MagicNumber(
        dataset=grid.dataset,
        system=system,
        kind=kind,
        articles=int(complete.sum()),
        dropped=int((some & ~complete).sum()),
        best_per_article=shares,
        median=median,
        best_by_mean=by_mean,
        gains=gains,
        largest_gain=largest,
        recommended=recommended,
    )
