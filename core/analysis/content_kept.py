"""How much of the reference's content do n words keep, and how few words keep a given share?

*Content kept* of one summary of article i is where its recall R_i against the article's first reference lies between a
floor and 1 (`nws.core.metrics.kept`). The floor F_i is its mean recall against references of other articles:

    κ_i = (R_i - F_i) / (1 - F_i)

0 is what a text about something else gets, 1 is the whole reference. Scaling by floor and ceiling is Cohen's (1960, A
Coefficient of Agreement for Nominal Scales), with others' references in place of chance. The share that a system keeps
at n words is the mean of κ_i over articles. It is no measure of truth: with "not" put in, a summary keeps 99 % of it.

The mean of κ_i is above (R̄ - F̄) / (1 - F̄), of mean recall and mean floor, by the covariance of κ and F over 1 - F̄,
which is small (docs/answer.md), and to first order each article moves both alike (Hampel 1974, The Influence Curve and
its Role in Robust Estimation). So the floor's error counts here without further ado: it is in each κ_i.

A share of another ceiling, which has κ_i too, is the ratio of both means. An article moves it by

    ψ_i = (κ_i - share · ceiling_i) / mean ceiling

The smallest n that keeps a share is the n from which on every longer n keeps it. Lengths are tested one after the
other, each by itself, and the first test that shows nothing ends it.
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
"""How often a study with so many articles as are advised is sure."""
MOST_ARTICLES = 10_000_000
"""With more, nothing is advised."""
_DRAWS, _SEED = 2_000, 20_261_123
_TINY = 1e-100
_SIZES = (*range(FEWEST_ARTICLES, 100), *(size * 10**k for k in range(1, 6) for size in range(10, 100)), MOST_ARTICLES)


def content_kept(points: Points) -> tuple[ContentKept, ...]:
    """The shares that systems keep, by dataset, system and ceiling. Uncut summaries (n = 0) count for `PERSON` alone.

    A summary without the metric `CONTENT_KEPT` (NaN) counts as if it were not there. A ceiling that keeps nothing is
    left out.

    Args:
        points: those of one run.

    Raises:
        StoreError: the points are not those of one run (see `build_grids`).
    """
    persons = dict(_persons(points))
    grids = build_grids(points, CONTENT_KEPT, points.n > 0)
    by_dataset = map(lambda grid: _of_dataset(grid, persons.get(grid.dataset, {})), grids)
    return tuple(replace(kept, length_unit=points.length_unit) for kept in chain.from_iterable(by_dataset))


@dataclass(frozen=True, slots=True, eq=False)
class KeptByArticle:
    """Content kept by one system at some n, and its ceiling, by article.

    Attributes:
        values: κ, float64 of shape (articles, lengths).
        ceiling: float64 of shape (articles,); 1 for the reference. Its mean is above 0.
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
        """The means of all columns and the ceiling, added in one order, so that equal columns have equal means."""
        return np.asarray(np.column_stack([self.values, self.ceiling]).mean(axis=0))

    def above(self, x: float) -> Floats:
        """Content kept of each article beyond `x` of its ceiling, float64 of shape (articles, lengths)."""
        return np.asarray(self.values - x * self.ceiling[:, None])


def _persons(points: Points) -> Iterator[tuple[str, dict[str, float]]]:
    """For each dataset, what a person's whole summary of each article keeps."""
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
    """One system, (articles, lengths), held against each ceiling, over the articles that have it."""
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
    """The smallest of the lengths `tried` that keeps the share `x`.

    Args:
        tried: in rising order.
        shares: the mean share at each length, (lengths,).
        above: (articles, lengths), what each article keeps beyond `x` (`KeptByArticle.above`).
        x: the share.
        alpha: the level of the tests, less where several claims are made together.
    """
    steps = [*tried, None]  # the last: longer than any that was tried
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
    """For each row of (rows, lengths), the index of the first length from which on all keep x; lengths if none does."""
    below = shares < x
    last_below = shares.shape[1] - np.argmax(below[:, ::-1], axis=1)
    return np.where(below.any(axis=1), last_below, 0)


def interval_of_n(above: Floats, alpha: float = ONE_SIDED_LEVEL) -> tuple[int, int]:
    """The indices between which the smallest length lies that keeps the share, as do all longer ones (95 %).

    Its upper end is shown from the longest length down. Its lower end is the mirror image: from the shortest up, the
    first that is not shown to keep less. Either is wrong only if a single test is: that of the length before the true
    answer, or that of the answer.

    Args:
        above: (articles, lengths), what each article keeps beyond the share (`KeptByArticle.above`).
        alpha: the level of each test.
    """
    articles, lengths = above.shape
    if articles < 2:
        return 0, lengths
    columns = moments(above)
    return lengths - _shown_from(articles, columns.mirrored(), alpha), _shown_from(articles, columns, alpha)


def articles_for_one_step(above: Floats) -> int | None:
    """The number of articles with which the 95 % interval of the smallest n is at most one step of the grid wide.

    Studies are drawn: their t have those of the run as means, scaled to as many articles, and are normal, correlated as
    the articles say. It is rounded up to two digits, beyond which draws differ.

    It takes for granted that other articles are like those of the run. They are likely to vary more, above all where
    they come from elsewhere. How well it holds of real articles: docs/answer.md.

    Args:
        above: (articles, lengths), what each article keeps beyond the share (`KeptByArticle.above`).

    Returns:
        None if no length keeps the share, there is one article alone, or it takes more than `MOST_ARTICLES`.
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


def _shown_from(articles: int, columns: Moments, alpha: float) -> int:
    """The index of the first column whose mean is shown to be above 0, as are those of all later columns.

    They are tested one-sidedly from the last one on, and the first that is not shown ends it. A wrong answer needs a
    wrong rejection at the last column whose mean is not above 0, which is a single test: so no correction for the
    number of columns is needed (Tamhane, Hochberg and Dunnett 1996, Biometrics 52, 21-37).

    Returns:
        The number of columns if nothing is shown.
    """
    return int(first_kept(-above_zero_p(articles, columns)[None], -alpha)[0])
