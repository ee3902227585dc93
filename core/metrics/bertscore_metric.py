"""BERTScore as metrics among the others: of texts one at a time, and in batches as published tables have it.

The library `bert_score` masks padding with similarity 0, which lifts negative maxima. So in its padded batches of 64 a
score depends on the other texts of its batch, by up to 0.03 for one-word summaries. `core/metrics/bertscore.py` avoids
that.
"""

import hashlib
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
import torch

from core.arithmetic import find_device
from core.errors import ModelError, RecipeError
from core.metrics.bertscore import BertScorer, Idf
from core.metrics.config import MINILM, BertScoreConfig, Options, text_tokenizer, tuned_layer
from core.metrics.metric import PRECISION_RECALL_F1, FloatArray, MeanOverRows, Metric, Row
from core.metrics.pairs import References, over_references
from core.metrics.surface import Efficiency
from core.models import model_folder, parse_model, resolve_model
from core.models.batching import max_tokens
from core.models.loading import in_own_memory, only_errors
from core.text.tokenizers import EnglishTokenizer
from core.types import Score

# Rows whose token vectors are held at a time.
_ROWS_AT_ONCE = 256
BATCH = 64  # the library's default


def make_bertscore(name: str, options: Options) -> Metric:
    """See `core.metrics.registry`.

    Raises:
        RecipeError: the bundled backbone cannot read the language, or no layer is given and none is tuned.
        ModelError: the backbone cannot be found.
    """
    return _bertscore(options)


def make_efficiency(name: str, options: Options) -> Metric:
    """As `make_bertscore`."""
    return Efficiency(_bertscore(options))


def pairwise(options: Options) -> "BertScore":
    """BERTScore of one pair at a time, without idf weights, against the best reference, whatever the options say.

    Raises:
        RecipeError, ModelError: as `make_bertscore`.
    """
    found = _bertscore(replace(options, bertscore_batched=False, bertscore_idf=False, references="best"))
    assert isinstance(found, BertScore)
    return found


@lru_cache(maxsize=2)
def _bertscore(options: Options) -> Metric:
    """The same object for the same options: its backbone is loaded, and rows are embedded, once."""
    model = resolve_model(parse_model(options.bertscore_model))
    if not isinstance(text_tokenizer(options), EnglishTokenizer) and model.name == MINILM:
        raise RecipeError(
            f"BERTScore's bundled backbone {MINILM} reads English only: for other texts name one that reads their "
            "language, such as `google-bert/bert-base-multilingual-cased`.",
            settings=("bertscore_model",),
        )
    layer = options.bertscore_layer or tuned_layer(model)
    device = find_device("cuda" if torch.cuda.is_available() else "cpu")
    kind = BatchedBertScore if options.bertscore_batched else BertScore
    return kind(BertScoreConfig(model, layer), device, options.references, options.bertscore_idf)


class _RowScores(MeanOverRows, ABC):
    """Precision, recall and F1 of BERTScore (each in [-1, 1], as a rule in [0, 1]); over rows the mean.

    The backbone is loaded when the first rows are scored. The scores of the rows seen last are kept, because
    efficiency asks for those of the same rows again.
    """

    name: ClassVar[str] = "bertscore"
    parts: ClassVar[tuple[str, ...]] = PRECISION_RECALL_F1

    def __init__(
        self, config: BertScoreConfig, device: torch.device, references: References = "best", idf: bool = False
    ) -> None:
        self._config = config
        self._device = device
        self._references = references
        self._idf = idf
        self._last: tuple[tuple[Row, ...], FloatArray] | None = None

    @property
    @abstractmethod
    def signature(self) -> str:
        """Every option that changes the numbers."""

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """Precision, recall and F1 of each row, (rows, 3). They depend on all rows in batches or with idf weights.

        Raises:
            ModelError: the backbone cannot be loaded, or has fewer layers.
        """
        if self._last is None or self._last[0] != tuple(rows):
            self._last = tuple(rows), self._scores(rows)
        return self._last[1]

    @abstractmethod
    def _scores(self, rows: Sequence[Row]) -> FloatArray:
        """As `statistics`."""


class BertScore(_RowScores):
    """Each pair for itself. With idf weights the scores depend on the references of all rows."""

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        signature = self._config.signature
        if self._references == "mean":
            signature = signature.replace("refs:best-f1", "refs:mean")
        return signature.replace("idf:no", "idf:of-references") if self._idf else signature

    def _scores(self, rows: Sequence[Row]) -> FloatArray:
        batches = [rows[i : i + _ROWS_AT_ONCE] for i in range(0, len(rows), _ROWS_AT_ONCE)]
        idf = self.scorer.idf([text for row in rows for text in row.references]) if self._idf else None
        scores = [score for batch in batches for score in self._of_batch(batch, idf)]
        values = [(score.precision, score.recall, score.f1) for score in scores]
        return np.array(values, dtype=np.float64).reshape(len(rows), 3)

    @cached_property
    def scorer(self) -> BertScorer:
        """With its backbone, which is loaded now.

        Raises:
            ModelError: it cannot be loaded, or has fewer layers.
        """
        return BertScorer(self._config, self._device)

    def _of_batch(self, rows: Sequence[Row], idf: Idf | None) -> list[Score]:
        if self._references == "best":
            return self.scorer.score([(row.prediction, row.references) for row in rows], idf)
        scores = iter(self.scorer.score([(row.prediction, (text,)) for row in rows for text in row.references], idf))
        return [over_references([next(scores) for _ in row.references], "mean") for row in rows]


class _Text(str):
    """A text that has the same hash in every process.

    The library sorts a set of texts by length. The order of texts of the same length, and so which are padded together,
    follows from their hashes, which Python draws anew for each process.
    """

    def __hash__(self) -> int:
        return int.from_bytes(hashlib.sha256(self.encode("utf-8", "surrogatepass")).digest()[:7])


class BatchedBertScore(_RowScores):
    """As the library gives it for a corpus, by its own functions.

    An empty prediction or reference scores 0 without going through the library, which fails on it.
    """

    @property
    def signature(self) -> str:
        """Every option that changes the numbers, and the library's own hash code."""
        from bert_score.utils import get_hash  # here and below, and with it pandas and matplotlib

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
        from bert_score.utils import bert_cos_score_idf

        tokenizer, model = self._loaded
        texts = [[_Text(text) for text in column] for column in (references, predictions)]
        weights = self._weights(tokenizer, texts[0])
        scores = bert_cos_score_idf(model, *texts, tokenizer, weights, device=self._device, batch_size=BATCH)
        return np.asarray(np.nan_to_num(scores.numpy().astype(np.float64), nan=0.0))

    def _weights(self, tokenizer: Any, references: Sequence[str]) -> Mapping[int, float]:
        if self._idf:
            from bert_score.utils import get_idf_dict

            weights: Mapping[int, float] = get_idf_dict(references, tokenizer, nthreads=0)
            return weights
        return defaultdict(lambda: 1.0, {tokenizer.sep_token_id: 0.0, tokenizer.cls_token_id: 0.0})

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from bert_score.utils import get_model, get_tokenizer

        folder = str(model_folder(self._config.model))
        try:
            with only_errors():
                model = in_own_memory(get_model(folder, self._config.num_layers)).to(self._device)
                tokenizer = get_tokenizer(folder)
        except (OSError, ValueError, KeyError, AssertionError) as error:
            raise ModelError(f"bert-score cannot use {self._config.model.name}: {error}") from error
        # The library cuts to what the tokenizer states, and fails where it states none.
        tokenizer.model_max_length = max_tokens(tokenizer, model)
        return tokenizer, model
