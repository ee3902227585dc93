"""How much of the reference's content do n words keep, and how few words keep a given share?

*Content kept* of one summary of article i says where its recall R_i against the article's first reference lies between
a floor and 1 (`nws.core.metrics.kept`). The floor F_i is its mean recall against references of other articles:

    κ_i = (R_i - F_i) / (1 - F_i)

A text about something else has about 0, and the whole reference has 1. Scaling by floor and ceiling is Cohen's idea
(1960, A Coefficient of Agreement for Nominal Scales), with others' references in place of chance. The share that a
system keeps at n words is the mean of κ_i over articles. It does not measure truth: with one "not" added, a reference
keeps 99 %.

The mean of κ_i is larger than (R̄ - F̄) / (1 - F̄), where R̄ is the mean recall and F̄ the mean floor. The difference
is the covariance of κ and F over 1 - F̄, which is small (docs/answer.md). To first order, each article moves both alike
(Hampel 1974, The Influence Curve and its Role in Robust Estimation). So the error of the floor needs no extra term: it
is in each κ_i.

A share of another ceiling, which also has a κ_i, is the ratio of the two means. An article moves this share by

    ψ_i = (κ_i - share · ceiling_i) / mean ceiling

The smallest n that keeps a share is the n from which on every longer n keeps it. Lengths are tested one after the
other, each by itself, and the first test that is not significant ends the testing.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from nws.core.analysis.grids import Grid, build_grids
from nws.core.analysis.intervals import Floats, Moments, above_zero_p, least_t, moments, skewed_intervals
from nws.core.analysis.points import Points
from nws.core.findings.comparisons import FEWEST_ARTICLES
from nws.core.findings.content import CONTENT_KEPT, SHARES, Ceiling, ContentKept, Share, SmallestN
from nws.core.findings.scores import ONE_SIDED_LEVEL
from nws.core.systems.rulers import PERSON

POWER = 0.8
"""The power of a study with the advised number of articles."""
MOST_ARTICLES = 10_000_000
"""The largest number of articles that is advised."""
_DRAWS, _SEED = 2_000, 20_261_123
_TINY = 1e-100
_SIZES = (*range(FEWEST_ARTICLES, 100), *(size * 10**k for k in range(1, 6) for size in range(10, 100)), MOST_ARTICLES)


def content_kept(points: Points) -> tuple[ContentKept, ...]:
    """Compute the shares that systems keep, by dataset, system and ceiling.

    Uncut summaries (n = 0) count only for `PERSON`. A summary without `CONTENT_KEPT` (NaN) counts as if it were not
    there. A ceiling that keeps nothing is left out.

    Args:
        points: the points of one run.

    Raises:
        StoreError: the points are not those of one run (see `build_grids`).
    """
    persons = dict(_persons(points))
    grids = build_grids(points, CONTENT_KEPT, points.n > 0)
    by_dataset = map(lambda grid: _of_dataset(grid, persons.get(grid.dataset, {})), grids)
    return tuple(replace(kept, length_unit=points.length_unit) for kept in chain.from_iterable(by_dataset))


@dataclass(frozen=True, slots=True, eq=False)
class KeptByArticle:
    """The content that one system keeps at some n, and its ceiling, by article.

    Attributes:
        values: κ, float64 of shape (articles, lengths).
        ceiling: what is the whole for each article, float64 of shape (articles,); 1 for the reference. Its mean is
            above 0.
    """

    values: Floats
    ceiling: Floats

    @property
    def shares(self) -> Floats:
        """Mean κ over the mean ceiling, float64 of shape (lengths,)."""
        means = self._means
        return np.asarray(means[:-1] / means[-1])

    @property
    def influence(self) -> Floats:
        """ψ, how each article moves the shares, float64 of shape (articles, lengths), with mean 0."""
        return np.asarray((self.values - np.outer(self.ceiling, self.shares)) / self._means[-1])

    @property
    def _means(self) -> Floats:
        """The means of all columns and the ceiling, summed in one order, so that equal columns have equal means."""
        return np.asarray(np.column_stack([self.values, self.ceiling]).mean(axis=0))

    def above(self, x: float) -> Floats:
        """Return what each article keeps beyond `x` of its ceiling, float64 of shape (articles, lengths)."""
        return np.asarray(self.values - x * self.ceiling[:, None])


def _persons(points: Points) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield each dataset with what a person's whole summary of each article keeps."""
    is_person = np.array([system == PERSON for system in points.systems], dtype=np.bool_)
    for grid in build_grids(points, CONTENT_KEPT, (points.n == 0) & is_person[points.system]):
        (person,) = np.flatnonzero([system == PERSON for system in grid.systems])
        values = dict(zip(grid.articles, grid.values[person, 0].tolist(), strict=True))
        yield grid.dataset, {article: value for article, value in values.items() if not math.isnan(value)}


