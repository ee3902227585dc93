"""What the analysis reads: one `Point` per summary, and the arrays made of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.errors import StoreError
from core.types import SystemKind

Metric = Literal["bertscore_f1", "rouge1_f1", "rouge2_f1", "rougel_f1", "efficiency", "density"]

RANDOM = "random"
LEAD = "lead"
"""The controls that others are compared with: what length alone gains, and what the article's beginning does."""
POLICY = "policy|"
"""What the signatures of trained policies begin with."""

_KINDS: tuple[SystemKind, ...] = ("system", "upper bound", "control")


def system_order(system: str, kind: SystemKind) -> tuple[int, str]:
    """Key to sort systems by: first those one can choose, then upper bounds, then controls, each by name."""
    return _KINDS.index(kind), system


def kinds_of(points: Iterable["Point"]) -> dict[str, SystemKind]:
    """What each system is, in the order of `system_order`."""
    found = {point.system: point.kind for point in points}
    return {system: found[system] for system in sorted(found, key=lambda system: system_order(system, found[system]))}


Place: TypeAlias = tuple[str, str, int]
"""Dataset, article id and n."""


@dataclass(frozen=True, slots=True)
class Point:
    """One scored summary: what `system` wrote for an article when asked for `n` words (0: uncut).

    `words` is what the summary has, which is less than `n` when the article had no more to give. `kind` is what the
    system is to a reader. `text` is the summary; None for a mean over several.
    """

    dataset: str
    article_id: str
    system: str
    n: int
    words: int
    bertscore_f1: float
    rouge1_f1: float
    rouge2_f1: float
    rougel_f1: float
    efficiency: float
    density: float
    kind: SystemKind = "system"
    text: str | None = None

    @property
    def place(self) -> Place:
        """What it is a summary of, and how long it was to be."""
        return self.dataset, self.article_id, self.n


def short_articles(points: Iterable[Point]) -> frozenset[Place]:
    """Where an article has fewer words than n: there the controls wrote fewer, which they do for no other reason.

    An article without a summary by a control counts as long enough.
    """
    return frozenset(point.place for point in points if point.kind == "control" and point.words < point.n)


def without_short(points: Iterable[Point]) -> list[Point]:
    """The points of articles that have n words. In a shorter one every system has to write the whole article."""
    points = list(points)
    short = short_articles(points)
    return [point for point in points if point.place not in short]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """One metric over one dataset. All axes are sorted (systems by `system_order`): the input's order leaves no trace.

    `kinds` says what each of the systems is.
    `values` is float64 of shape (systems, lengths, articles), NaN where there is no such summary or the article has
    fewer words than n; `words` is int64 of the same shape, 0 there, and `texts` holds str, None there.
    `short` is bool of shape (lengths, articles): where an article has fewer words than n (`short_articles`).
    """

    dataset: str
    systems: tuple[str, ...]
    kinds: tuple[SystemKind, ...]
    lengths: tuple[int, ...]
    articles: tuple[str, ...]
    values: NDArray[np.float64]
    words: NDArray[np.int64]
    texts: NDArray[np.object_]
    short: NDArray[np.bool_]

    @property
    def present(self) -> NDArray[np.bool_]:
        """True where there is a summary; shape (systems, lengths, articles)."""
        return ~np.isnan(self.values)


def build_grids(points: Iterable[Point], metric: Metric) -> tuple[Grid, ...]:
    """One `Grid` per dataset, datasets in alphabetical order, without the articles that are shorter than n.

    Raises:
        StoreError: two points share dataset, article, system and n, or a score is not a finite number.
    """
    by_dataset: dict[str, list[Point]] = {}
    points = list(points)
    short = short_articles(points)
    for point in points:
        if point.place not in short:
            by_dataset.setdefault(point.dataset, []).append(point)
    return tuple(_build_grid(dataset, by_dataset[dataset], metric, short) for dataset in sorted(by_dataset))


def _build_grid(dataset: str, points: list[Point], metric: Metric, short: frozenset[Place]) -> Grid:
    kinds = kinds_of(points)
    systems = list(kinds)
    lengths = sorted({point.n for point in points})
    articles = sorted({point.article_id for point in points})
    shape = (len(systems), len(lengths), len(articles))
    values = np.full(shape, np.nan)
    words = np.zeros(shape, dtype=np.int64)
    texts = np.full(shape, None, dtype=np.object_)
    row = {system: i for i, system in enumerate(systems)}
    column = {n: i for i, n in enumerate(lengths)}
    depth = {article: i for i, article in enumerate(articles)}
    cells = (
        np.array([row[point.system] for point in points]),
        np.array([column[point.n] for point in points]),
        np.array([depth[point.article_id] for point in points]),
    )
    scores = np.array([getattr(point, metric) for point in points], dtype=np.float64)
    _check(dataset, points, metric, scores, np.ravel_multi_index(cells, shape))
    values[cells] = scores
    words[cells] = [point.words for point in points]
    texts[cells] = [point.text for point in points]
    return Grid(
        dataset=dataset,
        systems=tuple(systems),
        kinds=tuple(kinds.values()),
        lengths=tuple(lengths),
        articles=tuple(articles),
        values=values,
        words=words,
        texts=texts,
        short=np.array([[(dataset, article, n) in short for article in articles] for n in lengths]),
    )


def _check(
    dataset: str, points: list[Point], metric: Metric, scores: NDArray[np.float64], cells: NDArray[np.intp]
) -> None:
    strange = np.flatnonzero(~np.isfinite(scores))
    if strange.size:
        point = points[strange[0]]
        raise StoreError(
            f"{metric} of {point.system!r} at n={point.n} for article {point.article_id} of {dataset} is "
            f"{scores[strange[0]]}, not a number: delete that row and resume the run to score it again"
        )
    _, first = np.unique(cells, return_index=True)
    if first.size < len(points):
        point = points[np.setdiff1d(np.arange(len(points)), first)[0]]
        raise StoreError(
            f"article {point.article_id} of {dataset} has two summaries by {point.system!r} at n={point.n}: "
            "analyse the points of one run at a time"
        )
