"""Every metric by its name."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

from core.device import find_device
from core.did_you_mean import did_you_mean
from core.errors import RecipeError
from core.metrics.bleu import MTEVAL, Bleu
from core.metrics.chrf import CHRF_PLUS_PLUS_WORDS, Chrf
from core.metrics.common_substring import NAME as COMMON_SUBSTRING
from core.metrics.common_substring import common_substring
from core.metrics.dialogsum import DialogSum
from core.metrics.meteor import Meteor
from core.metrics.metric import Metric
from core.metrics.pairs import References
from core.metrics.rouge import rouge
from core.metrics.sacrebleu_score import SacreBleu, korean_tokenizer
from core.metrics.skip_bigram import DEFAULT_GAP, skip_bigram
from core.metrics.surface import SOURCE_METRICS, Efficiency
from core.text.tokenizers import CharTokenizer, EnglishTokenizer, Tokenizer, choose_tokenizer
from core.text.wordnet import find_wordnet

MINILM = "all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of metrics. Each metric takes those that concern it, and its signature names them.

    Attributes:
        stemmer: ROUGE compares Porter stems (English only).
        references: how several references count: the best one, or their mean. BLEU, SacreBLEU, chrF and the DialogSum
            score have their own rule.
        lang: `en` or `ko`.
        tokenizer: one of `core.text.tokenizers.TOKENIZERS`; the default of `lang` if not given.
        bertscore_model: backbone of BERTScore: a known name, a folder, or a Hub id.
        bertscore_layer: the layer that is matched; if not given, the one that its authors or bert-score's tuned.
        bertscore_idf: BERTScore weighs tokens by how rare they are in the references that are scored.
        bertscore_batched: BERTScore in the padded batches of the library bert_score, as published tables have it.

    Raises:
        RecipeError: `references` is neither `best` nor `mean`.
    """

    stemmer: bool = False
    references: References = "best"
    lang: str = "en"
    tokenizer: str | None = None
    bertscore_model: str = MINILM
    bertscore_layer: int | None = None
    bertscore_idf: bool = False
    bertscore_batched: bool = False

    def __post_init__(self) -> None:
        if self.references not in get_args(References):
            raise RecipeError(f"References count as {' or '.join(get_args(References))}, not {self.references!r}.")


Factory = Callable[[Options], Metric]


def text_tokenizer(options: Options) -> Tokenizer:
    """The tokenizer of ROUGE, which must fit the language of the texts (`core.text.language.check_language`).

    Raises:
        RecipeError: no such language or tokenizer, or a stemmer for another tokenizer than rouge_score.
        TokenizerError: what the tokenizer needs is not installed.
    """
    return choose_tokenizer(options.lang, options.tokenizer, options.stemmer)


def _rouge(variant: str) -> Factory:
    return lambda options: rouge(variant, text_tokenizer(options), options.references)


def _skip_bigram(gap: int | None, unigrams: bool) -> Factory:
    return lambda options: skip_bigram(gap, unigrams, text_tokenizer(options), options.references)


def _common_substring(options: Options) -> Metric:
    return common_substring(text_tokenizer(options), options.references)


def _bleu(name: str, order: int) -> Factory:
    return lambda options: Bleu(name, order, _translation_tokenizer(options))


def _translation_tokenizer(options: Options) -> Tokenizer:
    """Metrics of machine translation keep case and punctuation in English: 13a. Other languages have one tokenizer."""
    chosen = text_tokenizer(options)
    return MTEVAL if isinstance(chosen, EnglishTokenizer) else chosen


def _sacrebleu(options: Options) -> Metric:
    chosen = text_tokenizer(options)
    if isinstance(chosen, EnglishTokenizer):
        return SacreBleu("13a")
    return SacreBleu("char" if isinstance(chosen, CharTokenizer) else korean_tokenizer())


def _meteor(options: Options) -> Metric:
    tokenizer = _translation_tokenizer(options)
    if tokenizer is MTEVAL:
        return Meteor(options.references, stem=True, wordnet=find_wordnet(), tokenizer=tokenizer)
    return Meteor(options.references, stem=False, wordnet=None, tokenizer=tokenizer)


@lru_cache(maxsize=1)
def _bertscore(options: Options) -> Metric:
    """The same object for the same options: its backbone is loaded, and rows are embedded, once."""
    # PyTorch and transformers take seconds to import, and no other metric needs them.
    import torch

    from core.metrics.bertscore_batched import BatchedBertScore
    from core.metrics.bertscore_metric import BertScore
    from core.metrics.config import BertScoreConfig, tuned_layer
    from core.models import parse_model, resolve_model

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


def _dialogsum(options: Options) -> Metric:
    tokenizer = text_tokenizer(options)
    return DialogSum((rouge("rouge1", tokenizer), rouge("rouge2", tokenizer), rouge("rougeL", tokenizer)))


def _source_metric(metric: Metric) -> Factory:
    return lambda options: metric


METRICS: Mapping[str, Factory] = {
    "rouge1": _rouge("rouge1"),
    "rouge2": _rouge("rouge2"),
    "rouge3": _rouge("rouge3"),
    "rougeL": _rouge("rougeL"),
    "rougeLsum": _rouge("rougeLsum"),
    "rougeS": _skip_bigram(DEFAULT_GAP, unigrams=False),
    "rougeS4": _skip_bigram(4, unigrams=False),
    "rougeS*": _skip_bigram(None, unigrams=False),
    "rougeSU": _skip_bigram(DEFAULT_GAP, unigrams=True),
    "rougeSU4": _skip_bigram(4, unigrams=True),
    "rougeSU*": _skip_bigram(None, unigrams=True),
    COMMON_SUBSTRING: _common_substring,
    "bleu": _bleu("bleu", 4),
    **{f"bleu{order}": _bleu(f"bleu{order}", order) for order in (1, 2, 3, 4)},
    "sacrebleu": _sacrebleu,
    "chrf": lambda options: Chrf("chrf"),
    "chrf++": lambda options: Chrf("chrf++", CHRF_PLUS_PLUS_WORDS),
    "meteor": _meteor,
    "bertscore": _bertscore,
    "efficiency": lambda options: Efficiency(_bertscore(options)),
    **{metric.name: _source_metric(metric) for metric in SOURCE_METRICS},
    "dialogsum": _dialogsum,
}
NEED_SOURCE = tuple(metric.name for metric in SOURCE_METRICS)
NEED_BACKBONE = ("bertscore", "efficiency")


def make_metric(name: str, options: Options | None = None) -> Metric:
    """The metric of a name in `METRICS`; besides these rougeN for any N, and rougeSN and rougeSUN for any gap N.

    Raises:
        RecipeError: no such metric, or options that do not go together.
        TokenizerError: what the tokenizer needs is not installed.
        ModelError: BERTScore's backbone cannot be found.
    """
    factory = METRICS.get(name) or _by_pattern(name)
    if factory is None:
        raise RecipeError(
            f"There is no metric {name!r}. The metrics are {', '.join(METRICS)}, besides rougeN for any N, and rougeSN "
            f"and rougeSUN for any gap N.{did_you_mean(name, METRICS)}"
        )
    return factory(options or Options())


def is_metric(name: str) -> bool:
    """Whether `make_metric` knows it."""
    return name in METRICS or _by_pattern(name) is not None


def _by_pattern(name: str) -> Factory | None:
    if re.fullmatch(r"rouge[1-9][0-9]*", name):
        return _rouge(name)
    if match := re.fullmatch(r"rougeS(U?)([0-9]+)", name):
        return _skip_bigram(int(match[2]), unigrams=bool(match[1]))
    return None
