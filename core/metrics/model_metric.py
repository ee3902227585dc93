"""Metrics that a model computes: BERTScore, efficiency, fluency and faithfulness.

A run has fluency and faithfulness if its recipe names their models. They are stored like the metrics of plugins, under
their names. Each has a configuration, which is small and says how the numbers were computed, and a scorer, which holds
the model.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeAlias

import torch

from nws.core.arithmetic import find_device, one_thread
from nws.core.errors import RecipeError
from nws.core.metrics.config import MINILM, BertScoreConfig, Options, text_tokenizer, tuned_layer
from nws.core.metrics.metric import PRECISION_RECALL_F1, References, Row, RowMetric, over_references, require_sources
from nws.core.metrics.surface import efficiency_metric
from nws.core.models import LANGUAGE_MODELS, parse_model, resolve_model
from nws.core.text.language import Language
from nws.core.text.tokenizers import EnglishTokenizer
from nws.core.types import Score

if TYPE_CHECKING:  # each imports what its model needs
    from nws.core.metrics.bertscore import BertScorer
    from nws.core.metrics.faithfulness import Faithfulness, FaithfulnessScorer
    from nws.core.metrics.fluency import Fluency, FluencyScorer

ModelMetric: TypeAlias = "Fluency | Faithfulness"
"""The configuration of a metric: its name, model and signature, and whether it compares with the article."""
ModelScorer: TypeAlias = "FluencyScorer | FaithfulnessScorer"
"""A metric with its model loaded. It scores (article, summary) pairs."""


def resolve_model_metric(name: str, model: str, language: Language) -> ModelMetric:
    """Return the configuration of a metric of `nws.core.metrics.specs.BY_MODEL`, with an exact revision of its model.

    Raises:
        ModelError: there is no such model.
        HubError: the Hub cannot tell the commit.
    """
    if name == "fluency":
        from nws.core.metrics.fluency import Fluency

        return Fluency(resolve_model(parse_model(model, LANGUAGE_MODELS)), language)
    from nws.core.metrics.faithfulness import Faithfulness

    return Faithfulness(resolve_model(parse_model(model)), language)


def make_model_metric(name: str, options: Options) -> RowMetric:
    """Make fluency or faithfulness, with the model that the options name.

    The model is loaded when the first rows are scored.

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
    metric = resolve_model_metric(name, model, "ko" if options.lang == "ko" else "en")
    loaded = cache(lambda: metric.load(_device()))

    @one_thread()
    def measure(rows: Sequence[Row]) -> list[float]:
        if metric.needs_article:
            require_sources(name, rows)
        return loaded().score([(row.source or "", row.prediction) for row in rows])

    return RowMetric(name, metric.signature, measure)


def _device() -> torch.device:
    return find_device("cuda" if torch.cuda.is_available() else "cpu")


# Rows whose token vectors are held at a time.
_ROWS_AT_ONCE = 256


def make_bertscore(name: str, options: Options) -> RowMetric:
    """Make BERTScore (precision, recall and F1), or efficiency, which is computed from it.

    Precision, recall and F1 are in [-1, 1], and usually in [0, 1]. The backbone is loaded when the first rows are
    scored. Errors are those of `bertscore_config`.
    """
    config, references = bertscore_config(options), options.references
    signature = config.signature.replace("refs:best-f1", "refs:mean") if references == "mean" else config.signature

    def measure(rows: Sequence[Row]) -> list[tuple[float, float, float]]:
        return [score.values for score in _bertscores(config, references, tuple(rows))]

    bertscore = RowMetric("bertscore", signature, measure, PRECISION_RECALL_F1)
    return efficiency_metric(bertscore) if name == "efficiency" else bertscore


def bertscore_config(options: Options) -> BertScoreConfig:
    """Return the configuration of BERTScore with the backbone and the layer that the options name.

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
    return BertScoreConfig(model, options.bertscore_layer or tuned_layer(model))


@lru_cache(maxsize=2)
def loaded_bertscore(config: BertScoreConfig) -> "BertScorer":
    """Load the scorer of BERTScore with its backbone. Several metrics share it.

    Raises:
        ModelError: the backbone cannot be loaded, or has fewer layers.
    """
    from nws.core.metrics.bertscore import BertScorer

    return BertScorer(config, _device())


@lru_cache(maxsize=1)  # efficiency asks for the scores of the same rows again
@one_thread()
def _bertscores(config: BertScoreConfig, references: References, rows: tuple[Row, ...]) -> list[Score]:
    scorer, scores = loaded_bertscore(config), []
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        batch = rows[start : start + _ROWS_AT_ONCE]
        if references == "best":
            scores += scorer.score([(row.prediction, row.references) for row in batch])
        else:
            of_each = iter(scorer.score([(row.prediction, (text,)) for row in batch for text in row.references]))
            scores += [over_references([next(of_each) for _ in row.references], references) for row in batch]
    return scores
