"""Options of metrics, and the tokenizer that follows from them."""

from dataclasses import dataclass
from typing import get_args

from core.errors import RecipeError
from core.metrics.pairs import References
from core.text.tokenizers import Tokenizer, choose_tokenizer

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


def text_tokenizer(options: Options) -> Tokenizer:
    """The tokenizer of ROUGE, which must fit the language of the texts (`core.text.language.check_language`).

    Raises:
        RecipeError: no such language or tokenizer, or a stemmer for another tokenizer than rouge_score.
        TokenizerError: what the tokenizer needs is not installed.
    """
    return choose_tokenizer(options.lang, options.tokenizer, options.stemmer)
