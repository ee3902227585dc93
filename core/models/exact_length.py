"""Decoding of exactly n words with any language model, by a mask of the tokens that may come next.

`nws.core.text.length` defines words. A table has for each token the number of words that it adds to a text that ends
inside a word, and to one that does not, counted by `count_words` itself. So the state of a text has three parts: its
number of words, whether it ends inside a word, and the bytes of an incomplete character.
"""

import codecs
import functools
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from transformers import LogitsProcessor
from transformers.convert_slow_tokenizer import bytes_to_unicode

from nws.core.text.length import count_words

# The lowest score. A token that the checkpoint's other rules forbid is still better than another number of words.
_LOWEST = -1e4
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # SentencePiece's tokens for bytes of characters without a token
# The byte for which each sign of a byte-level vocabulary stands.
_BYTE_SIGNS: dict[str, int] = {sign: byte for byte, sign in bytes_to_unicode().items()}  # type: ignore[no-untyped-call]
_CLOSES = re.compile(r"""[.!?…。！？]["'”’»)\]]*""")
_FIRST_ASCII_END = 0x80
# More tokens than any character has bytes, so that characters are complete before each token has to begin a word.
_MARGIN = 5

# `free`: any token; `whole`: no token that is only a part of a character; `forced`: only tokens that begin a word.
Pace = Literal["free", "whole", "forced"]


@dataclass(frozen=True, slots=True)
class Written:
    """The state of a text that is being generated.

    Attributes:
        words: the number of words, by `count_words`.
        is_inside: whether further letters would belong to the last word.
        begun: the first bytes of a character in UTF-8 whose other bytes are still missing.
    """

    words: int = 0
    is_inside: bool = False
    begun: bytes = b""


