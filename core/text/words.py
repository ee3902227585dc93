"""What a word is: the only place with the rule by which every summary is counted and cut; and how rare tokens are."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

# A token with a letter or digit, in the first group; or any other, whole, so that nothing is looked at twice.
_TOKEN = re.compile(r"((?:(?!\s)[\W_])*+[^\W_]\S*)|\S+")
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")


def word_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the words of `text`, in order.

    A word is a whitespace-separated token with at least one letter or digit: "state-of-the-art," is one word,
    "--" is none.
    """
    return [m.span() for m in _TOKEN.finditer(text) if m.lastindex]


def count_words(text: str) -> int:
    return sum(map(bool, _TOKEN.findall(text)))  # of each token the first group, which is empty unless it is a word


def first_words(text: str, n: int) -> str:
    """The first `n` words of `text` (all of them if it has fewer), joined by single spaces."""
    words = (m.group() for m in _TOKEN.finditer(text) if m.lastindex)
    return " ".join(itertools.islice(words, n))


def repeated_word_share(text: str) -> float:
    """Share of the words of `text` that occurred earlier in it, from 0 to below 1; 0 for fewer than two words.

    Words are compared case-folded and without the punctuation around them: "The" repeats
    "the", and "cat," repeats "cat". Stop words count like all others, so compare at equal n, and with a text that is
    known to be good: a policy that is rewarded for keywords tends to repeat them.
    """
    words = [_AROUND.sub("", text[start:end]).casefold() for start, end in word_spans(text)]
    return 1 - len(set(words)) / len(words) if words else 0.0


Token = TypeVar("Token", bound=Hashable)


def idf_of(texts: Sequence[AbstractSet[Token]]) -> dict[Token, float]:
    """The idf of each token that occurs: for one in c of N texts, ln((N + 1) / (c + 1))."""
    counts = Counter(token for tokens in texts for token in tokens)
    return {token: math.log((len(texts) + 1) / (count + 1)) for token, count in counts.items()}
