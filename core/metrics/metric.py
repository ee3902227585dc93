"""The interface of metrics: rows in, statistics of each row out, and a score from the statistics of any rows.

Statistics are kept apart from the score so that the rows of a corpus metric (BLEU) can be resampled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from core.text.rows import cleaned

FloatArray = npt.NDArray[np.float64]
PRECISION_RECALL_F1 = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class Row:
    """One prediction with its references, and the text it summarises where that is known.

    The texts are `cleaned`, as those of a run are: a metric gives the same for both.
    """

    prediction: str
    references: tuple[str, ...]
    source: str | None = None

    def __post_init__(self) -> None:
        # A frozen dataclass sets its own fields this way.
        object.__setattr__(self, "prediction", cleaned(self.prediction))
        object.__setattr__(self, "references", tuple(map(cleaned, self.references)))
        object.__setattr__(self, "source", None if self.source is None else cleaned(self.source))


class Metric(Protocol):
    """A metric with all its options chosen.

    Attributes:
        mean_over_rows: whether the score of rows is the mean of their own scores.
    """

    mean_over_rows: ClassVar[bool]

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

        They depend on nothing but the row; content kept depends on the other rows, too. Where the score is no mean
        over rows they are counts, of which `score` needs but the sums.
        """

    def score(self, statistics: FloatArray) -> FloatArray:
        """The score of the rows whose statistics these are, (parts,): for one row its own, for all the corpus's."""


class MeanOverRows:
    """Base of metrics whose statistics are the scores of the rows, and whose score is their mean.

    Attributes:
        parts: one value, unless a metric has others.
    """

    __slots__ = ()
    mean_over_rows: ClassVar[bool] = True
    parts: ClassVar[tuple[str, ...]] = ("score",)

    def score(self, statistics: FloatArray) -> FloatArray:
        """Mean over rows."""
        return np.asarray(statistics.mean(axis=0), dtype=np.float64)
