"""What systems keep of each kind of word, and whether one kind survives better than another.

The share that a system keeps of a kind is the ratio of two sums over articles (`nws.core.metrics.kept`). An article
with the terms a and b moves this share by ψ = (a - share · b) / mean b, to first order (Hampel 1974, The Influence
Curve and its Role in Robust Estimation). So the interval of a share is that of the mean of share + ψ.

Among few articles there may be none that keeps all of a kind, or none that keeps nothing of it: of 20 references with a
number, only one summary may have the number. So each end of an interval is computed by Student's t with one article
added. For the lower end the added article keeps nothing, and for the upper end it keeps all (Agresti and Coull 1998,
Approximate Is Better than "Exact" for Interval Estimation of Binomial Proportions, add observations likewise). Whether
one kind survives better than another is tested with one added article that keeps nothing of the first kind, and all of
the second. How often these are right: docs/answer.md.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from nws.core.analysis.intervals import Floats, mean_intervals
from nws.core.findings.comparisons import FEWEST_ARTICLES
from nws.core.findings.content import KeptByKind, KindContrast, KindShare
from nws.core.findings.scores import Interval
from nws.core.text.word_kinds import KINDS, NAMED, WordKind


@dataclass(frozen=True, slots=True, eq=False)
class KindTerms:
    """The terms of one system's summaries at one n on a dataset.

    Attributes:
        articles: the code of the article of each row, (rows,). Of several rows of one article, the first counts.
        terms: the `KIND_TERMS`, (rows, 2 · kinds); NaN for a kind that the article lacks.
    """

    dataset: str
    system: str
    n: int
    articles: NDArray[np.int64]
    terms: NDArray[np.float16]


def kept_by_kind(cells: Iterable[KindTerms]) -> tuple[KeptByKind, ...]:
    """Compute what each system keeps of each kind at each n, over the articles that it has at all n.

    Uncut summaries (n = 0) are separate: they need not be of the same articles.

    Args:
        cells: the terms of one run, ordered by dataset and system.
    """
    found = list[KeptByKind]()
    for _, of_system in groupby(cells, key=lambda cell: (cell.dataset, cell.system, cell.n > 0)):
        at_each_n = list(of_system)
        common = reduce(np.intersect1d, (cell.articles for cell in at_each_n))
        if len(common):
            longest = max(cell.n for cell in at_each_n)
            found += [_at_n(cell, common, is_compared=cell.n == longest) for cell in at_each_n]
    return tuple(found)


def _at_n(cell: KindTerms, common: NDArray[np.int64], is_compared: bool) -> KeptByKind:
    codes, first = np.unique(cell.articles, return_index=True)
    shares = shares_of(cell.terms[first[np.isin(codes, common)]])
    contrast = contrast_of(shares) if is_compared else None
    kinds = tuple(KindShare(kind, share.interval, share.articles) for kind, share in shares.items())
    return KeptByKind(cell.dataset, cell.system, cell.n, kinds, contrast)


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """The share that is kept of a kind, and how each article moves it.

    Attributes:
        interval: the share with its interval.
        articles: the number of articles that have the kind.
        influence: how each article moves the share, (articles,); NaN for an article that lacks the kind.
    """

    interval: Interval
    articles: int
    influence: Floats


def shares_of(terms: NDArray[np.floating[Any]]) -> dict[WordKind, Kept]:
    """Compute what summaries keep of each kind that any of their articles has.

    Args:
        terms: the `KIND_TERMS`, (articles, 2 · kinds).
    """
    kept, whole = np.hsplit(terms.astype(np.float64), 2)
    return {kind: share for i, kind in enumerate(KINDS) if (share := _share(kept[:, i], whole[:, i])) is not None}


def differences_of(a: Mapping[WordKind, Kept], b: Mapping[WordKind, Kept]) -> dict[WordKind, Interval]:
    """Return what a keeps of each kind minus what b keeps, with intervals. Both have the same articles in order."""
    found = {}
    for kind in a.keys() & b.keys():
        difference = a[kind].interval.mean - b[kind].interval.mean
        found[kind] = _interval(difference, a[kind].influence - b[kind].influence, least=-1)
    return {kind: found[kind] for kind in KINDS if kind in found}


def _share(kept: Floats, whole: Floats) -> Kept | None:
    has = ~np.isnan(whole)
    if not has.any() or whole[has].sum() <= 0:
        return None
    share = kept[has].sum() / whole[has].sum()
    influence = (kept - share * whole) / whole[has].mean()
    return Kept(_interval(float(share), influence, least=0), int(has.sum()), influence)


def _interval(share: float, influence: Floats, least: float) -> Interval:
    """Return a share, or a difference of two shares, with its interval; without one where there are few articles.

    The value of an added article is `least` at the lower end, and 1 at the upper end.
    """
    values = share + influence[~np.isnan(influence)]
    if len(values) < FEWEST_ARTICLES:
        return Interval(share, None, None)
    with_least, with_all = mean_intervals(np.column_stack([np.append(values, least), np.append(values, 1)]))
    return Interval(share, with_least.low, None if with_all.high is None else min(1.0, with_all.high))


def contrast_of(shares: Mapping[WordKind, Kept]) -> KindContrast | None:
    """Find the kinds of which most and least is kept, and the p of their difference.

    p is corrected for all pairs of kinds (Bonferroni), since the two were chosen among them.
    """
    tested = {kind: shares[kind] for kind in NAMED if kind in shares and shares[kind].articles >= FEWEST_ARTICLES}
    if len(tested) < 2:
        return None
    most, least = (pick(tested, key=lambda kind: tested[kind].interval.mean) for pick in (max, min))
    difference = tested[most].interval.mean - tested[least].interval.mean
    values = np.append(difference + _influence(tested[most]) - _influence(tested[least]), -1)
    t = math.sqrt(len(values)) * values.mean() / values.std(ddof=1)
    p = float(stdtr(len(values) - 1, -t))
    return KindContrast(most, least, min(1.0, p * len(tested) * (len(tested) - 1) / 2))


def _influence(kept: Kept) -> Floats:
    """Return how each article moves a share. An article that lacks the kind does not move it."""
    return np.nan_to_num(kept.influence) * (len(kept.influence) / kept.articles)
