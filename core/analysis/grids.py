"""The scores of a run as arrays, a dataset at a time: one axis for its systems, one for n, one for its articles."""

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
    """The axes of one dataset, all sorted (systems by `system_order`). `kinds` is what each of the systems is.

    `short`, bool of shape (lengths, articles), has the places that are left out, since an article has fewer words than
    n (`short_articles`).
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

    The grids of its metrics are made one by one: all at once would take as much room as the scores themselves. They
    share `words`, `texts` and `short`, see `Grid`.

    Attributes:
        points: of all datasets. Nothing is copied of them: there may be ten million.
        rows: int32, which of `points` are of this dataset.
        cells: int64, the place of each of `rows` on the three axes, as an index into the flattened array. So the order
            of the points does not matter.
    """

    points: Points
    rows: NDArray[np.int32]
    cells: NDArray[np.int64]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Where there is a summary; shape (systems, lengths, articles)."""
        return self.placed(np.ones(len(self.points), dtype=np.bool_), np.bool_(False))

    def placed(self, column: NDArray[Value], empty: Value) -> NDArray[Value]:
        """A column of `points` on the three axes, and `empty` where there is no summary."""
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
        """The grid of one metric."""
        same = (self.dataset, self.systems, self.kinds, self.lengths, self.articles, self.short)
        return Grid(*same, self.placed(self.points.scores[metric], np.float64(np.nan)), self.words, self.texts)


@dataclass(frozen=True, eq=False)
class Grid(_Places):
    """One metric over one dataset, on the axes of `Axes`.

    A cell is empty where there is no such summary, where the article has fewer words than n, or where a summary lacks
    the score (of `OPTIONAL` metrics alone).

    Attributes:
        values: float64 of shape (systems, lengths, articles), NaN in empty cells.
        words: int32 of the same shape, 0 in empty cells.
        texts: keys (`Points.text`), int64 of the same shape, `NO_TEXT` in empty cells.
    """

    values: NDArray[np.float64]
    words: NDArray[np.int32]
    texts: NDArray[np.int64]

    @property
    def present(self) -> NDArray[np.bool_]:
        """True where there is a summary; shape (systems, lengths, articles)."""
        return ~np.isnan(self.values)


def build_grids(points: Points, metric: Metric, chosen: NDArray[np.bool_] | None = None) -> Iterator[Grid]:
    """One `Grid` per dataset, datasets in alphabetical order, without the articles that are shorter than n.

    Each is made when it is asked for. A `map` over them, unlike a `for`, has let go of one when it asks for the next.

    With `chosen`, bool of one value a point, it has those alone. They are not copied, as by `Points.take`.

    Raises:
        StoreError: two points share dataset, article, system and n.
    """
    axes = build_axes(points.of_metrics((metric,)), short_articles(points), chosen)
    return map(lambda of_dataset: of_dataset.grid(metric), axes)


def build_axes(
    points: Points, left_out: frozenset[Place] = frozenset(), chosen: NDArray[np.bool_] | None = None
) -> Iterator[Axes]:
    """The axes of each dataset, in alphabetical order, each made when it is asked for. They lack the places `left_out`.

    Those are where articles are shorter than n.

    With `chosen`, bool of one value a point, they have those alone.

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
    # Of each code where it is on its axis; -1 for what is of other datasets.
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
    """The places of rows on the flattened axes, from the place of each code on its axis."""
    shape = [int(places.max()) + 1 for places in on_axes]
    cells = np.empty(len(rows), dtype=np.int64)
    for piece in pieces(len(rows)):
        places = [axis[codes_of_axis[rows[piece]]] for codes_of_axis, axis in zip(codes, on_axes, strict=True)]
        cells[piece] = np.ravel_multi_index(places, shape)
    return cells