class WordTable:
    """The number of words that each token of a tokenizer adds.

    Attributes:
        pieces: the bytes of each token in the middle of a text, in UTF-8; None for a token without a text of its own.
        tokens_per_word: the least number of tokens of a word with the space before it: 1 or 2.
        closes: whether each token is a sign that closes a sentence, (vocabulary,) bool.
        breaks: whether each token shows that the word before it is over, (vocabulary,) bool.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.pieces = token_pieces(tokenizer)
        texts = [_decoded(b"", piece) if piece else None for piece in self.pieces]
        self._is_whole = np.array([text is not None and not text[1] for text in texts])
        self._is_usable = np.array([text is not None and _may_be_written(text[0]) for text in texts])
        self._has_space = np.array([text is not None and any(map(str.isspace, text[0])) for text in texts])
        self._inner = [i for i, piece in enumerate(self.pieces) if piece and 0x80 <= piece[0] < 0xC0]
        effects = [
            [_effect(inside, text[0], bool(text[1])) if text else (0, 0, False) for text in texts]
            for inside in (False, True)
        ]
        # (outside and inside a word, vocabulary): words added, and most words added once the last character is complete
        self._adds, self._adds_at_most, ends_inside = np.array(effects).transpose(2, 0, 1)
        self._ends_inside = ends_inside.astype(bool)
        self.closes = np.array([text is not None and _CLOSES.fullmatch(text[0]) is not None for text in texts])
        # Special tokens and new lines are never generated, but they also show that a word is over.
        self.breaks = np.array([text is None or text[0][:1].isspace() for text in texts])
        self.breaks[self._inner] = False
        is_word = self._is_usable & self._is_whole & (self._adds[1] == 1)
        self.tokens_per_word = 1 if is_word.any() else 2
        self._step = functools.cache(self._make_step)
        self._completions = functools.cache(lambda begun, is_inside: list(self._completion(begun, is_inside)))

    def after(self, written: Written, token: int) -> Written:
        """Return the state of a text after one more token."""
        added, is_inside, begun = self._step(written.is_inside, written.begun, token)
        return Written(written.words + added, is_inside, begun)

    def _make_step(self, is_inside: bool, begun: bytes, token: int) -> tuple[int, bool, bytes]:
        piece = self.pieces[token] if token < len(self.pieces) else None
        if not piece:
            return 0, is_inside, begun
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(begun + piece)
        added, _, ends_inside = _effect(is_inside, text, False)
        return added, ends_inside, decoder.getstate()[0]

    def allowed(self, written: Written, n: int, pace: Pace) -> tuple[np.ndarray, bool]:
        """Return which tokens may come next, (vocabulary,) bool, and whether the text may end.

        An incomplete character that no token completes counts as a sign that is not a letter.
        """
        missing = n - written.words
        if written.begun and (inner := self._completing(written, missing, pace)):
            mask = np.zeros(len(self.pieces), dtype=bool)
            mask[inner] = True
            return mask, False
        if missing < 0 or (missing == 0 and (pace == "forced" or not written.is_inside)):
            return np.zeros(len(self.pieces), dtype=bool), True
        side = int(written.is_inside)
        mask = self._is_usable & (self._adds_at_most[side] <= missing)
        if pace != "free":
            mask &= self._is_whole
        if missing == 0:
            return mask & ~self._has_space, True
        if pace == "forced":
            leaves = ~self._ends_inside[side] & self._has_space if self.tokens_per_word == 2 and side else False
            mask &= (self._adds[side] > 0) | leaves
        return mask, False

    def _completing(self, written: Written, missing: int, pace: Pace) -> list[int]:
        """Return the tokens that may continue an incomplete character."""
        return [
            token
            for token, most, has_space, begins in self._completions(written.begun, written.is_inside)
            if most <= missing and not (missing == 0 and has_space) and not (pace != "free" and begins)
        ]

    def _completion(self, begun: bytes, is_inside: bool) -> Iterator[tuple[int, int, bool, bool]]:
        """Yield the tokens that continue an incomplete character.

        Each comes with the most words that it adds, whether it has a space, and whether it begins another character.
        """
        for token in self._inner:
            text = _decoded(begun, self.pieces[token] or b"")
            if text is not None and _may_be_written(text[0]):
                most = _effect(is_inside, text[0], bool(text[1]))[1]
                yield token, most, any(map(str.isspace, text[0])), bool(text[0] and text[1])


class ExactLength(LogitsProcessor):
    """A processor of scores that lets a text end after exactly n words.

    Before word n no end is allowed, and after it no other word. If only as many tokens are left as the missing words
    need, each token has to begin a word. New lines and control characters are never generated.

    The model decides whether word n is over. The probability of that is the sum of the probabilities of the end and of
    all tokens that would begin another word. Above one half, only the end and signs that close a sentence may follow.
    Otherwise the model would join more words to the last one, since it had no other way to go on.

    The signs and the end share that sum in proportion to their own probabilities. The search is greedy, so rows keep
    their places.

    Args:
        table: the word table of the tokenizer.
        n: the number of words, at least 1.
        ends: the ids of the tokens that end a text.
        limit: the most tokens of a text, including the end.
    """

    def __init__(self, table: WordTable, n: int, ends: Sequence[int], limit: int) -> None:
        self._table = table
        self._n = n
        self._ends = list(ends)
        self._limit = limit
        self._start = -1
        self._states: list[Written] = []
        self._mask = functools.cache(self._make_mask)
        self._ending = functools.cache(self._make_ending)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Turn scores (rows, vocabulary) into scores of the same shape: -inf for tokens that are not allowed."""
        if self._start < 0:
            self._start = input_ids.shape[1]
            self._states = [Written()] * len(input_ids)
        length, last = input_ids.shape[1] - self._start, input_ids[:, -1].tolist()
        if length:
            self._states = list(map(self._table.after, self._states, last))
        rows = self._states
        pace = self._pace(rows, length)
        kinds = list(zip(rows, pace, strict=True))
        unique = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
        masks = torch.stack([self._mask(*kind, scores.shape[1], scores.device) for kind in unique])
        allowed = masks[torch.tensor([unique[kind] for kind in kinds], device=scores.device)]
        for is_closed in (False, True):
            if places := [i for i in range(len(rows)) if self._is_at_last(rows[i], last[i], is_closed)]:
                scores = self._end(scores, allowed, torch.tensor(places, device=scores.device), is_closed)
        return scores.clamp(min=_LOWEST).masked_fill(~allowed, -torch.inf)

    def _pace(self, rows: Sequence[Written], length: int) -> Iterator[Pace]:
        left = self._limit - length
        for written in rows:
            # One more for the end, and one because the current word may have to end first.
            needed = self._table.tokens_per_word * max(0, self._n - written.words) + 2
            yield "forced" if left <= needed else "whole" if left <= needed + _MARGIN else "free"

    def _make_mask(self, written: Written, pace: Pace, width: int, device: torch.device) -> torch.Tensor:
        """Make the mask of a state, (width,) bool. A model may have more scores than its tokenizer has tokens."""
        allowed, may_end = self._table.allowed(written, self._n, pace)
        mask = np.zeros(width, dtype=bool)
        mask[: len(allowed)] = allowed[:width]
        mask[self._ends] = may_end
        return torch.from_numpy(mask).to(device)

    def _is_at_last(self, written: Written, last: int, is_closed: bool) -> bool:
        """Return whether a row has n words, may go on with the last one, and stands after a closing sign or not."""
        if written.words != self._n or not written.is_inside or written.begun:
            return False
        return bool(last < len(self._table.closes) and self._table.closes[last]) == is_closed

    def _end(self, scores: torch.Tensor, allowed: torch.Tensor, places: torch.Tensor, is_closed: bool) -> torch.Tensor:
        """Give the sum to the tokens that end the rows at `places`. Returns the scores; changes `allowed` in place."""
        is_over, is_target = self._ending(is_closed, scores.shape[1], scores.device)
        rows = scores[places]
        over = rows.masked_fill(~is_over, -torch.inf).logsumexp(1, keepdim=True)
        closing = rows.masked_fill(~is_target, -torch.inf).logsumexp(1, keepdim=True)
        goes_on = over <= rows.logsumexp(1, keepdim=True) - math.log(2)
        allowed[places] &= is_target | goes_on
        gain = torch.where(torch.isfinite(over - closing), over - closing, 0.0)
        return scores.index_copy(0, places, torch.where(is_target, rows + gain, rows))

    def _make_ending(self, is_closed: bool, width: int, device: torch.device) -> tuple[torch.Tensor, ...]:
        """Return which tokens show that the last word is over, and which of them may be generated: (width,) bool."""
        size = min(width, len(self._table.closes))
        is_target = np.zeros(width, dtype=bool)
        is_target[:size] = self._table.closes[:size] & (not is_closed)
        is_target[self._ends] = True
        is_over = is_target.copy()
        is_over[:size] |= self._table.breaks[:size]
        return torch.from_numpy(is_over).to(device), torch.from_numpy(is_target).to(device)


