"""Options of the standard metrics, and their signatures. Loads no model library."""

import importlib.metadata
from dataclasses import dataclass

from core.errors import RecipeError
from core.metrics.plugins import PluginMetric
from core.metrics.surface import EFFICIENCY_SIGNATURE, SOURCE_METRICS
from core.models import ModelRef
from core.precision import Precision
from core.text.tokenizers import named_tokenizer


def tuned_layer(model: ModelRef) -> int:
    """The layer of a backbone that follows human judgement best, as bert-score's authors measured.

    Raises:
        RecipeError: they have not measured it.
    """
    if model.name == "all-MiniLM-L6-v2":
        return 6  # the last: bert-score has none for it
    from bert_score.utils import model2layers  # and with it pandas and matplotlib

    layer: int | None = model2layers.get(model.source) or model2layers.get(model.name)
    if layer is None:
        raise RecipeError(f"bert-score has no tuned layer for {model.name}: name one.", settings=("bertscore_layer",))
    return layer


@dataclass(frozen=True, slots=True)
class BertScoreConfig:
    """Options of BERTScore.

    Attributes:
        model: the resolved backbone.
        num_layers: the layer whose output is matched (bert-base-uncased: 9, as tuned by the authors).
        precision: what the backbone computes in; matching is always in float32.
        rescale: rescale with bert-score's own English baseline of that backbone and layer.
    """

    model: ModelRef
    num_layers: int
    rescale: bool = False
    precision: Precision = "float32"

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        return "|".join(
            (
                "bertscore",
                f"model:{self.model}",
                f"layer:{self.num_layers}",
                "idf:no",
                f"rescale:{'bert-score-en' if self.rescale else 'no'}",
                "pairs:one-at-a-time",
                "refs:best-f1",
                f"like:bert-score-{importlib.metadata.version('bert-score')}",
                f"transformers:{importlib.metadata.version('transformers')}",
                *([] if self.precision == "float32" else [f"precision:{self.precision}"]),
            )
        )


@dataclass(frozen=True, slots=True)
class RougeConfig:
    """The ROUGE of the study's tables.

    Attributes:
        stemmer: Porter's, which works with `rouge_score`'s tokenizer only.
        tokenizer: one of `TOKENIZERS`.
    """

    stemmer: bool = False
    tokenizer: str = "rouge_score"

    @property
    def signature(self) -> str:
        """Every option that changes the numbers.

        Raises:
            RecipeError: no such tokenizer, or a stemmer for another tokenizer than `rouge_score`'s.
            TokenizerError: a package or the Java that the tokenizer needs is missing.
        """
        tokenizer = named_tokenizer(self.tokenizer, self.stemmer)
        stem = "porter" if self.stemmer else "no"
        options = f"stem:{stem}|tok:rouge_score" if self.tokenizer == "rouge_score" else tokenizer.signature
        return f"rouge|{options}|refs:best-f1|version:{rouge_score_version()}"


def rouge_score_version() -> str:
    """The options as they stand in signatures."""
    return f"rouge_score-{importlib.metadata.version('rouge_score')}"


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """Options of the standard metrics, and the metrics of plugins."""

    bertscore: BertScoreConfig
    rouge: RougeConfig
    plugins: tuple[PluginMetric, ...] = ()

    @property
    def signatures(self) -> dict[str, str]:
        """For each metric, every option that changes its numbers."""
        return {
            "bertscore": self.bertscore.signature,
            "rouge": self.rouge.signature,
            "efficiency": EFFICIENCY_SIGNATURE,
            **{metric.name: metric.signature for metric in SOURCE_METRICS},
            **{metric.name: metric.signature for metric in self.plugins},
        }
