"""How many words one system needs to keep as much as another system keeps with m words.

It is the smallest n that keeps a share (`nws.core.analysis.content_kept`), where the ceiling is what the other system
keeps with m words, and the share is the whole of it.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from nws.core.analysis.content_kept import KeptByArticle, smallest_n
from nws.core.analysis.grids import Grid, build_grids
from nws.core.analysis.points import Points
from nws.core.findings.content import CONTENT_KEPT, WordsSaved
from nws.core.findings.scores import ONE_SIDED_LEVEL
from nws.core.types import LEAD


def saved_over_lead(points: Points, ranked: Mapping[str, Sequence[str]]) -> tuple[WordsSaved, ...]:
    """Find, for each dataset, how many words its best system needs to keep as much as `lead` does at the longest n.

    Args:
        points: the points of one run, with content kept.
        ranked: the systems of each dataset, the best first.
    """
    found = list[WordsSaved]()
    for grid in _grids(points):
        best = next(iter(ranked.get(grid.dataset, ())), LEAD)
        saved = words_saved(grid, best, LEAD) if best != LEAD else ()
        found += [at for at in saved if at.m == grid.lengths[-1]]
    return tuple(found)


def saved_at_each_length(points: Points, a: str, b: str) -> tuple[WordsSaved, ...]:
    """Find, for each dataset and length of b, how many words a needs to keep as much.

    The claims hold for all lengths of a dataset together.
    """
    return tuple(at for grid in _grids(points) for at in words_saved(grid, a, b, are_together=True))


def _grids(points: Points) -> Sequence[Grid]:
    return [*build_grids(points, CONTENT_KEPT, points.n > 0)] if points.length_unit == "words" else []


def words_saved(grid: Grid, a: str, b: str, are_together: bool = False) -> tuple[WordsSaved, ...]:
    """Find, for each length of b, how many words a needs to keep as much.

    Only articles count that both systems have at every length. The result is empty where a system is missing, or does
    not always write n words.

    Args:
        grid: the content kept on a dataset.
        a: the system that needs the words.
        b: the system whose share a has to reach.
        are_together: whether the claims hold together for all lengths of b (Bonferroni), or each by itself.
    """
    if not {a, b} <= {*grid.systems}:
        return ()
    sides = [grid.systems.index(system) for system in (a, b)]
    lengths = np.array(grid.lengths)
    present = grid.present[sides]
    tried = [np.flatnonzero(of_side.any(axis=1)) for of_side in present]
    complete = np.logical_and(*(of_side[at].all(axis=0) for of_side, at in zip(present, tried, strict=True)))
    if not complete.any() or (present & (grid.words[sides] != lengths[:, None])).any():
        return ()
    of_a, of_b = (grid.values[side, at][:, complete].T for side, at in zip(sides, tried, strict=True))
    found = []
    for m, ceiling in zip(lengths[tried[1]].tolist(), of_b.T, strict=True):
        kept = KeptByArticle(of_a, ceiling)
        if ceiling.mean() > 0:
            alpha = ONE_SIDED_LEVEL / (of_b.shape[1] if are_together else 1)
            smallest = smallest_n(lengths[tried[0]].tolist(), kept.shares, kept.above(1), 1, alpha)
            found.append(WordsSaved(grid.dataset, a, b, m, int(complete.sum()), smallest))
    return tuple(found)
