"""The scores of a run as arrays, a dataset at a time: one axis for its systems, one for n, one for its articles."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.analysis.points import Metric, Place, Point, Points, elsewhere, short_articles, system_order
from core.errors import StoreError
from core.metrics.specs import OPTIONAL
from core.types import SystemKind

Cells: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """Where each point of one dataset lies. All axes are sorted (systems by `system_order`).

    `cells` has the place of each of `points` on the three axes, so the order of the input does not matter.
    """

    dataset: str
    systems: tuple[str, ...]
    kinds: tuple[SystemKind, ...]
    lengths: tuple[int, ...]
    articles: tuple[str, ...]
    points: Points
    cells: Cells

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.systems), len(self.lengths), len(self.articles)


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """One metric over one dataset, on the axes of `Axes`.

    A cell is empty where there is no such summary, where the article has fewer words than n, or where a summary lacks
    the score (of `OPTIONAL` metrics alone).

    Attributes:
        kinds: what each of the systems is.
        values: float64 of shape (systems, lengths, articles), NaN in empty cells.
        words: int32 of the same shape, 0 in empty cells.
        texts: keys (`Points.text`), int64 of the same shape, `NO_TEXT` in empty cells.
        short: bool of shape (lengths, articles): where an article has fewer words than n (`short_articles`).
    """

    dataset: str
    systems: tuple[str, ...]
    kinds: tuple[SystemKind, ...]
    lengths: tuple[int, ...]
    articles: tuple[str, ...]
    values: NDArray[np.float64]
    words: NDArray[np.int32]
    texts: NDArray[np.int64]
    short: NDArray[np.bool_]

    @property
    def present(self) -> NDArray[np.bool_]:
        """True where there is a summary; shape (systems, lengths, articles)."""
        return ~np.isnan(self.values)


def build_grids(points: Points | Iterable[Point], metric: Metric) -> tuple[Grid, ...]:
    """One `Grid` per dataset, datasets in alphabetical order, without the articles that are shorter than n.

    Raises:
        StoreError: two points share dataset, article, system and n, or a score is not a finite number.
    """
    return tuple(grids[metric] for grids in build_grids_by_metric(points, (metric,)))


def build_grids_by_metric(
    points: Points | Iterable[Point], metrics: Sequence[Metric], short: frozenset[Place] | None = None
) -> Iterator[dict[Metric, Grid]]:
    """The same of several metrics, for each dataset. All grids of a dataset share words and texts.

    `short` says where articles are shorter than n; unless given, the controls among the points show it.

    Raises:
        StoreError: as `build_grids`.
    """
    points = Points.of(points)
    short = short_articles(points) if short is None else short
    for axes in build_axes(points.of_metrics(metrics), short):
        words = np.zeros(axes.shape, dtype=np.int32)
        texts = np.zeros(axes.shape, dtype=np.int64)
        words[axes.cells], texts[axes.cells] = axes.points.words, axes.points.text
        yield {metric: _grid(axes, metric, short, words, texts) for metric in metrics}


def _grid(
    axes: Axes,
    metric: Metric,
    short: frozenset[Place],
    words: NDArray[np.int32],
    texts: NDArray[np.int64],
) -> Grid:
    scores = axes.points.scores[metric]
    _check(axes, metric, scores)
    values = np.full(axes.shape, np.nan)
    values[axes.cells] = scores
    is_short = np.zeros(axes.shape[1:], dtype=np.bool_)
    row = {n: i for i, n in enumerate(axes.lengths)}
    depth = {article: i for i, article in enumerate(axes.articles)}
    for dataset, article, n in short:
        if dataset == axes.dataset and article in depth and n in row:
            is_short[row[n], depth[article]] = True
    return Grid(axes.dataset, axes.systems, axes.kinds, axes.lengths, axes.articles, values, words, texts, is_short)


def build_axes(points: Points, left_out: frozenset[Place] = frozenset()) -> Iterator[Axes]:
    """The axes of each dataset, in alphabetical order, each made when it is asked for. They lack the places `left_out`.

    Raises:
        StoreError: two points share dataset, article, system and n.
    """
    datasets = np.array([dataset for dataset, _ in points.articles], dtype=np.object_)
    wanted = elsewhere(points, left_out)
    for dataset in sorted(set(datasets)):
        chosen = wanted & (datasets == dataset)[points.article]
        if chosen.any():
            yield _axes(dataset, points.take(chosen))


def _axes(dataset: str, points: Points) -> Axes:
    kinds = dict(zip(points.systems, points.kinds, strict=True))
    systems = sorted(kinds, key=lambda system: system_order(system, kinds[system]))
    articles = sorted({article for _, article in points.articles})
    lengths = np.flatnonzero(np.bincount(points.n))
    row = {system: i for i, system in enumerate(systems)}
    depth = {article: i for i, article in enumerate(articles)}
    axes = Axes(
        dataset=dataset,
        systems=tuple(systems),
        kinds=tuple(kinds[system] for system in systems),
        lengths=tuple(lengths.tolist()),
        articles=tuple(articles),
        points=points,
        cells=(
            np.array([row[system] for system in points.systems], dtype=np.int32)[points.system],
            np.searchsorted(lengths, points.n).astype(np.int32),
            np.array([depth[article] for _, article in points.articles], dtype=np.int32)[points.article],
        ),
    )
    _refuse_twins(axes)
    return axes


def _refuse_twins(axes: Axes) -> None:
    flat = np.ravel_multi_index(axes.cells, axes.shape)
    is_taken = np.zeros(np.prod(axes.shape), dtype=np.bool_)
    is_taken[flat] = True
    if is_taken.sum() < len(flat):
        _, first = np.unique(flat, return_index=True)
        system, n, article = _name(axes, int(np.setdiff1d(np.arange(len(flat)), first)[0]))
        raise StoreError(
            f"article {article} of {axes.dataset} has two summaries by {system!r} at n={n}: "
            "analyse the points of one run at a time"
        )


def _check(axes: Axes, metric: Metric, scores: NDArray[np.float64]) -> None:
    strange = np.flatnonzero(np.isinf(scores) if metric in OPTIONAL else ~np.isfinite(scores))
    if strange.size:
        system, n, article = _name(axes, int(strange[0]))
        raise StoreError(
            f"{metric} of {system!r} at n={n} for article {article} of {axes.dataset} is "
            f"{scores[strange[0]]}, not a number: delete that row and resume the run to score it again"
        )


def _name(axes: Axes, i: int) -> tuple[str, int, str]:
    """System, n and article of a point."""
    points = axes.points
    return points.systems[points.system[i]], int(points.n[i]), points.articles[points.article[i]][1]
