"""Is one system better than another at equal n? Paired by article: an interval, a test, and Holm's correction.

The interval is Student's, of the mean difference per article (intervals.py). The test flips the signs of the
differences (sign_flip.py).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nws.core.analysis.grids import Grid, build_axes, build_grids
from nws.core.analysis.intervals import mean_intervals
from nws.core.analysis.points import NO_TEXT, Points, elsewhere, short_articles
from nws.core.analysis.sign_flip import holm, sign_flip_p
from nws.core.findings.comparisons import Comparison, PairedLength
from nws.core.findings.scores import Interval
from nws.core.metrics.specs import Metric

TIE = 1e-6
"""Scores within this distance count as equal: in another batch, the same text may differ in the seventh decimal."""
_DIFFERENCES_AT_ONCE = 500_000
"""The differences that are computed at a time. Each is in memory about six times meanwhile."""


def compare_systems(
    a: Points, b: Points, pairs: Sequence[tuple[str, str]], metric: Metric = "bertscore_f1"
) -> tuple[Comparison, ...]:
    """Compare each pair of systems on each dataset, the first system from `a`, the second from `b`.

    Args:
        a: the points of one run.
        b: the points of another run, or of the same.
        pairs: the names of the systems. A pair that shares no article at any n of a dataset has no comparison there.
        metric: the metric that is compared.

    Raises:
        StoreError: `a` or `b` are not the points of one run (see `build_grids`).
    """
    return compare_by_metric(a, b, pairs, (metric,))[metric]


def compare_uncut(a: Points, b: Points, pairs: Sequence[tuple[str, str]], metric: Metric) -> tuple[Comparison, ...]:
    """Compare systems as `compare_systems` does, but by their uncut texts (n = 0), of which no length was asked."""
    of_b = {grid.dataset: grid for grid in build_grids(b, metric, b.n == 0)}
    of_a = [grid for grid in build_grids(a, metric, a.n == 0) if grid.dataset in of_b]
    return tuple(comparison for grid in of_a for comparison in _compare(grid, of_b[grid.dataset], {}, pairs))


def compare_all_pairs(points: Points, metric: Metric) -> tuple[Comparison, ...]:
    """Compare all pairs of systems of one run on each dataset, at the longest n for which they share enough articles.

    For each n, the two systems that share the fewest articles give a count. An n has enough articles if its count is at
    least half of the largest count: some models fail to write their longest texts. There is no comparison on a dataset
    if two systems share no article.

    `p_holm` is corrected over the pairs. So claims about the highest system are valid, although it is chosen by its
    mean.

    Args:
        points: the points of one run. Controls and oracles are not compared.
        metric: the metric that is compared.

    Raises:
        StoreError: the points are not those of one run (see `build_grids`).
    """
    names = sorted({dataset for dataset, _ in points.articles})
    dataset = np.array([names.index(name) for name, _ in points.articles], np.int32)[points.article]
    is_scored = (points.n > 0) & ~np.isnan(points.scores[metric]) & elsewhere(points, short_articles(points))
    comparisons: list[Comparison] = []
    for i in range(len(names)):
        systems = np.unique(points.system[is_scored & points.is_of_kind("system") & (dataset == i)])
        shared = {
            n: _fewest_shared(points, is_scored & (dataset == i) & (points.n == n), systems)
            for n in np.unique(points.n[is_scored & (dataset == i)]).tolist()
        }
        most = max(shared.values(), default=0)
        if most > 0:
            longest = max(n for n, articles in shared.items() if 2 * articles >= most)
            at_n = points.take((dataset == i) & (points.n == longest))  # with the controls: they show which are short
            pairs = combinations((points.systems[system] for system in systems), 2)
            comparisons += _holm_over_pairs(compare_systems(at_n, at_n, list(pairs), metric))
    return tuple(comparisons)


def at_the_longest_n(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Choose one n of each dataset, and correct `p_holm` over the pairs at this n.

    For each n, the pair with the fewest articles gives a count. The longest n whose count is at least half of the
    largest count is chosen. Pairs without this n are left out.
    """
    chosen: list[Comparison] = []
    for dataset in dict.fromkeys(comparison.dataset for comparison in comparisons):
        of_dataset = [comparison for comparison in comparisons if comparison.dataset == dataset]
        articles: dict[int, list[int]] = {}
        for at in (at for comparison in of_dataset for at in comparison.lengths):
            articles.setdefault(at.n, []).append(at.articles)
        most_pairs = max(map(len, articles.values()))
        fewest = {n: min(counts) for n, counts in articles.items() if len(counts) == most_pairs}
        longest = max(n for n, count in fewest.items() if 2 * count >= max(fewest.values()))
        at_n = [
            replace(comparison, lengths=tuple(at for at in comparison.lengths if at.n == longest))
            for comparison in of_dataset
        ]
        chosen += _holm_over_pairs([comparison for comparison in at_n if comparison.lengths])
    return tuple(chosen)


