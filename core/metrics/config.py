"""Options of metrics: `Options` for any metric, and configurations of BERTScore and ROUGE, which every run stores.

This module loads no model library.
"""

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
# A lookup takes a millisecond, and each signature needs some.
_version = functools.cache(importlib.metadata.version)


@dataclass(frozen=True, slots=True)
class Options:
    """Options of metrics. Each metric takes those that concern it, and its signature names them.

    Attributes:
        stemmer: whether ROUGE compares Porter stems (English only).
        references: how several references count: the best one, or their mean. BLEU, SacreBLEU, chrF and the DialogSum
            score have their own rule.
        lang: the language of the texts, `en` or `ko`; None means `en`.
        tokenizer: one of `nws.core.text.tokenizers.TOKENIZERS`; None means the default of `lang`.
        bertscore_model: the backbone of BERTScore: a known name, a folder, or a Hub id.
        bertscore_layer: the layer whose vectors are matched; None means the best one (`tuned_layer`).
        fluency_model: the causal language model of `fluency`, named like `bertscore_model`; there is no default.
        faithfulness_model: the NLI model of `faithfulness`, named likewise; there is no default.

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
    """Return the tokenizer of ROUGE. It must fit the language of the texts (`nws.core.text.language.check_language`).

    Raises:
        RecipeError: there is no such language or tokenizer, or a stemmer is asked of a tokenizer other than
            rouge_score.
        NwsError: something that the tokenizer needs is not installed.
    """
    if options.lang not in (None, *DEFAULT_TOKENIZERS):
        raise RecipeError(f"There is no language {options.lang!r}: give one of {', '.join(DEFAULT_TOKENIZERS)}.")
    return named_tokenizer(options.tokenizer or DEFAULT_TOKENIZERS[options.lang or "en"], options.stemmer)


def tuned_layer(model: ModelRef) -> int:
    """Return the layer of a backbone that agrees best with human judgment, as measured by bert-score's authors.

    Raises:
        RecipeError: they have not measured this backbone.
    """
    if model.name == MINILM:
        return 6  # the last layer, since bert-score has no tuned layer for this backbone
    from bert_score.utils import model2layers  # imports pandas and matplotlib

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
        precision: the number format in which the backbone computes; tokens are always matched in float32.
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
    """Options of the ROUGE that the study's tables have.

    Attributes:
        stemmer: whether Porter stems are compared, which works only with the tokenizer of `rouge_score`.
        tokenizer: one of `TOKENIZERS`.
    """

    stemmer: bool = False
    tokenizer: str = "rouge_score"

    @property
    def signature(self) -> str:
        """Every option that changes the numbers.

        Raises:
            RecipeError: there is no such tokenizer, or a stemmer is asked of a tokenizer other than `rouge_score`'s.
            NwsError: a package or the Java that the tokenizer needs is missing.
        """
        tokenizer = named_tokenizer(self.tokenizer, self.stemmer)
        stem = "porter" if self.stemmer else "no"
        options = f"stem:{stem}|tok:rouge_score" if self.tokenizer == "rouge_score" else tokenizer.signature
        return f"rouge|{options}|refs:best-f1|version:{rouge_score_version()}"


def rouge_score_version() -> str:
    """Return name and version of the library `rouge_score`, as signatures have them."""
    return f"rouge_score-{_version('rouge_score')}"
