"""The scores of a run as arrays, one dataset at a time. Their axes are the systems, the n and the articles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nws.core.analysis.points import NO_TEXT, Place, Points, elsewhere, pieces, short_articles
from nws.core.errors import StoreError
from nws.core.findings.scores import system_order
from nws.core.metrics.specs import Metric
from nws.core.types import SystemKind

Value = TypeVar("Value", bound=np.generic)


@dataclass(frozen=True, eq=False)
class _Places:
    """The axes of one dataset, all sorted (systems by `system_order`).

    Attributes:
        kinds: the kind of each system.
        short: the places that are left out because an article has fewer words than n (`short_articles`), bool of shape
            (lengths, articles).
    """

    dataset: str
    systems: tuple[str, ...]
    kinds: tuple[SystemKind, ...]
    lengths: tuple[int, ...]
    articles: tuple[str, ...]
    short: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Axes(_Places):
    """The places of the points of one dataset.

    The grids of its metrics are made one by one, since all at once would take as much memory as the scores themselves.
    They share `words`, `texts` and `short`, see `Grid`.

    Attributes:
        points: the points of all datasets. They are not copied, since there may be ten million.
        rows: the indices of the points of this dataset, int32.
        cells: the place of each of `rows` on the three axes, as an index into the flattened array, int64. So the order
            of the points does not matter.
    """

    points: Points
    rows: NDArray[np.int32]
    cells: NDArray[np.int64]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether there is a summary, bool of shape (systems, lengths, articles)."""
        return self.placed(np.ones(len(self.points), dtype=np.bool_), np.bool_(False))

    def placed(self, column: NDArray[Value], empty: Value) -> NDArray[Value]:
        """Return a column of `points` on the three axes, with `empty` where there is no summary."""
        values = np.full((len(self.systems), len(self.lengths), len(self.articles)), empty, dtype=column.dtype)
        flat = values.reshape(-1)
        for piece in pieces(len(self.rows)):
            flat[self.cells[piece]] = column[self.rows[piece]]
        return values

    @cached_property
    def words(self) -> NDArray[np.int32]:
        return self.placed(self.points.words, np.int32(0))

    @cached_property
    def texts(self) -> NDArray[np.int64]:
        return self.placed(self.points.text, np.int64(NO_TEXT))

    def grid(self, metric: Metric) -> "Grid":
        """Return the grid of one metric."""
        same = (self.dataset, self.systems, self.kinds, self.lengths, self.articles, self.short)
        return Grid(*same, self.placed(self.points.scores[metric], np.float64(np.nan)), self.words, self.texts)


@dataclass(frozen=True, eq=False)
class Grid(_Places):
    """One metric over one dataset, on the axes of `Axes`.

    A cell is empty where there is no summary, where the article has fewer words than n, or where a summary lacks the
    score (only with `OPTIONAL` metrics).

    Attributes:
        values: the scores, float64 of shape (systems, lengths, articles), NaN in empty cells.
        words: the numbers of words, int32 of the same shape, 0 in empty cells.
        texts: the keys of the texts (`Points.text`), int64 of the same shape, `NO_TEXT` in empty cells.
    """

    values: NDArray[np.float64]
    words: NDArray[np.int32]
    texts: NDArray[np.int64]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether the cell has a score, bool of shape (systems, lengths, articles)."""
        return ~np.isnan(self.values)


def build_grids(points: Points, metric: Metric, chosen: NDArray[np.bool_] | None = None) -> Iterator[Grid]:
    """Make a `Grid` for each dataset, in alphabetical order, without the articles that are shorter than n.

    A grid is made when it is asked for. A `map` over the grids, unlike a `for`, frees each grid before it asks for the
    next one.

    Args:
        points: the points of one run.
        metric: the metric of the grids.
        chosen: which points the grids have, bool with one value per point; None for all. Unlike `Points.take`, this
            does not copy the points.

    Raises:
        StoreError: two points share dataset, article, system and n.
    """
    axes = build_axes(points.of_metrics((metric,)), short_articles(points), chosen)
    return map(lambda of_dataset: of_dataset.grid(metric), axes)


def build_axes(
    points: Points, left_out: frozenset[Place] = frozenset(), chosen: NDArray[np.bool_] | None = None
) -> Iterator[Axes]:
    """Make the axes of each dataset, in alphabetical order, each when it is asked for.

    Args:
        points: the points of one run.
        left_out: the places to leave out, where articles are shorter than n.
        chosen: which points the axes have, bool with one value per point; None for all.

    Raises:
        StoreError: two points share dataset, article, system and n.
    """
    datasets = np.array([dataset for dataset, _ in points.articles], dtype=np.object_)
    included = elsewhere(points, left_out)
    if chosen is not None:
        included &= chosen
    for dataset in sorted(set(datasets)):
        rows = np.flatnonzero(included & (datasets == dataset)[points.article]).astype(np.int32)
        if rows.size:
            yield _axes(dataset, points, rows, left_out)


def _axes(dataset: str, points: Points, rows: NDArray[np.int32], left_out: frozenset[Place]) -> Axes:
    def used(codes: NDArray[np.int32]) -> NDArray[np.intp]:
        return np.flatnonzero(np.bincount(codes[rows]))

    kinds = {points.systems[i]: points.kinds[i] for i in used(points.system).tolist()}
    systems = sorted(kinds, key=lambda system: system_order(system, kinds[system]))
    articles = sorted({points.articles[i][1] for i in used(points.article).tolist()})
    lengths = used(points.n)
    row = {system: i for i, system in enumerate(systems)}
    depth = {article: i for i, article in enumerate(articles)}
    is_short = np.zeros((len(lengths), len(articles)), dtype=np.bool_)
    place = {n: i for i, n in enumerate(lengths.tolist())}
    for of_dataset, article, n in left_out:
        if of_dataset == dataset and article in depth and n in place:
            is_short[place[n], depth[article]] = True
    # The place of each code on its axis; -1 for codes of other datasets.
    on_axes = (
        np.array([row.get(system, -1) for system in points.systems]),
        np.searchsorted(lengths, np.arange(lengths[-1] + 1)),
        np.array([depth.get(article, -1) for _, article in points.articles]),
    )
    axes = Axes(
        dataset=dataset,
        systems=tuple(systems),
        kinds=tuple(kinds[system] for system in systems),
        lengths=tuple(lengths.tolist()),
        articles=tuple(articles),
        points=points,
        rows=rows,
        cells=_cells((points.system, points.n, points.article), on_axes, rows),
        short=is_short,
    )
    if axes.present.sum() < len(axes.cells):
        raise StoreError(
            f"An article of {dataset} has two summaries by one system at one n: analyse one run at a time."
        )
    return axes


def _cells(
    codes: Sequence[NDArray[np.int32]], on_axes: Sequence[NDArray[np.int64]], rows: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return the places of rows on the flattened axes, from the place of each code on its axis."""
    shape = [int(places.max()) + 1 for places in on_axes]
    cells = np.empty(len(rows), dtype=np.int64)
    for piece in pieces(len(rows)):
        places = [axis[codes_of_axis[rows[piece]]] for codes_of_axis, axis in zip(codes, on_axes, strict=True)]
        cells[piece] = np.ravel_multi_index(places, shape)
    return cells
