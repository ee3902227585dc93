"""The interface of metrics: from rows to statistics of each row, and from the statistics of any rows to a score.

These are two steps so that the rows of a corpus metric (BLEU) can be resampled. Every other metric is a `RowMetric`: a
function computes the score of each row, and the score of many rows is their mean. `pair_metric` makes a `RowMetric`
from a function that compares a prediction with one reference. It applies the rule for several references.
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
    """One prediction with its references, and the text that it summarises where that is known.

    The texts are `cleaned`, as those of a run are, so a metric gives them the same score as in a run.
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
        mean_over_rows: whether the score of many rows is the mean of the scores of each.
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
        """Return the statistics of each row, (rows, statistics).

        They depend on the row alone, except that content kept depends on the other rows, too. If the score is not a
        mean over rows, the statistics are counts, of which `score` needs only the sums.
        """

    def score(self, statistics: FloatArray) -> FloatArray:
        """Return the score of the rows that have these statistics, (parts,).

        These may be the statistics of one row, or of all rows of a corpus.
        """


def require_sources(name: str, rows: Sequence[Row]) -> None:
    """Check that every row has a source, for a metric that compares a prediction with it.

    Raises:
        CorpusError: a row has no source.
    """
    for number, row in enumerate(rows, start=1):
        if row.source is None:
            raise CorpusError(f"{name} compares a prediction with its source, but row {number} has no source.")


class MeanOverRows:
    """Base of metrics whose statistics are the scores of the rows, and whose score is their mean.

    Attributes:
        parts: the names of the values of a score.
    """

    __slots__ = ()
    mean_over_rows: ClassVar[bool] = True
    parts: tuple[str, ...] = ("score",)

    def score(self, statistics: FloatArray) -> FloatArray:
        """Return the mean over rows."""
        return np.asarray(statistics.mean(axis=0), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class RowMetric(MeanOverRows):
    """A metric whose score a function computes for each row. The score of many rows is the mean.

    Attributes:
        name: the name in the registry.
        signature: every option that changes the numbers.
        measure: the function from rows to the scores of each: one number, or one for each of `parts`.
        parts: the names of these numbers.
    """

    name: str
    signature: str
    measure: Callable[[Sequence[Row]], Sequence[float | Sequence[float]]]
    parts: tuple[str, ...] = ("score",)

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """Return the numbers of each row, (rows, parts)."""
        return np.array(self.measure(rows), dtype=np.float64).reshape(len(rows), len(self.parts))


def remembered(score: Callable[[list[Item]], Sequence[Value]]) -> Callable[[Sequence[Item]], list[Value]]:
    """Return a function like `score` that scores each different item only once.

    It remembers all items without bound, which takes little memory for texts of a line or two.
    """
    known: dict[Item, Value] = {}

    def scores(items: Sequence[Item]) -> list[Value]:
        new = [item for item in dict.fromkeys(items) if item not in known]
        known.update(zip(new, score(new) if new else (), strict=True))
        return [known[item] for item in items]

    return scores


ZERO = Score(0.0, 0.0, 0.0)
# How several references count: the one with the highest F1, or the means of precision, recall and F1 over all.
References = Literal["best", "mean"]
# (prediction, reference)
ScorePair = Callable[[str, str], Score]


def pair_metric(name: str, options: str, score_pair: ScorePair, references: References) -> RowMetric:
    """Make a metric with precision, recall and F1 from a function that compares a prediction with one reference.

    A row without references scores 0.

    Args:
        name: the name in the registry.
        options: all options that change the numbers, except how several references count.
        score_pair: the function from prediction and reference to their score.
        references: how several references count.
    """

    def measure(rows: Sequence[Row]) -> list[tuple[float, float, float]]:
        by_row = [[score_pair(row.prediction, reference) for reference in row.references] for row in rows]
        return [over_references(scores, references).values for scores in by_row]

    signature = f"{name}|{options}|refs:{'best-f1' if references == 'best' else 'mean'}"
    return RowMetric(name, signature, measure, PRECISION_RECALL_F1)


def over_references(scores: Sequence[Score], references: References) -> Score:
    """Combine the scores of a prediction against each of its references into one; 0 without references.

    If several references share the highest F1, the first is best. The mean F1 is the mean of the F1s, as `rouge_score`
    and its users average, and not the F1 of the mean precision and recall.
    """
    if not scores:
        return ZERO
    if references == "best":
        return max(scores, key=lambda score: score.f1)
    by_part = zip(*(score.values for score in scores), strict=True)
    return Score(*(sum(values) / len(scores) for values in by_part))


def overlap(hits: int, predicted: int, expected: int) -> Score:
    """Return precision, recall and F1 of `hits` among `predicted` and `expected` units; 0 where there are none."""
    precision, recall = hits / max(predicted, 1), hits / max(expected, 1)
    # In the same order of operations as `rouge_score`, so that the F1 is equal to the last digit.
    return Score(precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0)


def clipped_overlap(predicted: Counter[Any], expected: Counter[Any]) -> Score:
    """Return precision, recall and F1 of counted units. Each unit counts at most as often as it is on both sides."""
    # Not by `Counter.__and__`, which would build a third counter of up to 500,000 skip bigrams. The sum is over the
    # units that both have, since looking up a missing unit of a `Counter` is slow: it calls a method in Python.
    hits = sum(min(predicted[unit], expected[unit]) for unit in predicted.keys() & expected.keys())
    return overlap(hits, predicted.total(), expected.total())
