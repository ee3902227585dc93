"""BERTScore as one metric among the others."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch

from core.metrics.bertscore import BertScorer, Idf
from core.metrics.config import BertScoreConfig
from core.metrics.metric import PRECISION_RECALL_F1, FloatArray, Row, mean_score
from core.metrics.pairs import References, over_references
from core.types import Score

# Rows whose token vectors are held at a time.
_ROWS_AT_ONCE = 256


class BertScore:
    """Precision, recall and F1 of BERTScore (each in [-1, 1], as a rule in [0, 1]); over rows the mean.

    The backbone is loaded when the first rows are scored. The scores of the rows seen last are kept, because
    efficiency asks for those of the same rows again.
    """

    mean_over_rows: ClassVar[bool] = True

    name = "bertscore"
    parts: tuple[str, ...] = PRECISION_RECALL_F1

    def __init__(
        self, config: BertScoreConfig, device: torch.device, references: References = "best", idf: bool = False
    ) -> None:
        self._config = config
        self._device = device
        self._references = references
        self._idf = idf
        self._scorer: BertScorer | None = None
        self._last: tuple[tuple[Row, ...], FloatArray] | None = None

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        signature = self._config.signature
        if self._references == "mean":
            signature = signature.replace("refs:best-f1", "refs:mean")
        return signature.replace("idf:no", "idf:of-references") if self._idf else signature

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """Precision, recall and F1 of each row, (rows, 3). With idf weights they depend on the references of all rows.

        Raises:
            ModelError: the backbone cannot be loaded, or has fewer layers.
        """
        if self._last is None or self._last[0] != tuple(rows):
            if self._scorer is None:
                self._scorer = BertScorer(self._config, self._device)
            batches = [rows[i : i + _ROWS_AT_ONCE] for i in range(0, len(rows), _ROWS_AT_ONCE)]
            idf = self._scorer.idf([text for row in rows for text in row.references]) if self._idf else None
            scores = [score for batch in batches for score in self._scores(self._scorer, batch, idf)]
            values = [(score.precision, score.recall, score.f1) for score in scores]
            self._last = tuple(rows), np.array(values, dtype=np.float64).reshape(len(rows), 3)
        return self._last[1]

    def _scores(self, scorer: BertScorer, rows: Sequence[Row], idf: Idf | None) -> list[Score]:
        if self._references == "best":
            return scorer.score([(row.prediction, row.references) for row in rows], idf)
        scores = iter(scorer.score([(row.prediction, (text,)) for row in rows for text in row.references], idf))
        return [over_references([next(scores) for _ in row.references], "mean") for row in rows]

    def score(self, statistics: FloatArray) -> FloatArray:
        """Mean over rows."""
        return mean_score(statistics)
