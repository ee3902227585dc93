"""Scores of a summary, by column, of every stored metric."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from system_kinds import kind_of

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


def kept_points(
    shares: Mapping[str, Mapping[int, float]], articles: int = 60, spread: float = 0.1, dataset: str = "news"
) -> list[Point]:
    """A sweep whose systems keep exactly these mean shares at these n, each article more or less than that at all n."""
    noise = np.random.default_rng(3).normal(0, spread, articles) if articles > 1 else np.zeros(1)
    noise -= noise.mean()
    return [
        Point(
            *(dataset, f"{article:04d}", system, n, n or 25),
            point_scores(kept=share + float(noise[article]), bertscore_f1=0.3 + share / 2, density=1.0, coverage=1.0),
            kind_of(system),
            f"{system} {n}",
        )
        for system, at in shares.items()
        for n, share in at.items()
        for article in range(articles)
    ]
