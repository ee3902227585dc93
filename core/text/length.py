"""How long a summary is, in words or in characters: the only place that says what either takes of its room.

A run has one of these units. A summary of it has at most n words, or at most n characters, and never a part of a word.
"""

import itertools
import unicodedata
from collections.abc import Iterable
from typing import Literal, TypeAlias

from core.text.words import count_words, first_words, word_spans

LengthUnit: TypeAlias = Literal["words", "characters"]


def count_characters(text: str) -> int:
    """Unicode code points of `text` in composed form (NFC), blanks among them: "é" is one, however it is encoded."""
    return len(unicodedata.normalize("NFC", text))


def length_of(text: str, unit: LengthUnit) -> int:
    """How many words or characters a text has."""
    return count_words(text) if unit == "words" else count_characters(text)


def cost(word: str, unit: LengthUnit) -> int:
    """What a word takes of a summary's `room`: itself, or its characters and the blank that parts it from the next."""
    return 1 if unit == "words" else count_characters(word) + 1


def room(n: int, unit: LengthUnit) -> int:
    """How much room a summary of `n` words or characters has. No blank follows its last word."""
    return n if unit == "words" else n + 1


def fitting(words: Iterable[str], left: int, unit: LengthUnit) -> int:
    """How many of the first `words` fit into the room that is left."""
    used = itertools.accumulate(cost(word, unit) for word in words)
    return sum(1 for _ in itertools.takewhile(lambda total: total <= left, used))


def cut(text: str, n: int, unit: LengthUnit) -> str:
    """The first words of `text` that fit into `n` words or characters, joined by single spaces; "" if none does."""
    if unit == "words":
        return first_words(text, n)
    words = [text[start:end] for start, end in itertools.islice(word_spans(text), n)]  # each has a character or more
    return " ".join(words[: fitting(words, room(n, unit), unit)])


def kept_to(text: str, n: int, unit: LengthUnit) -> str:
    """`text` as it is where it fits into `n` words or characters, else `cut`."""
    return text if length_of(text, unit) <= n else cut(text, n, unit)
