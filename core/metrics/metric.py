"""The interface of metrics: rows in, statistics of each row out, and a score from the statistics of any rows.

Statistics are kept apart from the score so that the rows of a corpus metric (BLEU) can be resampled. `RowMetric` is for
all others: a function computes them, and the score of rows is the mean. `pair_metric` makes one of what compares a
prediction with one reference at a time: it has the rule for several references.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from nws.core.errors import CorpusError
from nws.core.text.rows import cleaned
from nws.core.types import Score

FloatArray = npt.NDArray[np.float64]
Item = TypeVar("Item", bound=Hashable)
Value = TypeVar("Value")
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


def require_sources(name: str, rows: Sequence[Row]) -> None:
    """Check the rows of a metric that compares a prediction with its source.

    Raises:
        CorpusError: a row has none.
    """
    for number, row in enumerate(rows, start=1):
        if row.source is None:
            raise CorpusError(f"{name} compares a prediction with its source, but row {number} has no source.")


class MeanOverRows:
    """Base of metrics whose statistics are the scores of the rows, and whose score is their mean.

    Attributes:
        parts: one value, unless a metric has others.
    """

    __slots__ = ()
    mean_over_rows: ClassVar[bool] = True
    parts: tuple[str, ...] = ("score",)

    def score(self, statistics: FloatArray) -> FloatArray:
        """Mean over rows."""
        return np.asarray(statistics.mean(axis=0), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class RowMetric(MeanOverRows):
    """A metric that a function computes for each row; over rows the mean.

    Attributes:
        name: in the registry.
        signature: every option that changes the numbers.
        measure: from rows to what each has: a number, or one for each of `parts`.
        parts: names of these numbers.
    """

    name: str
    signature: str
    measure: Callable[[Sequence[Row]], Sequence[float | Sequence[float]]]
    parts: tuple[str, ...] = ("score",)

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """The numbers of each row, (rows, parts)."""
        return np.array(self.measure(rows), dtype=np.float64).reshape(len(rows), len(self.parts))


def remembered(score: Callable[[list[Item]], Sequence[Value]]) -> Callable[[Sequence[Item]], list[Value]]:
    """`score`, asked once for each of the items, which are remembered without bound: a text is a line or two."""
    known: dict[Item, Value] = {}

    def scores(items: Sequence[Item]) -> list[Value]:
        new = [item for item in dict.fromkeys(items) if item not in known]
        known.update(zip(new, score(new) if new else (), strict=True))
        return [known[item] for item in items]

    return scores


ZERO = Score(0.0, 0.0, 0.0)
# Against several references: the one with the highest F1, or the means of precision, recall and F1 over all.
References = Literal["best", "mean"]
# (prediction, reference)
ScorePair = Callable[[str, str], Score]


def pair_metric(name: str, options: str, score_pair: ScorePair, references: References) -> RowMetric:
    """A metric of a prediction and one reference: its precision, recall and F1. A row without references scores 0.

    Args:
        name: in the registry.
        options: all that change the numbers, but for how several references count.
        score_pair: from prediction and reference to their score.
        references: how several count.
    """

    def measure(rows: Sequence[Row]) -> list[tuple[float, float, float]]:
        by_row = [[score_pair(row.prediction, reference) for reference in row.references] for row in rows]
        return [over_references(scores, references).values for scores in by_row]

    signature = f"{name}|{options}|refs:{'best-f1' if references == 'best' else 'mean'}"
    return RowMetric(name, signature, measure, PRECISION_RECALL_F1)


def over_references(scores: Sequence[Score], references: References) -> Score:
    """One score of a prediction's scores against each of its references; 0 without references.

    Of several references with the same F1 the first is best. The mean F1 is that of the F1s, as `rouge_score` and its
    users average, not the F1 of the mean precision and recall.
    """
    if not scores:
        return ZERO
    if references == "best":
        return max(scores, key=lambda score: score.f1)
    by_part = zip(*(score.values for score in scores), strict=True)
    return Score(*(sum(values) / len(scores) for values in by_part))


def overlap(hits: int, predicted: int, expected: int) -> Score:
    """Precision, recall and F1 of `hits` among `predicted` and `expected` units; 0 where there are none."""
    precision, recall = hits / max(predicted, 1), hits / max(expected, 1)
    # In this order of operations, as `rouge_score` does: equal to the last digit.
    return Score(precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0)


def clipped_overlap(predicted: Counter[Any], expected: Counter[Any]) -> Score:
    """Precision, recall and F1 of counted units: each counts at most as often as it is on both sides."""
    # The sum by hand: `Counter.__and__` would build a third counter of up to 500,000 skip bigrams. Over what both sides
    # have: of a unit that a counter has not, it asks Python.
    hits = sum(min(predicted[unit], expected[unit]) for unit in predicted.keys() & expected.keys())
    return overlap(hits, predicted.total(), expected.total())