def _of_dataset(grid: Grid, persons: Mapping[str, float]) -> Iterator[ContentKept]:
    for s, (system, present) in enumerate(zip(grid.systems, grid.present, strict=True)):
        lengths = np.flatnonzero(present.any(axis=1))
        complete = present[lengths].all(axis=0)
        dropped = int((present.any(axis=0) & ~complete).sum())
        if not complete.any():
            continue
        tried = [grid.lengths[i] for i in lengths]
        values = grid.values[s, lengths][:, complete].T
        words = grid.words[s, lengths][:, complete].mean(axis=1).tolist()
        articles = [grid.articles[i] for i in np.flatnonzero(complete)]
        for ceiling, kept in _by_ceiling(values, articles, {} if system == PERSON else persons).items():
            yield ContentKept(
                dataset=grid.dataset,
                system=system,
                kind=grid.kinds[s],
                ceiling=ceiling,
                longest=tried[-1],
                articles=len(kept.values),
                dropped=dropped,
                lengths=_lengths(kept, tried, words),
                smallest=tuple(smallest_n(tried, kept.shares, kept.above(x), x) for x in SHARES[ceiling]),
            )


def _by_ceiling(values: Floats, articles: Sequence[str], persons: Mapping[str, float]) -> dict[Ceiling, KeptByArticle]:
    """Combine the values of one system, (articles, lengths), with each ceiling, over the articles that have it."""
    held: dict[Ceiling, KeptByArticle] = {"reference": KeptByArticle(values, np.ones(len(values)))}
    if both := [i for i, article in enumerate(articles) if article in persons]:
        held["person"] = KeptByArticle(values[both], np.array([persons[articles[i]] for i in both]))
    held["longest"] = KeptByArticle(values, values[:, -1])
    return {ceiling: kept for ceiling, kept in held.items() if kept.ceiling.mean() > 0}


def _lengths(kept: KeptByArticle, tried: Sequence[int], words: Sequence[float]) -> tuple[Share, ...]:
    columns = zip(tried, skewed_intervals(kept.shares + kept.influence), words, strict=True)
    return tuple(Share(n, len(kept.values), interval, written) for n, interval, written in columns)


def smallest_n(
    tried: Sequence[int], shares: Floats, above: Floats, x: float, alpha: float = ONE_SIDED_LEVEL
) -> SmallestN:
    """Find the smallest of the lengths `tried` that keeps the share `x`, as do all longer ones.

    Args:
        tried: the lengths, in rising order.
        shares: the mean share at each length, (lengths,).
        above: what each article keeps beyond `x`, (articles, lengths) (`KeptByArticle.above`).
        x: the share.
        alpha: the level of the tests; lower where several claims are made together.
    """
    steps = [*tried, None]  # the last one stands for a length beyond all that were tried
    reached = int(first_kept(shares[None], x)[0])
    low, high = interval_of_n(above, alpha)
    return SmallestN(
        share=x,
        n=steps[reached],
        low=steps[low],
        high=steps[high],
        claimed=steps[high] if len(above) >= FEWEST_ARTICLES else None,
        articles_for_one_step=articles_for_one_step(above),
    )


