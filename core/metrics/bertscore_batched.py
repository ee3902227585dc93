"""BERTScore as the library `bert_score` gives it for a corpus: in padded batches of 64, the way published tables do.

The library masks padding with similarity 0, which lifts negative maxima. So a score depends on the other texts of its
batch, by up to 0.03 for one-word summaries. `core/metrics/bertscore.py` avoids that.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from bert_score.utils import bert_cos_score_idf, get_hash, get_idf_dict, get_model, get_tokenizer

from core.batching import max_tokens
from core.errors import ModelError
from core.metrics.config import BertScoreConfig
from core.metrics.metric import PRECISION_RECALL_F1, FloatArray, Row, mean_score
from core.metrics.pairs import References
from core.models import load_unchanged
from core.transformer import hide_progress_bars

BATCH = 64  # the library's default


class _Text(str):
    """A text that has the same hash in every process.

    The library sorts a set of texts by length. The order of texts of the same length, and so which are padded together,
    follows from their hashes, which Python draws anew for each process.
    """

    def __hash__(self) -> int:
        return int.from_bytes(hashlib.sha256(self.encode("utf-8", "surrogatepass")).digest()[:7])


class BatchedBertScore:
    """Precision, recall and F1 by the library's own functions; over rows the mean.

    The model is loaded when the first rows are scored. The scores of the rows seen last are kept, because efficiency
    asks for those of the same rows again. An empty prediction or reference scores 0 without going through the library,
    which fails on it.
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
        self._loaded: tuple[Any, Any] | None = None
        self._last: tuple[tuple[Row, ...], FloatArray] | None = None

    @property
    def signature(self) -> str:
        """Every option that changes the numbers, and the library's own hash code."""
        model, layer = self._config.model, self._config.num_layers
        return "|".join(
            (
                "bertscore",
                f"model:{model}",
                f"layer:{layer}",
                f"idf:{'of-references' if self._idf else 'no'}",
                "rescale:no",
                f"pairs:batches-of-{BATCH}",
                f"refs:{'best-of-each' if self._references == 'best' else 'mean'}",
                f"by:bert-score {get_hash(model.source, layer, self._idf, False, False, False)}",
            )
        )

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """Precision, recall and F1 of each row, (rows, 3). They depend on all rows.

        Raises:
            ModelError: the model cannot be loaded, or has fewer layers.
        """
        if self._last is None or self._last[0] != tuple(rows):
            self._last = tuple(rows), self._scores(rows)
        return self._last[1]

    def score(self, statistics: FloatArray) -> FloatArray:
        """Mean over rows."""
        return mean_score(statistics)

    def _scores(self, rows: Sequence[Row]) -> FloatArray:
        pairs = [(row.prediction, text, i) for i, row in enumerate(rows) for text in row.references]
        filled = [i for i, (prediction, reference, _) in enumerate(pairs) if prediction.strip() and reference.strip()]
        pair_scores = np.zeros((len(pairs), 3))
        if filled:
            pair_scores[filled] = self._by_library([pairs[i][0] for i in filled], [pairs[i][1] for i in filled])
        row_scores = np.zeros((len(rows), 3))
        owners = np.array([i for *_, i in pairs], dtype=int)
        for i in set(owners.tolist()):
            by_reference = pair_scores[owners == i]
            # As the library: the best precision, recall and F1 may come from different references.
            row_scores[i] = by_reference.max(axis=0) if self._references == "best" else by_reference.mean(axis=0)
        return row_scores

    def _by_library(self, predictions: Sequence[str], references: Sequence[str]) -> FloatArray:
        """(pairs, 3). NaN, which the library gives where all idf weights of a text are 0, becomes 0."""
        tokenizer, model = self._loaded = self._loaded or self._load()
        texts = [[_Text(text) for text in column] for column in (references, predictions)]
        weights = self._weights(tokenizer, texts[0])
        scores = bert_cos_score_idf(model, *texts, tokenizer, weights, device=self._device, batch_size=BATCH)
        return np.asarray(np.nan_to_num(scores.numpy().astype(np.float64), nan=0.0))

    def _weights(self, tokenizer: Any, references: Sequence[str]) -> Mapping[int, float]:
        if self._idf:
            weights: Mapping[int, float] = get_idf_dict(references, tokenizer, nthreads=0)
            return weights
        return defaultdict(lambda: 1.0, {tokenizer.sep_token_id: 0.0, tokenizer.cls_token_id: 0.0})

    def _load(self) -> tuple[Any, Any]:
        hide_progress_bars()
        tokenizer, model = load_unchanged(self._config.model, self._load_from)
        # The library cuts to what the tokenizer states, and fails where it states none.
        tokenizer.model_max_length = max_tokens(tokenizer, model)
        return tokenizer, model

    def _load_from(self, folder: Path) -> tuple[Any, Any]:
        try:
            return get_tokenizer(str(folder)), get_model(str(folder), self._config.num_layers).to(self._device)
        except (OSError, ValueError, KeyError, AssertionError) as error:
            raise ModelError(f"bert-score cannot use {self._config.model.name}: {error}") from error
