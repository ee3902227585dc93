"""How many articles a study needs to be sure, if they vary as those of a run that there is.

It takes for granted that other articles are like those of the run. They are likely to vary more, above all where they
come from elsewhere. How well it holds of real articles: docs/answer.md.
"""

import math
from bisect import bisect_left
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.analysis.intervals import FEWEST_ARTICLES, first_kept, least_t, moments

Floats: TypeAlias = NDArray[np.float64]

POWER = 0.8
"""How often a study with so many articles as are advised is sure."""
MOST_ARTICLES = 10_000_000
"""With more, nothing is advised."""
_DRAWS, _SEED = 2_000, 20_261_123
_TINY = 1e-100
_SIZES = (*range(FEWEST_ARTICLES, 100), *(size * 10**k for k in range(1, 6) for size in range(10, 100)), MOST_ARTICLES)


def articles_for_one_step(above: Floats) -> int | None:
    """The number of articles with which the 95 % interval of the smallest n is at most one step of the grid wide.

    Studies are drawn: their t have those of the run as means, scaled to as many articles, and are normal, correlated as
    the articles say. It is rounded up to two digits, beyond which draws differ.

    Args:
        above: (articles, lengths), what each article keeps beyond the share (`Kept.above`).

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
