"""Near copies: articles that share most of their word 8-grams, ignoring case, quotes and punctuation.

For shingles and their containment see Broder 1997, "On the resemblance and containment of documents".
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nws.core.article import Article

WORDS = 8
# The share of the smaller article's 8-grams. A copy with other quotes, a prefix or some words cut has some 90 % in
# common with the original, and two articles that quote the same paragraph have less than half.
MOST_SHARED = 0.5
_MARKS = bytes(code for code in range(128) if not re.match(r"\w", chr(code)))
_SPACES = bytes.maketrans(_MARKS, b" " * len(_MARKS))
_POWERS = np.array([pow(0x9E3779B97F4A7C15, i, 2**64) for i in range(WORDS)], dtype=np.uint64)
_THREE, _SEVEN = np.uint64(3), np.uint64(7)
_BITS = np.array([1 << i for i in range(8)], dtype=np.uint8)
Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class NearCopy:
    """Two articles, and the share of the smaller one's 8-grams that are in both, in [0, 1]."""

    first: Article
    second: Article
    shared: float


def near_copies(first: Iterable[Article], second: Iterable[Article]) -> Iterator[NearCopy]:
    """Yield every pair of an article of `first` and one of `second` that share more than `MOST_SHARED`.

    An article of fewer than 8 words is a single n-gram, so it is only a copy of an article with the same words. `first`
    is kept in memory, with some 20 bytes per word, and `second` is read once, article by article.
    """
    index = _Index(first)
    for article in second:
        yield from index.copies_of(article)


def are_near_copies(first: Article, second: Article) -> bool:
    """Return whether two articles share more than `MOST_SHARED`."""
    shingles = _shingles(first.text), _shingles(second.text)
    common = len(np.intersect1d(*shingles, assume_unique=True))
    return common > MOST_SHARED * min(map(len, shingles))


class _Index:
    """The articles by their 8-grams: hashes in ascending order, each with the index of its article.

    Most articles that are looked up share nothing with any other. So a table with 32 to 64 bits per hash says whether
    any hash ends like a given one. If none does, the hashes themselves need not be searched.
    """

    def __init__(self, articles: Iterable[Article]) -> None:
        self._articles = list(articles)
        shingles = [np.unique(_windows(article.text)) for article in self._articles]
        self._sizes = np.array([len(article_hashes) for article_hashes in shingles], dtype=np.int64)
        hashes = np.concatenate(shingles) if shingles else np.empty(0, np.uint64)
        order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[order]
        self._owners = np.repeat(np.arange(len(shingles), dtype=np.int32), self._sizes)[order]
        self._endings = np.zeros(4 << len(hashes).bit_length(), dtype=np.uint8)
        np.bitwise_or.at(self._endings, *self._places(hashes))

    def _places(self, hashes: Hashes) -> tuple[Hashes, npt.NDArray[np.uint8]]:
        """Return the byte and the bit in the table of each hash's ending."""
        return (hashes >> _THREE) & np.uint64(len(self._endings) - 1), _BITS[hashes & _SEVEN]

    def copies_of(self, article: Article) -> Iterator[NearCopy]:
        windows = _windows(article.text)
        byte, bit = self._places(windows)
        candidates = np.unique(windows[self._endings[byte] & bit != 0])
        starts, ends = (np.searchsorted(self._hashes, candidates, side) for side in ("left", "right"))
        known = np.flatnonzero(starts < ends)
        if not len(known):
            return
        size = len(np.unique(windows))
        owners = np.concatenate([self._owners[starts[i] : ends[i]] for i in known])
        for owner, common in zip(*np.unique(owners, return_counts=True), strict=True):
            shared = float(common / min(self._sizes[owner], size))
            if shared > MOST_SHARED:
                yield NearCopy(self._articles[owner], article, shared)


@functools.lru_cache(maxsize=512)  # an article may be compared with many, and many with the same ones
def _shingles(text: str) -> Hashes:
    """Return the distinct hashes of `_windows`."""
    return np.unique(_windows(text))


def plain_words(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores. A regular expression would take twice the time."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if not folded.isascii():
        for mark in {char for char in set(folded) if char > "\x7f" and not char.isalnum()}:
            folded = folded.replace(mark, " ")
    return folded.encode("utf-8", "surrogatepass").translate(_SPACES).decode("utf-8", "surrogatepass").split()


def _windows(text: str) -> Hashes:
    """Return a 64-bit hash of each 8-gram of a text's words, ignoring case and punctuation; none without words."""
    words = plain_words(text)
    if not words:
        return np.empty(0, np.uint64)
    size = min(len(words), WORDS)
    hashes = np.fromiter(map(hash, words), np.int64, count=len(words)).view(np.uint64)
    windows = np.zeros(len(words) - size + 1, dtype=np.uint64)
    for start, power in enumerate(_POWERS[:size]):
        windows += hashes[start : start + len(windows)] * power
    return windows
