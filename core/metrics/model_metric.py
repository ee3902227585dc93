"""Metrics that a language model or an NLI model computes. A run has them where its recipe names the model.

They are stored beside those of plugins, under their names. Each has a config, which is small and says what made the
numbers, and a scorer, which holds the model.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch

from core.arithmetic import find_device, one_thread
from core.errors import RecipeError
from core.metrics.config import Options
from core.metrics.metric import FloatArray, MeanOverRows, Row, require_sources
from core.models import LANGUAGE_MODELS, parse_model, resolve_model
from core.text.language import Language

if TYPE_CHECKING:  # each imports what its model needs
    from core.metrics.faithfulness import Faithfulness, FaithfulnessScorer
    from core.metrics.fluency import Fluency, FluencyScorer


ModelMetric: TypeAlias = "Fluency | Faithfulness"
"""What computes a metric, and how: its name, its model, its signature, and whether it compares with the article."""
ModelScorer: TypeAlias = "FluencyScorer | FaithfulnessScorer"
"""A metric with its model. It scores (article, summary) pairs, and counts the tokens it has read."""


def resolve_model_metric(name: str, model: str, language: Language) -> ModelMetric:
    """A metric of `core.metrics.specs.BY_MODEL`, its model at an exact revision.

    Raises:
        ModelError: there is no such model.
        HubError: the Hub cannot tell the commit.
    """
    if name == "fluency":
        from core.metrics.fluency import Fluency

        return Fluency(resolve_model(parse_model(model, LANGUAGE_MODELS)), language)
    from core.metrics.faithfulness import Faithfulness

    return Faithfulness(resolve_model(parse_model(model)), language)


def make_model_metric(name: str, options: Options) -> "MetricByModel":
    """See `core.metrics.registry`.

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
