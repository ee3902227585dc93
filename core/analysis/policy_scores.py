"""The scores of trained policies on articles they were not trained on, over seeds, and compared with other systems.

A training is repeated with other seeds, and each policy that results is a system of the run: `policy|reinforce|seed=0`,
`policy|reinforce|seed=1`, … Here they are one system, `policy|reinforce`, whose score on an article is the mean over
its seeds. Intervals are over articles, so they do not include the variation between seeds.

The module also computes how the policies learned: means over windows of updates, and over seeds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nws.core.analysis.curves import comparable_articles
from nws.core.analysis.grids import build_axes
from nws.core.analysis.intervals import mean_interval
from nws.core.analysis.paired import compare_systems
from nws.core.analysis.points import NO_TEXT, Points, elsewhere, short_articles
from nws.core.findings.comparisons import PairedLength
from nws.core.findings.policy_findings import (
    ORACLE,
    TEXTRANK,
    WINDOWS,
    Band,
    LearningLine,
    SystemScore,
    compared_with,
    split_seed,
)
from nws.core.metrics.specs import METRICS, Metric
from nws.core.types import POLICY, CurveRow, SystemKind

_TENTHS = 10


def mean_over_seeds(points: Points, method: str) -> Points:
    """Make one system of the policies of a method: the mean of each metric over seeds, where all have a summary.

    Args:
        points: the points of one run.
        method: the name without a seed, such as `policy|reinforce`.
    """
    policies = points.take(np.array([split_seed(name)[0] == method for name in points.systems])[points.system])
    means = Points.together([_means(key, cell) for key, cell in _cells(policies).items()])
    if points.article_characters is None:
        return means
    characters = dict(zip(points.articles, points.article_characters.tolist(), strict=True))
    of_articles = np.array([characters[article] for article in means.articles], dtype=np.int32)
    return replace(means, article_characters=of_articles)


def policy_scores(
    points: Points, training_f1: Mapping[tuple[str, int], float], metric: Metric = "bertscore_f1"
) -> tuple[SystemScore, ...]:
    """Compute a score for every dataset, system and n.

    Scores are ordered by the name of the dataset, with policies first and oracles last, and by n.

    Args:
        points: the points of one run, with every metric and the shares of repeated words. Uncut summaries (n = 0) are
            left out, and so are articles with fewer than n words.
        training_f1: the mean F1 on training articles, by system (without seed) and n.
        metric: the metric of seeds, differences and gaps.

    Raises:
        StoreError: the points are not those of one run (see `build_grids`).
    """
    # If an article has fewer words than n, every system has to write all of it.
    points = points.take((points.n > 0) & elsewhere(points, short_articles(points)))
    all_cells = _cells(points)
    cells = _on_equal_articles(all_cells)
    scores = {
        key: dict(zip(cell.articles, cell.scores(metric).mean(axis=0), strict=True)) for key, cell in cells.items()
    }
    versus = _comparisons(all_cells, metric)
    found = []
    for key in sorted(cells, key=lambda key: _order(key, cells[key].kind)):
        cell, (dataset, system, n) = cells[key], key
        by_seed = cell.scores(metric)
        *means, words, repeated_words = cell.numbers.mean(axis=(0, 1)).tolist()
        found.append(
            SystemScore(
                dataset=dataset,
                system=system,
                kind=cell.kind,
                n=n,
                articles=len(cell.articles),
                score=mean_interval(by_seed.mean(axis=0)),
                seeds=dict(zip(cell.seeds, by_seed.mean(axis=1).tolist(), strict=True)) if cell.seeds else {},
                means={name: mean for name, mean in zip(cell.metrics, means, strict=True) if name in METRICS},
                words=words,
                repeated_words=repeated_words,
                comparable=cell.comparable,
                versus=versus.get(key, {}),
                gap_closed=_gap_closed(key, scores),
                training_f1=training_f1.get((system, n)),
            )
        )
    return tuple(found)


_Key: TypeAlias = tuple[str, str, int]
"""Dataset, system without its seed, n."""


@dataclass(frozen=True, slots=True, eq=False)
class _SystemAtN:
    """A system at one n.

    Attributes:
        seeds: the seeds; empty for a system without seeds.
        numbers: float64 of shape (seeds, articles, columns); without seeds, the first axis has length 1. The columns
            are `metrics`, words, and the share of repeated words if there is one.
    """

    articles: tuple[str, ...]
    seeds: tuple[int, ...]
    kind: SystemKind
    numbers: NDArray[np.float64]
    metrics: tuple[Metric, ...]
    comparable: bool = False

    def scores(self, metric: Metric) -> NDArray[np.float64]:
        """Return the scores by one metric, (seeds, articles)."""
        return np.asarray(self.numbers[:, :, self.metrics.index(metric)])


def _order(key: _Key, kind: SystemKind) -> tuple[str, int, str, int]:
    dataset, system, n = key
    place = {"oracle": 3, "control": 2, "system": 0 if system.startswith(POLICY) else 1}
    return dataset, place[kind], system, n


def _cells(points: Points) -> dict[_Key, _SystemAtN]:
    cells = {}
    metrics = tuple(points.scores)
    columns = [*points.scores.values(), points.words.astype(np.float64)]
    if points.repeated_words is not None:
        columns.append(points.repeated_words)
    for axes in build_axes(points):
        present = axes.present
        values = np.stack([axes.placed(column, np.float64(np.nan)) for column in columns], axis=-1)
        methods: dict[str, list[int]] = {}
        for s, name in enumerate(axes.systems):
            methods.setdefault(split_seed(name)[0], []).append(s)
        for system, policies in methods.items():
            for k, n in enumerate(axes.lengths):
                with_summaries = [(split_seed(axes.systems[s])[1], s) for s in policies if present[s, k].any()]
                rows = [s for _, s in sorted(with_summaries, key=lambda seed_and_row: seed_and_row[0] or 0)]
                common = np.flatnonzero(present[rows, k].all(axis=0)) if rows else np.array([], dtype=np.intp)
                if common.size:
                    articles = tuple(axes.articles[i] for i in common.tolist())
                    seeds = tuple(sorted(seed for seed, _ in with_summaries if seed is not None))
                    numbers = np.ascontiguousarray(values[rows, k][:, common])
                    cells[axes.dataset, system, n] = _SystemAtN(articles, seeds, axes.kinds[rows[0]], numbers, metrics)
    return cells


def _means(key: _Key, cell: _SystemAtN) -> Points:
    """Return the means over seeds as points."""
    dataset, system, n = key
    count, means = len(cell.articles), cell.numbers.mean(axis=0)
    return Points(
        systems=(system,),
        kinds=(cell.kind,),
        articles=tuple((dataset, article) for article in cell.articles),
        system=np.zeros(count, dtype=np.int32),
        article=np.arange(count, dtype=np.int32),
        n=np.full(count, n, dtype=np.int32),
        words=np.rint(means[:, len(cell.metrics)]).astype(np.int32),
        text=np.full(count, NO_TEXT, dtype=np.int64),
        scores={name: means[:, i] for i, name in enumerate(cell.metrics)},
    )


def _on_equal_articles(cells: Mapping[_Key, _SystemAtN]) -> dict[_Key, _SystemAtN]:
    """Cut cells to the articles that all cells of one dataset and n have. Cells that lack too many stay whole."""
    cut = {}
    for place in {(dataset, n) for dataset, _, n in cells}:
        group = {key: cell for key, cell in cells.items() if (key[0], key[2]) == place}
        articles = sorted({article for cell in group.values() for article in cell.articles})
        present = np.array([np.isin(articles, cell.articles) for cell in group.values()])
        comparable, common = comparable_articles(present)
        for (key, cell), fits in zip(group.items(), comparable, strict=True):
            chosen = np.isin(cell.articles, np.array(articles)[common])
            kept = tuple(np.array(cell.articles)[chosen].tolist())
            numbers = cell.numbers[:, chosen]
            cut[key] = replace(cell, articles=kept, numbers=numbers, comparable=True) if fits else cell
    return cut


def _comparisons(cells: Mapping[_Key, _SystemAtN], metric: Metric) -> dict[_Key, dict[str, PairedLength]]:
    """Compare systems by `compare_systems`, with all seeds of a policy as one system."""
    points = Points.together([_means(key, cell) for key, cell in cells.items()])
    systems = sorted({system for (_, system, _), cell in cells.items() if cell.kind != "oracle"})
    pairs = [(system, compared) for system in systems for compared in compared_with(system) if system != compared]
    versus: dict[_Key, dict[str, PairedLength]] = {}
    for comparison in compare_systems(points, points, pairs, metric):
        for length in comparison.lengths:
            name = comparison.b.partition("|")[0]
            versus.setdefault((comparison.dataset, comparison.a, length.n), {})[name] = length
    return versus


def _gap_closed(key: _Key, scores: Mapping[_Key, Mapping[str, float]]) -> float | None:
    dataset, system, n = key
    textrank, oracle = (scores.get((dataset, name, n), {}) for name in (TEXTRANK, ORACLE))
    common = sorted(scores[key].keys() & textrank.keys() & oracle.keys())
    if not common or system in (TEXTRANK, ORACLE):
        return None
    mean, lowest, highest = (
        float(np.mean([by_article[article] for article in common])) for by_article in (scores[key], textrank, oracle)
    )
    return (mean - lowest) / (highest - lowest) if highest > lowest else None


def learning_lines(curve: Sequence[CurveRow]) -> tuple[LearningLine, ...]:
    """Make a line for each method and n, ordered by name and n. The order of the rows does not matter."""
    updates: dict[str, int] = {}
    for row in curve:
        system = _system(row)
        updates[system] = max(updates.get(system, 0), row.update_number + 1)
    rows = sorted(curve, key=lambda row: (_system(row), row.n, row.seed, row.update_number))
    return tuple(
        _line(system, n, list(line_rows), updates[system])
        for (system, n), line_rows in groupby(rows, key=lambda row: (_system(row), row.n))
    )


def _system(row: CurveRow) -> str:
    return split_seed(POLICY + row.policy)[0]


def _line(system: str, n: int, rows: list[CurveRow], updates: int) -> LearningLine:
    count = min(WINDOWS, updates)
    reward, baseline, entropy = (
        _windows(rows, [getattr(row, name) for row in rows], updates, count)
        for name in ("reward", "advantage_baseline", "entropy")
    )
    seen = ~np.isnan(reward).all(axis=0)
    middles = (np.arange(count) + 0.5) * updates / count - 0.5
    tenths = _windows(rows, [row.reward for row in rows], updates, min(_TENTHS, updates))
    by_tenth = _band(tenths[:, ~np.isnan(tenths).all(axis=0)]).mean
    return LearningLine(
        system=system,
        n=n,
        seeds=tuple(sorted({row.seed for row in rows})),
        updates=updates,
        x=tuple(middles[seen].tolist()),
        reward=_band(reward[:, seen]),
        advantage_baseline=_band(baseline[:, seen]),
        entropy=_band(entropy[:, seen]),
        first_reward=by_tenth[0],
        last_reward=by_tenth[-1],
    )


def _windows(rows: Sequence[CurveRow], values: Sequence[float], updates: int, count: int) -> NDArray[np.float64]:
    """Return the means over the episodes of each of `count` equal windows, (seeds, windows); NaN without episodes."""
    seeds = sorted({row.seed for row in rows})
    at = [seeds.index(row.seed) for row in rows], [row.update_number * count // updates for row in rows]
    episodes = np.array([row.episodes for row in rows], dtype=np.float64)
    sums, weights = np.zeros((2, len(seeds), count))
    np.add.at(sums, at, episodes * values)
    np.add.at(weights, at, episodes)
    return np.divide(sums, weights, out=np.full_like(sums, np.nan), where=weights > 0)


def _band(values: NDArray[np.float64]) -> Band:
    """Return mean, lowest and highest over the seeds that have the window. Every window has at least one seed."""
    return Band(*(tuple(over(values, axis=0).tolist()) for over in (np.nanmean, np.nanmin, np.nanmax)))
