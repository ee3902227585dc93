"""Whether a model's vocabulary covers a text. An English one turns Hangul into unknown tokens or single letters."""

import unicodedata
from collections.abc import Iterable
from typing import Any

from core.models import ModelRef, tokenizer_folder

# Of the words of six Korean articles, all-MiniLM-L6-v2 (BERT's English vocabulary) leaves 98 to 99 % unread, of
# 24 English articles none: anything between would tell them apart.
MOST_UNREAD = 0.5
_WORD_START = "▁"  # SentencePiece writes a space so, and sometimes as a token of its own


def unread_share(model: ModelRef, texts: Iterable[str]) -> float:
    """Share of the distinct words of `texts` that the model cannot tell apart from others, in [0, 1].

    A word (between spaces, with a letter) is unread if a token of it is unknown, or if it has more tokens than
    characters: pieces smaller than a syllable carry no meaning that was learnt. Byte-level vocabularies without Korean
    do that, too. Only the tokenizer is loaded. 0 for texts without words.

    Raises:
        ModelError: the model has no tokenizer that can be loaded.
        HubError: the tokenizer is not in the local cache and the Hub cannot be reached.
    """
    from core.transformer import load_tokenizer  # English articles need not wait for transformers

    composed = (unicodedata.normalize("NFC", text) for text in texts)
    words = sorted({word for text in composed for word in text.split() if any(map(str.isalpha, word))})
    tokenizer = load_tokenizer(tokenizer_folder(model))
    return sum(not _is_read(tokenizer, word) for word in words) / max(len(words), 1)


def _is_read(tokenizer: Any, word: str) -> bool:
    # By their ids: SentencePiece's `tokenize` gives an unknown token as it stands in the text.
    ids = tokenizer(word, add_special_tokens=False)["input_ids"]
    tokens = [token for token in tokenizer.convert_ids_to_tokens(ids) if token != _WORD_START]
    return tokenizer.unk_token_id not in ids and len(tokens) <= len(word)
