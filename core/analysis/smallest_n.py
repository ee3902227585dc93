"""The smallest n from which on every longer n keeps a share of the content, and how sure that is.

Lengths are tested one after the other, each by itself, and the first test that shows nothing ends it.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nws.core.analysis.intervals import Floats, Moments, above_zero_p, least_t, moments
from nws.core.findings.comparisons import FEWEST_ARTICLES
from nws.core.findings.content import SmallestN
from nws.core.findings.scores import ONE_SIDED_ALPHA

POWER = 0.8
"""How often a study with so many articles as are advised is sure."""
MOST_ARTICLES = 10_000_000
"""With more, nothing is advised."""
_DRAWS, _SEED = 2_000, 20_261_123
_TINY = 1e-100
_SIZES = (*range(FEWEST_ARTICLES, 100), *(size * 10**k for k in range(1, 6) for size in range(10, 100)), MOST_ARTICLES)


def smallest_n(
    tried: Sequence[int], shares: Floats, above: Floats, x: float, alpha: float = ONE_SIDED_ALPHA
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
        x=x,
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


def interval_of_n(above: Floats, alpha: float = ONE_SIDED_ALPHA) -> tuple[int, int]:
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
