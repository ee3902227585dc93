"""The summaries of several runs, to be read beside each other."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.analysis import Points
from jobs.report.page.archive import Source

_SAME = 1e-6
"""Scores no further apart are equal."""


def combine(runs: Sequence[tuple[str, Points]]) -> tuple[Points, tuple[Source, ...]]:
    """The points of all runs, and the names that each run's systems have among them.

    A system counts as one if it wrote the same text with the same scores wherever two runs share an article and n.
    Otherwise it keeps its name for the first run, and is called `NAME @RUN` for any other.
    """
    if len(runs) == 1:
        ((run_id, points),) = runs
        return points, (Source(run_id, {system: system for system in points.systems}),)
    parts: list[Points] = []
    sources: list[Source] = []
    for run_id, points in runs:
        earlier = _rows(parts)
        names = {system: _name(system, run_id, points, s, earlier) for s, system in enumerate(points.systems)}
        is_new = np.array([(names[points.systems[s]], *place) not in earlier for s, place in _places(points)])
        renamed = replace(points, systems=tuple(names[system] for system in points.systems))
        parts.append(renamed.take(is_new))
        sources.append(Source(run_id, names))
    return Points.together(parts), tuple(sources)


_Place = tuple[str, str, int]
_Text = tuple[int, float]


def _rows(parts: Sequence[Points]) -> dict[tuple[str, str, str, int], _Text]:
    """By system, dataset, article and n: the key of the text, and its F1."""
    return {
        (part.systems[s], *place): text
        for part in parts
        for (s, place), text in zip(_places(part), _texts(part), strict=True)
    }


def _places(points: Points) -> list[tuple[int, _Place]]:
    articles, lengths = points.article.tolist(), points.n.tolist()
    return [
        (s, (*points.articles[article], n))
        for s, article, n in zip(points.system.tolist(), articles, lengths, strict=True)
    ]


def _texts(points: Points) -> list[_Text]:
    return list(zip(points.text.tolist(), points.scores["bertscore_f1"].tolist(), strict=True))


def _name(system: str, run_id: str, points: Points, s: int, earlier: dict[tuple[str, str, str, int], _Text]) -> str:
    own: NDArray[np.bool_] = points.system == s
    chosen = points.take(own)
    for (_, place), (text, f1) in zip(_places(chosen), _texts(chosen), strict=True):
        before = earlier.get((system, *place))
        if before is not None and (before[0] != text or abs(before[1] - f1) > _SAME):
            return f"{system} @{run_id}"
    return system
