"""Which systems write the same text: then they are nearly one, and comparing them says little."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.analysis.grids import build_grids
from core.analysis.points import NO_TEXT, Point, Points, without_short


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
    """For every two systems that share an article and n, but for controls and upper bounds; the largest share first."""
    points = without_short(points)
    chosen = points.is_of("system") & (points.n > 0) & (points.text != NO_TEXT)
    found = []
    for grid in build_grids(points.take(chosen), "bertscore_f1"):
        for a, b in combinations(range(len(grid.systems)), 2):
            both = grid.present[a] & grid.present[b]
            if both.any():
                equal = int(np.sum(grid.texts[a][both] == grid.texts[b][both]))
                found.append(SameText(grid.dataset, grid.systems[a], grid.systems[b], int(both.sum()), equal))
    return tuple(sorted(found, key=lambda pair: (pair.dataset, -pair.share, pair.a, pair.b)))
