"""Metrics that a model computes, as metrics among the others: BERTScore, efficiency, fluency and faithfulness.

A run has fluency and faithfulness where its recipe names their models. They are stored beside the metrics of plugins,
under their names. Each has a config, which is small and says what made the numbers, and a scorer, which holds its
model.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
import torch

from nws.core.arithmetic import find_device, one_thread
from nws.core.errors import RecipeError
from nws.core.metrics.config import MINILM, BertScoreConfig, Options, text_tokenizer, tuned_layer
from nws.core.metrics.metric import (
    PRECISION_RECALL_F1,
    FloatArray,
    MeanOverRows,
    Metric,
    References,
    Row,
    over_references,
    require_sources,
)
from nws.core.metrics.surface import Efficiency
from nws.core.models import LANGUAGE_MODELS, parse_model, resolve_model
from nws.core.text.language import Language
from nws.core.text.tokenizers import EnglishTokenizer
from nws.core.types import Score

if TYPE_CHECKING:  # each imports what its model needs
    from nws.core.metrics.bertscore import BertScorer
    from nws.core.metrics.faithfulness import Faithfulness, FaithfulnessScorer
    from nws.core.metrics.fluency import Fluency, FluencyScorer

ModelMetric: TypeAlias = "Fluency | Faithfulness"
"""What computes a metric, and how: its name, its model, its signature, and whether it compares with the article."""
ModelScorer: TypeAlias = "FluencyScorer | FaithfulnessScorer"
"""A metric with its model. It scores (article, summary) pairs, and counts the tokens it has read."""


def resolve_model_metric(name: str, model: str, language: Language) -> ModelMetric:
    """A metric of `nws.core.metrics.specs.BY_MODEL`, its model at an exact revision.

    Raises:
        ModelError: there is no such model.
        HubError: the Hub cannot tell the commit.
    """
    if name == "fluency":
        from nws.core.metrics.fluency import Fluency

        return Fluency(resolve_model(parse_model(model, LANGUAGE_MODELS)), language)
    from nws.core.metrics.faithfulness import Faithfulness

    return Faithfulness(resolve_model(parse_model(model)), language)


def make_model_metric(name: str, options: Options) -> "MetricByModel":
    """Fluency or faithfulness, with the model that the options name.

    Raises:
        RecipeError: the options name no model for it.
        ModelError: there is no such model.
        HubError: the Hub cannot tell the commit.
    """
    setting = f"{name}_model"
    model: str | None = getattr(options, setting)
    if model is None:
        kind = "a causal language model, such as smollm2" if name == "fluency" else "an NLI model"
        raise RecipeError(f"The metric {name} needs {kind}: a folder or a Hub id.", settings=(setting,))
    language: Language = "ko" if options.lang == "ko" else "en"
    device = find_device("cuda" if torch.cuda.is_available() else "cpu")
    return MetricByModel(resolve_model_metric(name, model, language), device)


class MetricByModel(MeanOverRows):
    """A `ModelMetric` for `nws score`. Its model is loaded when the first rows are scored."""

    def __init__(self, metric: ModelMetric, device: torch.device) -> None:
        self._metric = metric
        self._device = device
        self._scorer: ModelScorer | None = None

    @property
    def name(self) -> str:
        return self._metric.name

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        return self._metric.signature

    @one_thread()
    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """The value of each row, (rows, 1).

        Raises:
            CorpusError: it compares with the article, and a row has no source.
            ModelError: the checkpoint is none of its kind.
        """
        if self._metric.needs_article:
            require_sources(self.name, rows)
        self._scorer = self._scorer or self._metric.load(self._device)
        values = self._scorer.score([(row.source or "", row.prediction) for row in rows])
        return np.array(values, dtype=np.float64).reshape(len(rows), 1)


# Rows whose token vectors are held at a time.
_ROWS_AT_ONCE = 256


def make_bertscore(name: str, options: Options) -> Metric:
    """BERTScore or efficiency, which share a backbone; errors are those of `bertscore_metric`."""
    metric = bertscore_metric(options)
    return Efficiency(metric) if name == Efficiency.name else metric


@lru_cache(maxsize=2)
def bertscore_metric(options: Options) -> "BertScore":
    """BERTScore with these options. Equal options give the same object, so a backbone is loaded once.

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
    def scorer(self) -> "BertScorer":
        """With its backbone, which is loaded now.

        Raises:
            ModelError: it cannot be loaded, or has fewer layers.
        """
        from nws.core.metrics.bertscore import BertScorer

        return BertScorer(self._config, self._device)

    def _of_batch(self, rows: Sequence[Row]) -> list[Score]:
        if self._references == "best":
            return self.scorer.score([(row.prediction, row.references) for row in rows])
        scores = iter(self.scorer.score([(row.prediction, (text,)) for row in rows for text in row.references]))
        return [over_references([next(scores) for _ in row.references], "mean") for row in rows]
