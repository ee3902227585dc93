"""BERTScore and efficiency as metrics among the others, computed by `core/metrics/bertscore.py`."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
import torch

from core.arithmetic import find_device, one_thread
from core.errors import RecipeError
from core.metrics.bertscore import BertScorer
from core.metrics.config import MINILM, BertScoreConfig, Options, text_tokenizer, tuned_layer
from core.metrics.metric import PRECISION_RECALL_F1, FloatArray, MeanOverRows, Metric, References, Row, over_references
from core.metrics.surface import Efficiency
from core.models import parse_model, resolve_model
from core.text.tokenizers import EnglishTokenizer
from core.types import Score

# Rows whose token vectors are held at a time.
_ROWS_AT_ONCE = 256


def make_bertscore(name: str, options: Options) -> Metric:
    """See `core.metrics.registry`, and `bertscore_metric` for errors."""
    metric = bertscore_metric(options)
    return Efficiency(metric) if name == Efficiency.name else metric


@lru_cache(maxsize=2)
def bertscore_metric(options: Options) -> "BertScore":
    """The same object for the same options: its backbone is loaded, and rows are embedded, once.

    Raises:
        RecipeError: the bundled backbone cannot read the language, or no layer is given and none is tuned.
        ModelError: the backbone cannot be found.
    """
    model = resolve_model(parse_model(options.bertscore_model))
    if not isinstance(text_tokenizer(options), EnglishTokenizer) and model.name == MINILM:
        raise RecipeError(
            f"BERTScore's bundled backbone {MINILM} reads English only: for other texts name one that reads their "
            "language, such as `google-bert/bert-base-multilingual-cased`.",
            settings=("bertscore_model",),
        )
    layer = options.bertscore_layer or tuned_layer(model)
    device = find_device("cuda" if torch.cuda.is_available() else "cpu")
    return BertScore(BertScoreConfig(model, layer), device, options.references)


class BertScore(MeanOverRows):
    """Precision, recall and F1 of BERTScore (each in [-1, 1], as a rule in [0, 1]); over rows the mean.

    The backbone is loaded when the first rows are scored. The scores of the rows seen last are kept, because
    efficiency asks for those of the same rows again.
    """

    name: ClassVar[str] = "bertscore"
    parts: ClassVar[tuple[str, ...]] = PRECISION_RECALL_F1

    def __init__(self, config: BertScoreConfig, device: torch.device, references: References = "best") -> None:
        self._config = config
        self._device = device
        self._references = references
        self._last: tuple[tuple[Row, ...], FloatArray] | None = None

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        signature = self._config.signature
        return signature.replace("refs:best-f1", "refs:mean") if self._references == "mean" else signature

    @one_thread()
    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """Precision, recall and F1 of each row, (rows, 3).

        Raises:
            ModelError: the backbone cannot be loaded, or has fewer layers.
        """
        if self._last is None or self._last[0] != tuple(rows):
            self._last = tuple(rows), self._scores(rows)
        return self._last[1]

    def _scores(self, rows: Sequence[Row]) -> FloatArray:
        batches = [rows[i : i + _ROWS_AT_ONCE] for i in range(0, len(rows), _ROWS_AT_ONCE)]
        scores = [score for batch in batches for score in self._of_batch(batch)]
        values = [(score.precision, score.recall, score.f1) for score in scores]
        return np.array(values, dtype=np.float64).reshape(len(rows), 3)

    @cached_property
    def scorer(self) -> BertScorer:
        """With its backbone, which is loaded now.

        Raises:
            ModelError: it cannot be loaded, or has fewer layers.
        """
        return BertScorer(self._config, self._device)

    def _of_batch(self, rows: Sequence[Row]) -> list[Score]:
        if self._references == "best":
            return self.scorer.score([(row.prediction, row.references) for row in rows])
        scores = iter(self.scorer.score([(row.prediction, (text,)) for row in rows for text in row.references]))
        return [over_references([next(scores) for _ in row.references], "mean") for row in rows]
