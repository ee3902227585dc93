"""Length-matched comparisons: each summary of a system with another system's summary of about as many words.

A system that was not told a length (n = 0) has no n at which it could be compared, and a system that writes at most n
words often writes fewer. But each of its summaries has some number of words, and a sweep of n has summaries of nearly
that number by other systems.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nws.core.analysis.grids import Grid, build_grids
from nws.core.analysis.paired import PairedScores, holm_corrected, paired_lengths
from nws.core.analysis.points import Points, kinds_of
from nws.core.findings.comparisons import Comparison
from nws.core.metrics.specs import Metric
from nws.core.types import AT_MOST, LEAD, RANDOM

LENGTH_TOLERANCE = 0.1
"""Summaries are compared if their lengths differ by at most this share of the first system's words."""


def length_matched_pairs(points: Points) -> list[tuple[str, str]]:
    """Pair each system that chose its lengths with every system that was told n, and with `lead` and `random`.

    Where no system was told n, summaries that were cut to n take the place of theirs.
    """
    own = {points.systems[i] for i in np.unique(points.system[_chose_length(points)])}
    swept = {points.systems[i] for i in np.unique(points.system[points.n > 0])}
    kinds = kinds_of(points)
    systems = [name for name, kind in kinds.items() if kind == "system" and name in swept]
    others = [name for name in systems if name not in own] or systems
    others += [name for name in (LEAD, RANDOM) if name in swept]
    return [(a, b) for a in kinds if a in own for b in others if b != a]


def compare_length_matched(
    own: Points, swept: Points, pairs: Sequence[tuple[str, str]], metric: Metric
) -> tuple[Comparison, ...]:
    """Compare the two systems of each pair, length-matched, on each dataset: the first minus the second.

    Each comparison has one length: n = 0, or the n that the first system writes at most. For each article, the second
    system is represented by its summary whose number of words is nearest. If two are equally near, their mean counts.
    An article without a summary within `LENGTH_TOLERANCE` is left out, and counted in `only_a`; `only_b` is 0.
    `p_holm` is corrected over all pairs and n of a dataset. A pair without articles has no comparison.

    Args:
        own: the points of one run, with summaries of n = 0 or of systems that write at most n words.
        swept: the points of another run, or of the same.
        pairs: the names of the systems.
        metric: the metric that is compared.

    Raises:
        StoreError: `own` or `swept` are not the points of one run (see `build_grids`).
    """
    by_dataset = {grid.dataset: grid for grid in build_grids(own, metric, _chose_length(own))}
    comparisons: list[Comparison] = []
    for grid in build_grids(swept, metric, swept.n > 0) if by_dataset else ():
        if grid.dataset in by_dataset:
            cells = [cell for cell in _cells(by_dataset[grid.dataset], grid, pairs) if cell.both.any()]
            tested = holm_corrected(paired_lengths(cells)) if cells else ()
            found = zip(cells, tested, strict=True)
            comparisons += [Comparison(grid.dataset, *cell.pair, (at,), (), {}, True) for cell, at in found]
    return tuple(comparisons)


def _chose_length(points: Points) -> NDArray[np.bool_]:
    """Return whether the length of each summary was the system's own choice, (points,)."""
    at_most = np.array([AT_MOST in system.split("|") for system in points.systems], dtype=np.bool_)
    is_own: NDArray[np.bool_] = (points.n == 0) | at_most[points.system]
    return is_own


def _cells(own: Grid, swept: Grid, pairs: Sequence[tuple[str, str]]) -> Iterator[PairedScores]:
    _, in_own, in_swept = np.intersect1d(own.articles, swept.articles, return_indices=True)
    for a, b in pairs:
        if a not in own.systems or b not in swept.systems:
            continue
        i, j = own.systems.index(a), swept.systems.index(b)
        tried, tried_words = swept.values[j][:, in_swept], swept.words[j][:, in_swept]
        for k, n in enumerate(own.lengths):
            scores, words = own.values[i, k][in_own], own.words[i, k][in_own]
            off = np.where(np.isnan(tried), np.inf, np.abs(tried_words - words))
            is_nearest = (off == off.min(axis=0)) & (off <= LENGTH_TOLERANCE * words + 1e-9)
            counts = np.where(is_nearest.any(axis=0), is_nearest.sum(axis=0), np.nan)
            nearest, its_words = (np.where(is_nearest, of, 0).sum(axis=0) / counts for of in (tried, tried_words))
            both = ~np.isnan(scores - nearest)
            only_a = int((~np.isnan(own.values[i, k])).sum() - both.sum())
            means = (float(of[both].mean()) if both.any() else 0.0 for of in (words, its_words))
            yield PairedScores((a, b), n, scores, nearest, only_a, 0, None, *means)