def first_kept(shares: Floats, x: float) -> NDArray[np.intp]:
    """Find for each row of shares, (rows, lengths), the first length from which on all keep x.

    Returns:
        The index of this length for each row; the number of lengths where there is none.
    """
    below = shares < x
    last_below = shares.shape[1] - np.argmax(below[:, ::-1], axis=1)
    return np.where(below.any(axis=1), last_below, 0)


def interval_of_n(above: Floats, alpha: float = ONE_SIDED_LEVEL) -> tuple[int, int]:
    """Return the ends of the 95 % interval of the smallest length that keeps the share, as indices.

    For the upper end, lengths are tested from the longest one down, as long as they keep significantly more than the
    share. The last such length is the end. For the lower end, they are tested from the shortest one up. The first
    length that does not keep significantly less is the end. Each end is wrong only if a single test is wrong: that of
    the length before the true answer, or that of the true answer.

    Args:
        above: what each article keeps beyond the share, (articles, lengths) (`KeptByArticle.above`).
        alpha: the level of each test.
    """
    articles, lengths = above.shape
    if articles < 2:
        return 0, lengths
    columns = moments(above)
    return lengths - _first_above(articles, columns.mirrored(), alpha), _first_above(articles, columns, alpha)


def articles_for_one_step(above: Floats) -> int | None:
    """Estimate the number of articles with which the 95 % interval of the smallest n is at most one step wide.

    Studies are simulated. Their t values are normal, with the t values of the run, scaled to the number of articles, as
    means, and with the correlation of the run's articles. The number is rounded up to two digits, since further digits
    depend on the draws.

    The estimate assumes that other articles are like those of the run. They probably vary more, especially if they come
    from elsewhere. How well the estimate fits real articles: docs/answer.md.

    Args:
        above: what each article keeps beyond the share, (articles, lengths) (`KeptByArticle.above`).

    Returns:
        The number; None if no length keeps the share, if there is only one article, or if more than `MOST_ARTICLES`
        would be needed.
    """
    articles, lengths = above.shape
    if articles < 2 or above[:, -1].mean() < 0:
        return None
    means, spreads, skewness = moments(above)
    scaled = (above - means) / np.where(spreads > 0, spreads, np.inf)
    effects = means / np.maximum(spreads, _TINY)
    correlation = scaled.T @ scaled / (articles - 1) + 1e-9 * np.eye(lengths)
    noise = np.random.default_rng(_SEED).standard_normal((_DRAWS, lengths)) @ np.linalg.cholesky(correlation).T

    def is_sure(size: int) -> bool:
        t = math.sqrt(size) * effects + noise
        high = first_kept(t - least_t(skewness, size), 0)
        shown_below = -t[:, ::-1] - least_t(-skewness, size)[::-1]
        low = lengths - first_kept(shown_below, 0)
        return float(((high - low <= 1) & (high < lengths)).mean()) >= POWER

    place = bisect_left(_SIZES, True, key=is_sure)
    return _SIZES[place] if place < len(_SIZES) else None


def _first_above(articles: int, columns: Moments, alpha: float) -> int:
    """Find the first column whose mean is significantly above 0, as are the means of all later columns.

    Columns are tested one-sidedly from the last one to the first, and the first test that is not significant ends the
    testing. A wrong answer needs a wrong rejection at the last column whose mean is not above 0, which is a single
    test. So no correction for the number of columns is needed (Tamhane, Hochberg and Dunnett 1996, Biometrics 52,
    21-37).

    Returns:
        The index of the column; the number of columns if no mean is significantly above 0.
    """
    return int(first_kept(-above_zero_p(articles, columns)[None], -alpha)[0])
