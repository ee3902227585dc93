"""Scores of a summary, by column, of every stored metric."""

from dataclasses import replace

from core.analysis import Point
from core.metrics.specs import METRICS, SPECS, as_columns
from core.types import Score


def make_scores(*parts: Score, **others: float) -> dict[str, float]:
    """Of the metrics with parts `parts` in their order, the last for all that follow; of others 1 unless given."""
    rest = list(parts)
    in_parts = {spec.name: rest.pop(0) if len(rest) > 1 else rest[0] for spec in SPECS if spec.has_parts}
    return as_columns({**{spec.name: 1.0 for spec in SPECS}, **in_parts, **others})


def point_scores(**given: float) -> dict[str, float]:
    """Those of a point: 0 if not given."""
    return dict.fromkeys(METRICS, 0.0) | given


def rescored(point: Point, **scores: float) -> Point:
    """The point with other scores by some metrics."""
    return replace(point, scores={**point.scores, **scores})
