"""The score of the DialogSum competition: how well one summary does against several references.

The data set has three references a dialogue (Chen et al. 2021, "DialogSum: A Real-Life Scenario Dialogue
Summarization Dataset").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from core.metrics.metric import PRECISION_RECALL_F1, FloatArray, Metric, Row, mean_score


@dataclass(frozen=True, slots=True)
class DialogSum:
    """Sum of the F1 of ROUGE-1, ROUGE-2 and ROUGE-L, in [0, 3]; over rows the mean.

    Attributes:
        rouges: the three, with the same options; each takes the reference that is best for itself.
    """

    mean_over_rows: ClassVar[bool] = True

    rouges: tuple[Metric, Metric, Metric]

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "dialogsum"

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        rouge1 = self.rouges[0]
        return f"dialogsum|sum of f1:rouge1,rouge2,rougeL|{rouge1.signature.removeprefix(f'{rouge1.name}|')}"

    @property
    def parts(self) -> tuple[str, ...]:
        """One value: `score`."""
        return ("score",)

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """The score of each row, (rows, 1)."""
        f1 = PRECISION_RECALL_F1.index("f1")
        rouge1, rouge2, rougel = (metric.statistics(rows)[:, f1 : f1 + 1] for metric in self.rouges)
        return rouge1 + rouge2 + rougel

    def score(self, statistics: FloatArray) -> FloatArray:
        """Mean over rows."""
        return mean_score(statistics)
