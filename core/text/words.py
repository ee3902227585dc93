"""What a word is: the one place that owns the rule by which every summary is counted and cut."""

import itertools
import re
from collections.abc import Iterator

_TOKEN = re.compile(r"\S+")


def word_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the words of `text`, in order.

    A word is a whitespace-separated token with at least one letter or digit: "state-of-the-art," is one word,
    "--" is none.
    """
    return list(_word_spans(text))


def _word_spans(text: str) -> Iterator[tuple[int, int]]:
    return (m.span() for m in _TOKEN.finditer(text) if any(char.isalnum() for char in m.group()))


def count_words(text: str) -> int:
    return len(word_spans(text))


def first_words(text: str, n: int) -> str:
    """The first `n` words of `text` (all of them if it has fewer), joined by single spaces."""
    return " ".join(text[start:end] for start, end in itertools.islice(_word_spans(text), n))
