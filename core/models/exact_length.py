"""Exactly n words from any language model: which tokens it may write next, so that the words come out as counted.

A word is what `core.text.words` says. Of each token it is known how many words it adds to a text that stands inside a
word, or outside of one; what a token adds is counted by `count_words` itself. A text so far is then three things: how
many words it has, whether it stands inside a word, and the bytes of a character that is not whole yet.
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

from core.text.words import count_words

# Scores below it rise to it: what other rules of the checkpoint forbid is still better than another number of words.
_LOWEST = -1e4
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # of SentencePiece, for what has no piece of its own
# The byte that each sign of a byte-level vocabulary stands for.
_BYTE_SIGNS: dict[str, int] = {sign: byte for byte, sign in bytes_to_unicode().items()}  # type: ignore[no-untyped-call]
_CLOSES = re.compile(r"""[.!?…。！？]["'”’»)\]]*""")
_FIRST_ASCII_END = 0x80
# More tokens than any character has bytes, so that one that was begun is whole before words have to be hurried.
_MARGIN = 5
_CHUNK = 8_192

# `free`; `whole`: no character is begun that takes several tokens; `forced`: each token brings the next word nearer.
Pace = Literal["free", "whole", "forced"]


@dataclass(frozen=True, slots=True)
class Written:
    """What is known of a text so far.

    Attributes:
        words: as `count_words` counts them.
        is_inside: more letters would belong to its last word.
        begun: the first bytes of a character in UTF-8 of which others are to come.
    """

    words: int = 0
    is_inside: bool = False
    begun: bytes = b""


class WordTable:
    """What each token of a tokenizer does to the number of words.

    Attributes:
        pieces: of each token its bytes in the middle of a text, UTF-8; None: no text, or nobody can tell which.
        tokens_per_word: how many tokens the next word takes at least, its space included: 1 or 2.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.pieces = token_pieces(tokenizer)
        texts = [_decoded(b"", piece) if piece else None for piece in self.pieces]
        self._is_whole = np.array([text is not None and not text[1] for text in texts])
        self._is_usable = np.array([text is not None and _may_be_written(text[0]) for text in texts])
        self._has_space = np.array([text is not None and any(map(str.isspace, text[0])) for text in texts])
        self._inner = [i for i, piece in enumerate(self.pieces) if piece and 0x80 <= piece[0] < 0xC0]
        effects = [
            [_effect(bool(inside), text[0], bool(text[1])) if text else (0, 0, False) for text in texts]
            for inside in (0, 1)
        ]
        # (outside and inside of a word, vocabulary): words added, words added at most once the last character is whole
        self._adds, self._adds_at_most, self._ends_inside = (
            np.array([[effect[i] for effect in row] for row in effects]) for i in range(3)
        )
        self.closes = np.array([text is not None and _CLOSES.fullmatch(text[0]) is not None for text in texts])
        # After it the word that was written is over; special tokens and new lines, which are never written, too.
        self.breaks = np.array([text is None or text[0][:1].isspace() for text in texts])
        self.breaks[self._inner] = False
        one = self._is_usable & self._is_whole & (self._adds[1] == 1)
        self.tokens_per_word = 1 if one.any() else 2
        self._step = functools.cache(self._make_step)
        self._completions = functools.cache(lambda begun, is_inside: list(self._completion(begun, is_inside)))

    def after(self, written: Written, token: int) -> Written:
        """What is known when `token` was added."""
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
        """Which tokens may come next, (vocabulary,) bool, and whether the text may end.

        Where no token completes a character that was begun, it is taken for a sign that is no letter.
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
        """Tokens that go on with the character that was begun."""
        return [
            token
            for token, most, has_space, begins in self._completions(written.begun, written.is_inside)
            if most <= missing and not (missing == 0 and has_space) and not (pace != "free" and begins)
        ]

    def _completion(self, begun: bytes, is_inside: bool) -> Iterator[tuple[int, int, bool, bool]]:
        """Tokens that go on with a character: words that each adds at most, has it a space, does it begin another."""
        for token in self._inner:
            text = _decoded(begun, self.pieces[token] or b"")
            if text is not None and _may_be_written(text[0]):
                most = _effect(is_inside, text[0], bool(text[1]))[1]
                yield token, most, any(map(str.isspace, text[0])), bool(text[0] and text[1])


