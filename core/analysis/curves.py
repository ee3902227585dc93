"""Mean score by summary length, with intervals: what a sweep is read from first."""

from collections.abc import Iterable
from dataclasses import dataclass

from core.analysis.bootstrap import Interval, mean_intervals
from core.analysis.points import Grid, Metric, Point, build_grids
from core.types import SystemKind


@dataclass(frozen=True, slots=True)
class CurvePoint(Interval):
    """The mean over `articles` articles at n words, and its 95 % interval."""

    n: int
    articles: int


@dataclass(frozen=True, slots=True)
class Curve:
    """One system on one dataset; `lengths` in rising n."""

    dataset: str
    system: str
    kind: SystemKind
    lengths: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True)
class Uncut:
    """A system that was given no length: `words` is the mean its summaries came to."""

    dataset: str
    system: str
    kind: SystemKind
    articles: int
    words: float
    score: Interval


def sweep_curves(points: Iterable[Point], metric: Metric = "bertscore_f1", *, seed: int) -> tuple[Curve, ...]:
    """A curve per dataset and system, datasets in alphabetical order, systems by `system_order`.

    Each mean is over all articles that have a summary at that n. Uncut summaries (n = 0) are on no curve.

    Raises:
        StoreError: the points are not those of one run (see `build_grids`).
    """
    return tuple(
        curve
        for grid in build_grids((point for point in points if point.n > 0), metric)
        for curve in _curves(grid, seed)
    )


def _curves(grid: Grid, seed: int) -> list[Curve]:
    present = grid.present
    counts = present.sum(axis=2)
    cells = [(s, k) for s in range(len(grid.systems)) for k in range(len(grid.lengths)) if counts[s, k]]
    columns = grid.values[[s for s, _ in cells], [k for _, k in cells]].T
    on_curve: dict[int, list[CurvePoint]] = {}
    for (s, k), found in zip(cells, mean_intervals(columns, seed), strict=True):
        on_curve.setdefault(s, []).append(
            CurvePoint(found.mean, found.low, found.high, grid.lengths[k], int(counts[s, k]))
        )
    return [
        Curve(grid.dataset, system, kind, tuple(on_curve[s]))
        for s, (system, kind) in enumerate(zip(grid.systems, grid.kinds, strict=True))
    ]


def uncut_scores(points: Iterable[Point], metric: Metric = "bertscore_f1", *, seed: int) -> tuple[Uncut, ...]:
    """The mean score of every system that wrote summaries of its own length (n = 0)."""
    found = []
    for grid in build_grids((point for point in points if point.n == 0), metric):
        counts = grid.present[:, 0].sum(axis=1)
        scores = mean_intervals(grid.values[:, 0].T, seed)
        words = grid.words[:, 0].sum(axis=1) / counts
        found += [
            Uncut(grid.dataset, system, grid.kinds[s], int(counts[s]), float(words[s]), score)
            for s, (system, score) in enumerate(zip(grid.systems, scores, strict=True))
        ]
    return tuple(found)
