"""Is length the limit, or are the systems? What more words still add, to systems and to the reference's first words.

Content kept rises with n, and ever more slowly. Where it hardly rises any more although a person would go on saying
more with each word, longer summaries by the same systems will not keep much more: other systems may.

From half of a reference on is looked at: up to the longest n that is not beyond the median length of the references,
from the n nearest to half of that. With g_i and r_i, what the system and the reference's first words gain there of
article i, both of these are tested:

    the mean of x r_i - g_i is above 0, with x = `AT_MOST`:   the system gains less than that part
    the mean of r_i is above `AT_LEAST`:                      the reference had more to say

The larger p counts, so a verdict errs no more often than one test does (Berger 1982, Multiparameter Hypothesis Testing
and Acceptance Sampling, Technometrics 24, 295-300). How often that is: docs/answer.md.
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
"""Of what the reference's first words gain: systems that gain less have stopped gaining."""
AT_LEAST = 0.05
"""Of the reference: where its first words gain no more, it is near its end."""
_WRITES_N = 0.95


def late_gains(points: Points) -> tuple[LateGain, ...]:
    """Of each system that one can choose and that writes n, in runs with the reference's first words.

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
        # What writes no more, gains nothing for that alone.
        writes_n = not is_words or grid.words[s, ends[1]][both].sum() >= _WRITES_N * end * both.sum()
        if kind == "system" and writes_n and both.sum() >= FEWEST_ARTICLES:
            gain, of_reference = (grid.values[i, ends[1], both] - grid.values[i, ends[0], both] for i in (s, ruler))
            p = float(p_stopped(gain[:, None], of_reference[:, None])[0])
            intervals = mean_interval(gain), mean_interval(of_reference)
            yield LateGain(grid.dataset, system, start, end, *intervals, p)


def p_stopped(gain: Floats, of_reference: Floats) -> Floats:
    """For each column of what articles gain, (articles, columns), the larger p of both tests."""
    tested = (AT_MOST * of_reference - gain, of_reference - AT_LEAST)
    return np.maximum(*(above_zero_p(len(gain), moments(of)) for of in tested))