class ExactLength(LogitsProcessor):
    """Lets a model end after exactly n words, and not before.

    Before word n is there no end is allowed, and after it no other word. Where the tokens left are no more than the
    words that are missing need, each has to begin one. New lines and control characters are never written.

    Whether word n is over, the model says: the probability of that is the sum over the end and all tokens that would
    begin another word. Above one half, nothing but signs that close a sentence and the end may follow. Without this
    the model would join more words to the last one, since no other way is left to go on.

    A greedy search chooses among the two and the letters that would go on with the word, and the sum falls to them in
    their own proportion. Of several beams the probabilities stay as they are: so texts are preferred in which a
    sentence ends there.

    Args:
        table: of the tokenizer.
        n: number of words, at least 1.
        ends: ids of the tokens that end a text.
        limit: number of tokens that may be written, an end included.
        is_greedy: whether there is one beam.
    """

    def __init__(self, table: WordTable, n: int, ends: Sequence[int], limit: int, is_greedy: bool) -> None:
        self._table = table
        self._n = n
        self._ends = list(ends)
        self._limit = limit
        self._is_greedy = is_greedy
        self._start = -1
        self._known: dict[bytes, Written] = {}
        self._mask = functools.cache(self._make_mask)
        self._ending = functools.cache(self._make_ending)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """From scores (rows, vocabulary) to scores of the same shape; of what is not allowed, -inf."""
        if self._start < 0:
            self._start = input_ids.shape[1]
        tokens = input_ids[:, self._start :].cpu().numpy()
        rows = self._follow(tokens)
        pace = self._pace(rows, tokens.shape[1])
        kinds = list(zip(rows, pace, strict=True))
        unique = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
        masks = torch.stack([self._mask(*kind, scores.shape[1], scores.device) for kind in unique])
        allowed = masks[torch.tensor([unique[kind] for kind in kinds], device=scores.device)]
        for is_closed in (False, True):
            if places := [i for i in range(len(rows)) if self._is_at_last(rows[i], tokens[i], is_closed)]:
                scores = self._end(scores, allowed, torch.tensor(places, device=scores.device), is_closed)
        return scores.clamp(min=_LOWEST).masked_fill(~allowed, -torch.inf)

    def _follow(self, tokens: np.ndarray) -> list[Written]:
        """What is known of each row (rows, tokens). Beams change places, so rows are known by what they hold."""
        known: dict[bytes, Written] = {}
        for row in tokens:
            key = row.tobytes()
            if key in known:
                continue
            before = self._known.get(key[: -row.itemsize]) if len(row) else Written()
            if before is not None:
                known[key] = self._table.after(before, int(row[-1])) if len(row) else before
            else:
                known[key] = functools.reduce(self._table.after, map(int, row), Written())
        self._known = known
        return [known[row.tobytes()] for row in tokens]

    def _pace(self, rows: Sequence[Written], length: int) -> Iterator[Pace]:
        left = self._limit - length
        for written in rows:
            # And one for the end, and one since a word may be left first.
            needed = self._table.tokens_per_word * max(0, self._n - written.words) + 2
            yield "forced" if left <= needed else "whole" if left <= needed + _MARGIN else "free"

    def _make_mask(self, written: Written, pace: Pace, width: int, device: torch.device) -> torch.Tensor:
        allowed, may_end = self._table.allowed(written, self._n, pace)
        mask = np.zeros(width, dtype=bool)  # a model may have more scores than its tokenizer has tokens
        mask[: len(allowed)] = allowed[:width]
        mask[self._ends] = may_end
        return torch.from_numpy(mask).to(device)

    def _is_at_last(self, written: Written, tokens: np.ndarray, is_closed: bool) -> bool:
        """Whether a row has n words and may go on with the last one, and a sign that closes a sentence or none."""
        if written.words != self._n or not written.is_inside or written.begun:
            return False
        last = int(tokens[-1])
        return bool(last < len(self._table.closes) and self._table.closes[last]) == is_closed

    def _end(self, scores: torch.Tensor, allowed: torch.Tensor, places: torch.Tensor, is_closed: bool) -> torch.Tensor:
        """Scores of rows that have n words, (rows, vocabulary), for all that may end them; `allowed` is changed."""
        is_over, is_target = self._ending(is_closed, scores.shape[1], scores.device)
        rows = scores[places]
        over = rows.masked_fill(~is_over, -torch.inf).logsumexp(1, keepdim=True)
        closing = rows.masked_fill(~is_target, -torch.inf).logsumexp(1, keepdim=True)
        goes_on = over <= rows.logsumexp(1, keepdim=True) - math.log(2)
        allowed[places] &= is_target | goes_on
        if not self._is_greedy:
            return scores
        gain = torch.where(torch.isfinite(over - closing), over - closing, 0.0)
        return scores.index_copy(0, places, torch.where(is_target, rows + gain, rows))

    def _make_ending(self, is_closed: bool, width: int, device: torch.device) -> tuple[torch.Tensor, ...]:
        """Which tokens would show that the last word is over, and which of them may be written; (vocabulary,) each."""
        size = min(width, len(self._table.closes))
        is_target = np.zeros(width, dtype=bool)
        is_target[:size] = self._table.closes[:size] & (not is_closed)
        is_target[self._ends] = True
        is_over = is_target.copy()
        is_over[:size] |= self._table.breaks[:size]
        return torch.from_numpy(is_over).to(device), torch.from_numpy(is_target).to(device)


