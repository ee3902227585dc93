"""Options of metrics: of any by `Options`, and of those that every run stores. Loads no model library."""

import functools
import importlib.metadata
from dataclasses import dataclass
from typing import get_args

from nws.core.errors import RecipeError
from nws.core.metrics.metric import References
from nws.core.models import ModelRef
from nws.core.text.tokenizers import DEFAULT_TOKENIZERS, Tokenizer, named_tokenizer
from nws.core.types import Precision

MINILM = "all-MiniLM-L6-v2"
# Each signature has some, and a version is looked up in a millisecond.
_version = functools.cache(importlib.metadata.version)


@dataclass(frozen=True, slots=True)
class Options:
    """Options of metrics. Each metric takes those that concern it, and its signature names them.

    Attributes:
        stemmer: ROUGE compares Porter stems (English only).
        references: how several references count: the best one, or their mean. BLEU, SacreBLEU, chrF and the DialogSum
            score have their own rule.
        lang: `en` or `ko`; `en` if not given.
        tokenizer: one of `nws.core.text.tokenizers.TOKENIZERS`; the default of `lang` if not given.
        bertscore_model: backbone of BERTScore: a known name, a folder, or a Hub id.
        bertscore_layer: the layer that is matched; if not given, the one that its authors or bert-score's tuned.
        fluency_model: the causal language model of `fluency`, as `bertscore_model`; it has no default.
        faithfulness_model: the NLI model of `faithfulness`; it has no default.

    Raises:
        RecipeError: `references` is neither `best` nor `mean`.
    """

    stemmer: bool = False
    references: References = "best"
    lang: str | None = None
    tokenizer: str | None = None
    bertscore_model: str = MINILM
    bertscore_layer: int | None = None
    fluency_model: str | None = None
    faithfulness_model: str | None = None

    def __post_init__(self) -> None:
        if self.references not in get_args(References):
            raise RecipeError(f"References count as {' or '.join(get_args(References))}, not {self.references!r}.")


def text_tokenizer(options: Options) -> Tokenizer:
    """The tokenizer of ROUGE, which must fit the language of the texts (`nws.core.text.language.check_language`).

    Raises:
        RecipeError: no such language or tokenizer, or a stemmer for another tokenizer than rouge_score.
        NwsError: what the tokenizer needs is not installed.
    """
    if options.lang not in (None, *DEFAULT_TOKENIZERS):
        raise RecipeError(f"There is no language {options.lang!r}: give one of {', '.join(DEFAULT_TOKENIZERS)}.")
    return named_tokenizer(options.tokenizer or DEFAULT_TOKENIZERS[options.lang or "en"], options.stemmer)


def tuned_layer(model: ModelRef) -> int:
    """The layer of a backbone that follows human judgement best, as bert-score's authors measured.

    Raises:
        RecipeError: they have not measured it.
    """
    if model.name == MINILM:
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
    """

    model: ModelRef
    num_layers: int
    precision: Precision = "float32"

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        precision = "" if self.precision == "float32" else f"|precision:{self.precision}"
        return (
            f"bertscore|model:{self.model}|layer:{self.num_layers}|idf:no|rescale:no|pairs:one-at-a-time|refs:best-f1"
            f"|like:bert-score-{_version('bert-score')}|transformers:{_version('transformers')}{precision}"
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
            NwsError: a package or the Java that the tokenizer needs is missing.
        """
        tokenizer = named_tokenizer(self.tokenizer, self.stemmer)
        stem = "porter" if self.stemmer else "no"
        options = f"stem:{stem}|tok:rouge_score" if self.tokenizer == "rouge_score" else tokenizer.signature
        return f"rouge|{options}|refs:best-f1|version:{rouge_score_version()}"


def rouge_score_version() -> str:
    """The options as they stand in signatures."""
    return f"rouge_score-{_version('rouge_score')}"