def _fewest_shared(points: Points, chosen: NDArray[np.bool_], systems: NDArray[np.int32]) -> int:
    """Count the fewest articles that any two systems share among the chosen points; 0 for fewer than two systems."""
    if len(systems) < 2:
        return 0
    own = chosen & np.isin(points.system, systems)
    is_there = np.zeros((len(systems), len(points.articles)), np.float64)
    is_there[np.searchsorted(systems, points.system[own]), points.article[own]] = 1
    return int((is_there @ is_there.T).min())


def _holm_over_pairs(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Correct comparisons at one n as one family (Holm 1979)."""
    corrected = holm_corrected([comparison.lengths[0] for comparison in comparisons])
    return [replace(comparison, lengths=(length,)) for comparison, length in zip(comparisons, corrected, strict=True)]


def holm_corrected(tested: Sequence[PairedLength]) -> tuple[PairedLength, ...]:
    """Correct `p_holm` over all of `tested`."""
    corrected = holm([length.p for length in tested])
    return tuple(replace(length, p_holm=p_holm) for length, p_holm in zip(tested, corrected, strict=True))


def compare_by_metric(
    a: Points, b: Points, pairs: Sequence[tuple[str, str]], metrics: Sequence[Metric]
) -> dict[Metric, tuple[Comparison, ...]]:
    """Compare systems as `compare_systems` does, in several metrics at once, which takes less time."""
    one_run = a is b
    a, b = (points.of_metrics(metrics) for points in (a, b))
    # An article that is short by the controls of one run is short for the other run, too.
    short_places = short_articles(a) | (frozenset() if one_run else short_articles(b))
    axes_of_b = () if one_run else build_axes(b, short_places, b.n > 0)
    by_dataset = {axes.dataset: axes for axes in axes_of_b}
    short: dict[str, Counter[int]] = {}
    for dataset, _, n in short_places:
        short.setdefault(dataset, Counter())[n] += 1
    comparisons_by_metric: dict[Metric, list[Comparison]] = {metric: [] for metric in metrics}
    for of_a in build_axes(a, short_places, a.n > 0):
        of_b = of_a if one_run else by_dataset.get(of_a.dataset)
        if of_b is None:
            continue
        for metric, comparisons in comparisons_by_metric.items():
            # One metric at a time: the differences of all articles and pairs are some times as large as the scores.
            grid = of_a.grid(metric)
            other = grid if one_run else of_b.grid(metric)
            comparisons += _compare(grid, other, short.get(of_a.dataset, {}), pairs)
        del of_a, of_b, grid, other  # before the next dataset's are made
    return {metric: tuple(comparisons) for metric, comparisons in comparisons_by_metric.items()}


@dataclass(frozen=True, slots=True, eq=False)
class PairedScores:
    """Two systems at n words: their scores, (articles that both runs have,), and counts of articles that one lacks."""

    pair: tuple[str, str]
    n: int
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    only_a: int
    only_b: int
    same_text: int | None
    words_a: float
    words_b: float

    @property
    def both(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.a - self.b)


def _compare(a: Grid, b: Grid, short: Mapping[int, int], pairs: Sequence[tuple[str, str]]) -> list[Comparison]:
    """Compare pairs in one metric, on one dataset, some pairs at a time."""
    step = max(1, _DIFFERENCES_AT_ONCE // max(1, len(a.lengths) * len(a.articles)))
    return [
        comparison
        for start in range(0, len(pairs), step)
        for comparison in _compare_pairs(a, b, short, pairs[start : start + step])
    ]


def _compare_pairs(a: Grid, b: Grid, short: Mapping[int, int], pairs: Sequence[tuple[str, str]]) -> list[Comparison]:
    cells = [cell for cell in _cells(a, b, pairs) if cell.both.any()]
    if not cells:
        return []
    by_pair: dict[tuple[str, str], list[PairedLength]] = {}
    for cell, length in zip(cells, paired_lengths(cells), strict=True):
        by_pair.setdefault(cell.pair, []).append(length)
    comparisons, by_n = [], dict(sorted(short.items()))
    for pair, tested in by_pair.items():
        left_out = (_lengths(a, pair[0]) | _lengths(b, pair[1])) - {length.n for length in tested}
        comparisons.append(Comparison(a.dataset, *pair, holm_corrected(tested), tuple(sorted(left_out)), by_n))
    return comparisons


def _cells(a: Grid, b: Grid, pairs: Sequence[tuple[str, str]]) -> Iterator[PairedScores]:
    _, in_a, in_b = np.intersect1d(a.articles, b.articles, return_indices=True)
    for pair in pairs:
        if pair[0] not in a.systems or pair[1] not in b.systems:
            continue
        for n in sorted(set(a.lengths) & set(b.lengths)):
            at_a, at_b = (a.systems.index(pair[0]), a.lengths.index(n)), (b.systems.index(pair[1]), b.lengths.index(n))
            sides = ((a, at_a, in_a), (b, at_b, in_b))
            scores_a, scores_b = a.values[at_a], b.values[at_b]
            both = ~np.isnan(scores_a[in_a] - scores_b[in_b])
            only_a, only_b = (int((~np.isnan(scores)).sum() - both.sum()) for scores in (scores_a, scores_b))
            same = _count_equal(a.texts[at_a][in_a][both], b.texts[at_b][in_b][both])
            words = (float(grid.words[place][rows][both].mean()) if both.any() else 0.0 for grid, place, rows in sides)
            yield PairedScores(pair, n, scores_a[in_a], scores_b[in_b], only_a, only_b, same, *words)


def _count_equal(a: NDArray[np.int64], b: NDArray[np.int64]) -> int | None:
    if (a == NO_TEXT).any() or (b == NO_TEXT).any():
        return None
    return int((a == b).sum())


def _lengths(grid: Grid, system: str) -> set[int]:
    has_any = (~np.isnan(grid.values[grid.systems.index(system)])).any(axis=1)
    return {n for n, has in zip(grid.lengths, has_any, strict=True) if has}


def paired_lengths(cells: Sequence[PairedScores]) -> list[PairedLength]:
    """Test each cell of one dataset by itself: `p_holm` is p. Each cell needs an article that both systems have."""
    raw = np.stack([cell.a - cell.b for cell in cells], axis=1)
    differences = np.where(np.abs(raw) <= TIE, 0.0, raw)
    found = zip(cells, differences.T, mean_intervals(differences), sign_flip_p(differences), strict=True)
    return [_paired_length(*of_cell) for of_cell in found]


def _paired_length(
    cell: PairedScores, differences: NDArray[np.float64], interval: Interval, test: tuple[float, bool]
) -> PairedLength:
    both, (p, exact) = cell.both, test
    return PairedLength(
        n=cell.n,
        articles=int(both.sum()),
        only_a=cell.only_a,
        only_b=cell.only_b,
        mean_a=float(cell.a[both].mean()),
        mean_b=float(cell.b[both].mean()),
        difference=interval,
        p=p,
        p_holm=p,
        exact=exact,
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
        same_text=cell.same_text,
        words_a=cell.words_a,
        words_b=cell.words_b,
        skewness=_skewness(differences[both]),
    )


def _skewness(values: NDArray[np.float64]) -> float | None:
    centred = values - values.mean()
    variance = float((centred**2).mean())
    # Equal values differ from their mean only by rounding.
    # On an array, ** 3 takes twenty times as long.
    return float((centred * centred * centred).mean() / variance**1.5) if variance**0.5 > TIE else None