def token_pieces(tokenizer: Any) -> list[bytes | None]:
    """What each token adds to a text in whose middle it stands, in UTF-8; None: it has no text of its own.

    A byte of a character (byte-level BPE, and SentencePiece's `<0xE2>`) is that byte. SentencePiece's bytes that are
    characters by themselves have pieces of their own: they count as none, since in a run of such tokens one byte that
    is wrong takes all of them away.
    """
    anchor = tokenizer("a", add_special_tokens=False)["input_ids"][-1]
    special = set(tokenizer.all_special_ids)
    alone = _decode(tokenizer, [[anchor]])[0]
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    pieces: list[bytes | None] = []
    for start in range(0, len(names), _CHUNK):
        ids = range(start, min(start + _CHUNK, len(names)))
        for i, text in zip(ids, _decode(tokenizer, [[anchor, i] for i in ids]), strict=True):
            is_text = i not in special and text.startswith(alone)
            pieces.append(_piece(names[i], text[len(alone) :]) if is_text else None)
    return pieces


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
    """The characters of some bytes, and the first bytes of one that is not whole; None: they are no UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    try:
        text = decoder.decode(begun + piece)
    except UnicodeDecodeError:
        return None
    rest = decoder.getstate()[0]
    # Python waits for the third byte before it refuses a surrogate.
    return None if rest[:1] == b"\xed" and rest[1:2] >= b"\xa0" else (text, rest)


def _effect(is_inside: bool, text: str, is_begun: bool) -> tuple[int, int, bool]:
    """The words that `text` adds, those that it may have added once its last character is whole, and where it ends."""
    before = "a" if is_inside else ""
    words = count_words(before + text)
    followed = count_words(before + text + "a")
    return words - is_inside, (followed if is_begun else words) - is_inside, followed == words


def _may_be_written(text: str) -> bool:
    """Not new lines, other control characters, or the sign for what is no character."""
    is_printed = not any(sign == "\ufffd" or unicodedata.category(sign) == "Cc" for sign in text)
    return is_printed and text.splitlines() in ([], [text])
