"""Is length the limit, or are the systems? What more words still add, for systems and for the reference's first words.

Content kept rises with n, but ever more slowly. It may hardly rise any more, although a person would still say more
with each word. Then longer summaries by the same systems will not keep much more, but other systems may.

The second half of a reference is looked at. It ends at the longest n that is at most the median length of the
references, and starts at the n nearest to half of that end. Let g_i and r_i be what the system and the reference's
first words gain between the two on article i. Both of these are tested:

    the mean of x r_i - g_i is above 0, with x = `AT_MOST`:   the system gains less than that part
    the mean of r_i is above `AT_LEAST`:                      the reference had more to say

The larger p counts, so a verdict is wrong no more often than a single test is (Berger 1982, Multiparameter Hypothesis
Testing and Acceptance Sampling, Technometrics 24, 295-300). How often that is: docs/answer.md.
"""

import math
from collections.abc import Iterator
from itertools import chain

import numpy as np

from nws.core.analysis.grids import Grid, build_grids
from nws.core.analysis.intervals import Floats, above_zero_p, mean_interval, moments
from nws.core.analysis.points import Points
from nws.core.findings.comparisons import FEWEST_ARTICLES
from nws.core.findings.content import CONTENT_KEPT, LateGain
from nws.core.systems.rulers import REFERENCE_WORDS

AT_MOST = 1 / 3
"""The share of what the reference's first words gain. Systems that gain less have stopped gaining."""
AT_LEAST = 0.05
"""The share of the reference that its first words must gain. Where they gain less, the reference is near its end."""
_WRITES_N = 0.95


def late_gains(points: Points) -> tuple[LateGain, ...]:
    """Compute the late gain of each system that one can choose and that writes n words.

    Only runs with the system `REFERENCE_WORDS` have late gains.

    Raises:
        StoreError: the points are not those of one run (see `build_grids`).
    """
    grids = build_grids(points, CONTENT_KEPT, points.n > 0)
    longest, is_words = points.reference_lengths, points.length_unit == "words"
    by_dataset = map(lambda grid: _of_dataset(grid, longest.get(grid.dataset, math.inf), is_words), grids)
    return tuple(chain.from_iterable(by_dataset))


def _of_dataset(grid: Grid, longest: float, is_words: bool) -> Iterator[LateGain]:
    end = max((n for n in grid.lengths if n <= longest), default=grid.lengths[0])
    start = min(grid.lengths, key=lambda n: (abs(n - end / 2), n))
    if start == end or REFERENCE_WORDS not in grid.systems:
        return
    ends = [grid.lengths.index(start), grid.lengths.index(end)]
    ruler = grid.systems.index(REFERENCE_WORDS)
    for s, (system, kind) in enumerate(zip(grid.systems, grid.kinds, strict=True)):
        both = grid.present[[s, ruler]][:, ends].all(axis=(0, 1))
        # A system that does not write more words would gain nothing for this reason alone.
        writes_n = not is_words or grid.words[s, ends[1]][both].sum() >= _WRITES_N * end * both.sum()
        if kind == "system" and writes_n and both.sum() >= FEWEST_ARTICLES:
            gain, of_reference = (grid.values[i, ends[1], both] - grid.values[i, ends[0], both] for i in (s, ruler))
            p = float(p_stopped(gain[:, None], of_reference[:, None])[0])
            intervals = mean_interval(gain), mean_interval(of_reference)
            yield LateGain(grid.dataset, system, start, end, *intervals, p)


def p_stopped(gain: Floats, of_reference: Floats) -> Floats:
    """Return the larger p of both tests for each column of what articles gain, (articles, columns)."""
    tested = (AT_MOST * of_reference - gain, of_reference - AT_LEAST)
    return np.maximum(*(above_zero_p(len(gain), moments(of)) for of in tested))
