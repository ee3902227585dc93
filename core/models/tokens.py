"""Token ids of texts. If no token can extend over a space, a process tokenizes each word only once.

The texts of a sweep have few different words: chunks repeat the words of their sentences, and summaries those of
chunks. A tokenizer like BERT's splits at white space first, so the tokens of a text are those of its words, one after
the other. To look words up takes a ninth of the time.
"""

import functools
import itertools
import json
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from nws.core.models import ModelRef, model_folder

IntArray = npt.NDArray[np.int64]

# all-MiniLM-L6-v2 (BERT's English vocabulary) cannot read 98 to 99 % of the words of six Korean articles, and can read
# all words of 24 English articles. Any share in between tells them apart.
MOST_UNREAD = 0.5
_WORD_START = "▁"  # SentencePiece's sign for a space, which may be a token of its own
# The tokens of this many words take some tens of MB. Then all are dropped, which is rare and costs little.
_MOST_WORDS = 200_000


@dataclass(frozen=True, slots=True)
class Tokens:
    """The model inputs of several texts, one text after the other, with special tokens and without padding.

    Attributes:
        inputs: `input_ids` and, for some tokenizers, `token_type_ids`, each (tokens of all texts,) int64.
        lengths: the number of tokens of each text, (texts,) int64.
    """

    inputs: dict[str, IntArray]
    lengths: IntArray

    def positions(self, batch: Sequence[int]) -> IntArray:
        """Return the indices in `inputs` of the tokens of the texts `batch`, text by text."""
        sizes = self.lengths[batch]
        starts = np.cumsum(self.lengths)[batch] - sizes
        before = np.cumsum(sizes) - sizes
        positions: IntArray = np.arange(sizes.sum()) + np.repeat(starts - before, sizes)
        return positions


def tokenized(tokenizer: Any, texts: Sequence[str], max_length: int, **options: bool) -> Tokens:
    """Tokenize texts into model inputs, cut to `max_length` tokens, in the fastest way.

    Args:
        tokenizer: a tokenizer of transformers.
        texts: any number of texts.
        max_length: the most tokens of a text, including special tokens.
        options: options of the tokenizer's call.
    """
    if not texts:
        return Tokens({"input_ids": np.empty(0, np.int64)}, np.empty(0, np.int64))
    words = None if options or tokenizer.truncation_side != "right" else _words_of(tokenizer)
    if words is not None and max_length >= words.specials:
        return words.tokens(texts, max_length, "token_type_ids" in tokenizer.model_input_names)
    # No mask, which takes time and is not needed without padding.
    encoded = tokenizer(list(texts), truncation=True, max_length=max_length, return_attention_mask=False, **options)
    return joined({name: list(rows) for name, rows in encoded.items()})


def joined(inputs: dict[str, list[list[int]]]) -> Tokens:
    """Join the rows of each input into one array, one text after the other."""
    rows = inputs["input_ids"]
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    total = int(lengths.sum())
    flat = {name: np.fromiter(itertools.chain.from_iterable(ids), np.int64, total) for name, ids in inputs.items()}
    return Tokens(flat, lengths)


@dataclass(slots=True)
class WordIds:
    """The token ids of words, for a tokenizer that tokenizes each word between two spaces by itself.

    Attributes:
        backend: the tokenizer, without truncation and padding.
        before: the special tokens before every text.
        after: the special tokens after every text.
    """

    backend: Tokenizer
    before: list[int]
    after: list[int]
    _ids: dict[str, list[int]] = field(default_factory=dict)

    @property
    def specials(self) -> int:
        """The number of special tokens of every text."""
        return len(self.before) + len(self.after)

    def tokens(self, texts: Sequence[str], max_length: int, with_types: bool) -> Tokens:
        """Return the model inputs of `texts`, cut to `max_length` tokens, which must leave room for special tokens."""
        # Split only at spaces: the tokenizer drops some other white space, and joins the words around it.
        split = [text.split(" ") for text in texts]
        self._learn(split)
        ids, before, after, room = self._ids, self.before, self.after, max_length - self.specials
        rows = []
        for words in split:
            row: list[int] = []
            for word in words:
                row += ids[word]
            rows.append(before + row[:room] + after)
        tokens = joined({"input_ids": rows})
        if with_types:
            tokens.inputs["token_type_ids"] = np.zeros_like(tokens.inputs["input_ids"])
        return tokens

    def _learn(self, split: Sequence[Sequence[str]]) -> None:
        """Tokenize new words."""
        if len(self._ids) > _MOST_WORDS:
            self._ids.clear()
        new = list(set(itertools.chain.from_iterable(split)).difference(self._ids))
        if new:
            encodings = self.backend.encode_batch_fast(new, add_special_tokens=False)
            self._ids.update(zip(new, (encoding.ids for encoding in encodings), strict=True))


def _words_of(tokenizer: Any) -> WordIds | None:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return None if backend is None or tokenizer.split_special_tokens else _word_ids(backend)


@functools.lru_cache(maxsize=64)  # one object for each tokenizer, which remembers its words
def _word_ids(backend: Tokenizer) -> WordIds | None:
    """Make the `WordIds` of a tokenizer; None if a token may extend over a space, or texts have several token types.

    BERT's normalizer handles single characters, its pre-tokenizer splits at white space, and WordPiece works inside the
    parts. Special tokens are found before that, so none of them may contain a space.
    """
    description = json.loads(backend.to_str())
    description.update(truncation=None, padding=None)  # removes those of the last call
    kinds = [(description[part] or {}).get("type") for part in ("normalizer", "pre_tokenizer", "model")]
    if kinds != ["BertNormalizer", "BertPreTokenizer", "WordPiece"]:
        return None
    if any(" " in token["content"] for token in description["added_tokens"]):
        return None
    backend = Tokenizer.from_str(json.dumps(description))
    whole, bare = backend.encode("a a"), backend.encode("a a", add_special_tokens=False)
    start = next((i for i in range(len(whole.ids)) if whole.ids[i : i + len(bare.ids)] == bare.ids), None)
    if start is None or any(whole.type_ids) or len(bare.ids) != 2:
        return None
    return WordIds(backend, whole.ids[:start], whole.ids[start + len(bare.ids) :])


def unread_share(model: ModelRef, texts: Iterable[str]) -> float:
    """Return the share of the distinct words of `texts` that the model's vocabulary does not cover, in [0, 1].

    A word (between spaces, with a letter) is not covered if one of its tokens is unknown, or if it has more tokens than
    characters: the model has learnt no meaning of pieces smaller than a syllable. English vocabularies, and byte-level
    ones without Korean, turn Hangul into such tokens. Only the tokenizer is loaded. The share is 0 for texts without
    words.

    Raises:
        ModelError: the model has no tokenizer that can be loaded.
        HubError: the tokenizer is not in the local cache and the Hub cannot be reached.
    """
    from nws.core.models.loading import load_tokenizer  # imported late, since English articles do not need it

    composed = (unicodedata.normalize("NFC", text) for text in texts)
    words = sorted({word for text in composed for word in text.split() if any(map(str.isalpha, word))})
    tokenizer = load_tokenizer(model_folder(model, with_weights=False))
    return sum(not _is_read(tokenizer, word) for word in words) / max(len(words), 1)


def _is_read(tokenizer: Any, word: str) -> bool:
    # By ids, since SentencePiece's `tokenize` returns the text of an unknown token.
    ids = tokenizer(word, add_special_tokens=False)["input_ids"]
    tokens = [token for token in tokenizer.convert_ids_to_tokens(ids) if token != _WORD_START]
    return tokenizer.unk_token_id not in ids and len(tokens) <= len(word)
