"""Asking a model for another number of words than are wanted, by what it is known to write.

Models write too much or too little with some regularity: so many words more, or a share more. Both are in one straight
line from words asked for to words written. It is fitted once, before any summary, on replies to a few articles.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import linear_regression, median

SAMPLE_LENGTHS = (5, 9, 13, 17, 21)
"""Words that are asked for. They are the same whatever a run's n are, so that other n need no other line."""
SAMPLE_ARTICLES = 8
_LEAST_SLOPE = 0.25


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Of a model that is asked for a words: about `intercept` + `slope` · a are written."""

    intercept: float
    slope: float

    def asked_for(self, n: int) -> int:
        """The number of words to ask for, at least 1, where `n` are wanted."""
        return max(1, round((n - self.intercept) / self.slope))

    def __str__(self) -> str:
        return f"asked for (n - {self.intercept:g}) / {self.slope:g} words"


def fit_adjustment(written: Mapping[int, Sequence[int]]) -> Adjustment:
    """The line by least squares through the medians of the words written; medians, since some replies are far off.

    Where more words asked for hardly bring more, the line would say to ask for hundreds. Then only the intercept is
    fitted, by the median, and the slope is 1.

    Args:
        written: by the number of words asked for, the words of each reply.
    """
    medians = {asked: float(median(words)) for asked, words in sorted(written.items())}
    slope, intercept = linear_regression(list(medians), list(medians.values()))
    if slope < _LEAST_SLOPE:
        slope, intercept = 1.0, median(middle - asked for asked, middle in medians.items())
    return Adjustment(round(intercept, 4), round(slope, 4))
