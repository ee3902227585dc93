"""From which length on are all means above 0, and between which lengths does the smallest lie of which that is true?

Lengths are tested one after the other, each by itself, and the first test that shows nothing ends it.
"""

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from core.analysis.intervals import CONFIDENCE, Interval

Floats: TypeAlias = NDArray[np.float64]

FEWEST_ARTICLES = 12
"""With fewer, no n is claimed: with so few, skewness cannot be estimated."""
ALPHA = (1 - CONFIDENCE) / 2
"""Of each test. By real articles, which are skewed, those that should err in 2.5 % of studies do in up to 5 %."""
_DOUBT = 1.5
"""Standard errors by which a skewness is taken to be more unfavourable than it looks."""
_EQUAL = 1e-12
"""Values that spread less, relative to the largest, differ by rounding alone."""


def first_kept(shares: Floats, x: float) -> NDArray[np.intp]:
    """For each row of (rows, lengths), the index of the first length from which on all keep x; lengths if none does."""
    below = shares < x
    last_below = shares.shape[1] - np.argmax(below[:, ::-1], axis=1)
    return np.where(below.any(axis=1), last_below, 0)


def interval_of_n(above: Floats) -> tuple[int, int]:
    """The indices between which the smallest length lies that keeps the share, as do all longer ones (95 %).

    Its upper end is shown from the longest length down. Its lower end is the mirror image: from the shortest up, the
    first that is not shown to keep less. Either is wrong only if a single test is: that of the length before the true
    answer, or that of the answer.

    Args:
        above: (articles, lengths), what each article keeps beyond the share (`Kept.above`).
    """
    articles, lengths = above.shape
    if articles < 2:
        return 0, lengths
    found = moments(above)
    return lengths - _shown_from(articles, found.mirrored()), _shown_from(articles, found)


def above_zero_p(articles: int, found: "Moments") -> Floats:
    """For each column, the one-sided p that its mean is not above 0.

    By Student's t, which errs too often where a tail lies below 0. So Hall's correction for skewness (1992, On the
    Removal of Skewness by Transformation, Journal of the Royal Statistical Society B 54, 221-228) is made where it
    raises p. Few articles may not show the tail: the skewness is taken to lie `_DOUBT` of its standard errors further
    down, which are √(6/m) of m normal values.

    Args:
        articles: how many values each column has, at least two.
        found: of the columns.
    """
    means, spreads, skewness = found
    varies = spreads > 0
    t = math.sqrt(articles) * means / np.where(varies, spreads, 1)
    tail = _tail(skewness, articles)
    corrected = t + tail * t**2 / 3 + tail**2 * t**3 / 27 + tail / 6
    return np.where(varies, stdtr(articles - 1, -np.minimum(t, corrected)), np.where(means > 0, 0.0, 1.0))


def skewed_intervals(values: Floats) -> list[Interval]:
    """The mean of every column with its 95 % interval: the means that no test of `above_zero_p` excludes.

    Args:
        values: (articles, columns).
    """
    articles = len(values)
    if articles < 2:
        return [Interval(float(value), None, None) for value in values[0]]
    means, spreads, skewness = moments(values)
    lows, highs = (
        means + side * least_t(-side * skewness, articles) * spreads / math.sqrt(articles) for side in (-1, 1)
    )
    return [
        Interval(float(mean), float(low) if low < high else None, float(high) if low < high else None)
        for mean, low, high in zip(means, lows, highs, strict=True)
    ]


class Moments(NamedTuple):
    """Of each column its mean, standard deviation and skewness, float64 of shape (columns,)."""

    means: Floats
    spreads: Floats
    skewness: Floats

    def mirrored(self) -> "Moments":
        """Those of the columns times -1, from the last to the first."""
        return Moments(-self.means[::-1], self.spreads[::-1], -self.skewness[::-1])


def moments(values: Floats) -> Moments:
    """Mean, standard deviation (by m - 1; 0 where values differ by rounding alone) and skewness of each column.

    Args:
        values: (articles, columns), of at least two articles.
    """
    means = values.mean(axis=0)
    deviations = values - means
    spreads = deviations.std(axis=0, ddof=1)
    spreads = np.where(spreads > _EQUAL * np.abs(values).max(axis=0), spreads, 0)
    standard = deviations / np.where(spreads > 0, spreads, 1)
    # Of an array, ** 3 takes twenty times as long.
    return Moments(means, spreads, np.asarray((standard * standard * standard).mean(axis=0)))


def least_t(skewness: Floats, articles: int) -> Floats:
    """The t from which on `above_zero_p` is at most `ALPHA`, of columns with this skewness."""
    quantile = float(stdtrit(articles - 1, 1 - ALPHA))
    tail = _tail(skewness, articles)
    bent = np.where(tail < 0, tail, 1)
    # Hall's correction is ((1 + tail t / 3)³ - 1) / tail + tail / 6, which can be turned round.
    corrected = 3 / bent * (np.cbrt(1 + bent * (quantile - bent / 6)) - 1)
    return np.where(tail < 0, np.maximum(quantile, corrected), quantile)


def _tail(skewness: Floats, articles: int) -> Floats:
    """Of the mean of so many articles, the skewness to be reckoned with: at most 0."""
    return np.minimum(skewness - _DOUBT * math.sqrt(6 / articles), 0) / math.sqrt(articles)


def _shown_from(articles: int, found: Moments) -> int:
    """The index of the first column whose mean is shown to be above 0, as are those of all later columns.

    They are tested one-sidedly from the last one on, and the first that is not shown ends it. A wrong answer needs a
    wrong rejection at the last column whose mean is not above 0, which is a single test: so no correction for the
    number of columns is needed (Tamhane, Hochberg and Dunnett 1996, Biometrics 52, 21-37).

    Returns:
        The number of columns if nothing is shown.
    """
    return int(first_kept(-above_zero_p(articles, found)[None], -ALPHA)[0])
