"""What every metric is: rows in, statistics of each row out, and from the statistics of any rows their score.

Statistics are kept apart from the score so that a corpus metric (BLEU) and a mean over rows (ROUGE) are resampled
by the same bootstrap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
PRECISION_RECALL_F1 = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class Row:
    """One prediction with its references, and the text it summarises where that is known."""

    prediction: str
    references: tuple[str, ...]
    source: str | None = None


class Metric(Protocol):
    """A metric with all its options chosen."""

    @property
    def name(self) -> str:
        """The name in the registry, e.g. `rouge1`."""

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the values of a score: `PRECISION_RECALL_F1` or `("score",)`."""

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """Statistics of each row, (rows, statistics).

        They depend on nothing but the row. Exceptions are BERTScore's with idf weights or in batches.
        """

    def score(self, statistics: FloatArray) -> FloatArray:
        """The score of the rows whose statistics these are, (parts,): for one row its own, for all the corpus's."""


def mean_score(statistics: FloatArray) -> FloatArray:
    """`score` of a metric whose statistics are its parts: their mean over rows."""
    return np.asarray(statistics.mean(axis=0), dtype=np.float64)
