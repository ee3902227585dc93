"""Which systems write the same text: comparing these says little, as they are nearly one system."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.analysis.grids import build_grids
from core.analysis.points import NO_TEXT, Point, Points


@dataclass(frozen=True, slots=True)
class SameText:
    """How many of the `summaries` that two systems wrote for the same article at the same n have `equal` text."""

    dataset: str
    a: str
    b: str
    summaries: int
    equal: int

    @property
    def share(self) -> float:
        return self.equal / self.summaries


def same_texts(points: Points | Iterable[Point]) -> tuple[SameText, ...]:
    """For every two systems that share an article and n, the largest share first. No controls and no upper bounds."""
    points = Points.of(points)
    chosen = points.is_of_kind("system") & (points.n > 0) & (points.text != NO_TEXT)
    pairs = []
    for grid in build_grids(points, "bertscore_f1", chosen):
        present = grid.present
        for a, b in combinations(range(len(grid.systems)), 2):
            both = present[a] & present[b]
            if both.any():
                equal = int(np.sum(grid.texts[a][both] == grid.texts[b][both]))
                pairs.append(SameText(grid.dataset, grid.systems[a], grid.systems[b], int(both.sum()), equal))
    return tuple(sorted(pairs, key=lambda pair: (pair.dataset, -pair.share, pair.a, pair.b)))
