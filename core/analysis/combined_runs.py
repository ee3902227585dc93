"""Several runs together: one set of points, in which a system that differs between two runs has two names."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from nws.core.analysis.points import Points

SAME = 1e-6
"""Scores of equal texts that differ by at most this much count as equal: they may be of other batches."""


def combine(runs: Sequence[tuple[str, Points]]) -> tuple[Points, dict[str, dict[str, str]]]:
    """The points of all runs, and by run the names that its systems have among them.

    A system counts as one if it wrote the same text with the same scores wherever two runs share an article and n.
    Otherwise it keeps its name for the first run, and is called `NAME @RUN` for any other.
    """
    if len(runs) == 1:
        ((run_id, points),) = runs
        return points, {run_id: {system: system for system in points.systems}}
    texts: dict[tuple[str, str, str, int], tuple[int, float]] = {}
    parts: list[Points] = []
    sources: dict[str, dict[str, str]] = {}
    for run_id, points in runs:
        rows = list(_rows(points))
        differing = {system for system, place, text in rows if not _is_same(text, texts.get((system, *place), text))}
        names = {system: f"{system} @{run_id}" if system in differing else system for system in points.systems}
        is_new = np.array([(names[system], *place) not in texts for system, place, _ in rows])
        for system, place, text in rows:
            texts.setdefault((names[system], *place), text)
        parts.append(replace(points, systems=tuple(names.values())).take(is_new))
        sources[run_id] = names
    return Points.together(parts), sources


def _rows(points: Points) -> Iterator[tuple[str, tuple[str, str, int], tuple[int, float]]]:
    """For each summary: its system; its dataset, article and n; and the key of its text with its F1."""
    columns = (points.system, points.article, points.n, points.text, points.scores["bertscore_f1"])
    for system, article, n, text, f1 in zip(*(column.tolist() for column in columns), strict=True):
        yield points.systems[system], (*points.articles[article], n), (text, f1)


def _is_same(text: tuple[int, float], other: tuple[int, float]) -> bool:
    return text[0] == other[0] and abs(text[1] - other[1]) <= SAME
