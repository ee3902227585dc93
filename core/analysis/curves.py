"""Mean score by summary length, with intervals: the first result of a sweep."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nws.core.analysis.grids import Grid, build_axes
from nws.core.analysis.intervals import mean_intervals
from nws.core.analysis.points import Points, short_articles
from nws.core.findings.scores import Curve, CurvePoint, Uncut
from nws.core.metrics.specs import Metric

Found = TypeVar("Found", Curve, Uncut)

MOST_MISSING = 0.1
"""The largest share of the articles that a system may lack and still be compared with others."""


def sweep_curves(points: Points, metric: Metric = "bertscore_f1") -> tuple[Curve, ...]:
    """Make a curve for each dataset and system, with datasets in alphabetical order and systems by `system_order`.

    The means of comparable systems at one n are over the same articles (`comparable_articles`). Articles with fewer
    words than n are left out, and so are uncut summaries (n = 0).

    Raises:
        StoreError: the points are not those of one run (see `build_grids`).
    """
    return curves_by_metric(points, (metric,))[metric]


def curves_by_metric(points: Points, metrics: Sequence[Metric]) -> dict[Metric, tuple[Curve, ...]]:
    """Make the curves of `sweep_curves` in several metrics at once, which takes less time."""
    return _by_metric(points, metrics, points.n > 0, _curves)


def uncut_by_metric(points: Points, metrics: Sequence[Metric]) -> dict[Metric, tuple[Uncut, ...]]:
    """Compute `uncut_scores` in several metrics at once, which takes less time."""
    return _by_metric(points, metrics, points.n == 0, _uncut)


def _by_metric(
    points: Points, metrics: Sequence[Metric], chosen: NDArray[np.bool_], found_in: Callable[[Grid], list[Found]]
) -> dict[Metric, tuple[Found, ...]]:
    """Return what is found in the grids of each metric. The metrics of a dataset share its axes, which saves time."""
    found: dict[Metric, list[Found]] = {metric: [] for metric in metrics}
    for axes in build_axes(points.of_metrics(metrics), short_articles(points), chosen):
        for metric, of_metric in found.items():
            of_metric += found_in(axes.grid(metric))
        del axes  # before the next dataset's are made
    return {metric: tuple(of_metric) for metric, of_metric in found.items()}


def comparable_articles(present: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Find the systems that can be compared with each other, and the articles that all of these have.

    A system can be compared if it lacks at most `MOST_MISSING` of the articles that any system has. If these systems
    share no article, none can be compared.

    Args:
        present: whether a system has an article, bool of shape (systems, articles).

    Returns:
        The systems, bool of shape (systems,), and the articles, bool of shape (articles,).
    """
    total = present.any(axis=0).sum()
    systems = present.any(axis=1) & (present.sum(axis=1) >= (1 - MOST_MISSING) * total)
    articles = present[systems].all(axis=0) & systems.any()
    return systems & articles.any(), articles


def _curves(grid: Grid) -> list[Curve]:
    present = grid.present
    on_curve: dict[int, list[CurvePoint]] = {}
    for k, n in enumerate(grid.lengths):
        comparable, common = comparable_articles(present[:, k])
        total = int(present[:, k].any(axis=0).sum())
        for s in np.flatnonzero(present[:, k].any(axis=1)):
            chosen = common if comparable[s] else present[s, k]
            values, words = grid.values[s, k][chosen], float(grid.words[s, k][chosen].mean())
            (mean,) = mean_intervals(values[:, None])
            point = CurvePoint(mean.mean, mean.low, mean.high, n, len(values), total, bool(comparable[s]), words)
            on_curve.setdefault(int(s), []).append(point)
    return [
        Curve(grid.dataset, system, kind, tuple(on_curve[s]))
        for s, (system, kind) in enumerate(zip(grid.systems, grid.kinds, strict=True))
        if s in on_curve
    ]


def uncut_scores(points: Points, metric: Metric = "bertscore_f1") -> tuple[Uncut, ...]:
    """Compute the mean score of every system that has scores of uncut summaries (n = 0)."""
    return uncut_by_metric(points, (metric,))[metric]


def _uncut(grid: Grid) -> list[Uncut]:
    counts = grid.present[:, 0].sum(axis=1)
    scored = np.flatnonzero(counts)
    scores = mean_intervals(grid.values[scored, 0].T)
    words = (grid.words * grid.present)[:, 0].sum(axis=1)
    return [
        Uncut(grid.dataset, grid.systems[s], grid.kinds[s], int(counts[s]), float(words[s] / counts[s]), score)
        for s, score in zip(scored, scores, strict=True)
    ]