def token_pieces(tokenizer: Any) -> list[bytes | None]:
    """Return the bytes in UTF-8 that each token adds in the middle of a text; None for a token without its own text.

    A token for a byte (byte-level BPE, and SentencePiece's `<0xE2>`) is that byte. SentencePiece's tokens for ASCII
    bytes count as having no text, since these characters have other tokens, and a wrong byte in a run of such tokens
    removes all of them.
    """
    anchor = tokenizer("a", add_special_tokens=False)["input_ids"][-1]
    special = set(tokenizer.all_special_ids)
    alone = _decode(tokenizer, [[anchor]])[0]
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    texts = _decode(tokenizer, [[anchor, i] for i in range(len(names))])
    return [
        _piece(name, text[len(alone) :]) if i not in special and text.startswith(alone) else None
        for i, (name, text) in enumerate(zip(names, texts, strict=True))
    ]


def _decode(tokenizer: Any, rows: Sequence[Sequence[int]]) -> list[str]:
    texts: list[str] = tokenizer.batch_decode(rows, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return texts


def _piece(name: str | None, text: str) -> bytes | None:
    if name is None:
        return None
    if match := _BYTE.fullmatch(name):
        byte = int(match[1], 16)
        return bytes([byte]) if byte >= _FIRST_ASCII_END else None
    if "\ufffd" not in text:
        return text.encode() or None
    if all(sign in _BYTE_SIGNS for sign in name):
        return bytes(_BYTE_SIGNS[sign] for sign in name)
    return None


def _decoded(begun: bytes, piece: bytes) -> tuple[str, bytes] | None:
    """Decode bytes into characters and the first bytes of an incomplete character; None if they are not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    try:
        text = decoder.decode(begun + piece)
    except UnicodeDecodeError:
        return None
    rest = decoder.getstate()[0]
    # Python waits for the third byte before it refuses a surrogate.
    return None if rest[:1] == b"\xed" and rest[1:2] >= b"\xa0" else (text, rest)


def _effect(is_inside: bool, text: str, is_begun: bool) -> tuple[int, int, bool]:
    """Return the words that a text adds, the most once its last character is complete, and if it ends in a word."""
    before = "a" if is_inside else ""
    words = count_words(before + text)
    followed = count_words(before + text + "a")
    return words - is_inside, (followed if is_begun else words) - is_inside, followed == words


def _may_be_written(text: str) -> bool:
    """Return whether a text has no new line, no other control character, and no sign for an invalid character."""
    is_printed = not any(sign == "\ufffd" or unicodedata.category(sign) == "Cc" for sign in text)
    return is_printed and text.splitlines() in ([], [text])
