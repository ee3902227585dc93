"""Near copies: articles that share most of their word 8-grams, whatever their case, quotes and punctuation.

Shingles and their containment are those of Broder 1997, "On the resemblance and containment of documents".
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.types import Article

WORDS = 8
# Of the smaller article's 8-grams. A copy with other quotes, a prefix or some words cut has some 90 % in common with
# the original; two articles that quote one paragraph stay below.
MOST_SHARED = 0.5
_WORD = re.compile(r"\w+")
_POWERS = np.array([pow(0x9E3779B97F4A7C15, i, 2**64) for i in range(WORDS)], dtype=np.uint64)
Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class NearCopy:
    """Two articles and the share of the smaller one's 8-grams that both have, in [0, 1]."""

    first: Article
    second: Article
    shared: float


def near_copies(first: Iterable[Article], second: Iterable[Article]) -> Iterator[NearCopy]:
    """Every pair of an article of `first` and one of `second` that share more than `MOST_SHARED`.

    An article of fewer than 8 words is a single n-gram: it is a copy only of one with the same words. `first` is held
    in memory, with 16 bytes for each word; `second` is read once, article by article.
    """
    index = _Index(first)
    for article in second:
        yield from index.copies_of(article)


def are_near_copies(first: Article, second: Article) -> bool:
    """Whether two articles share more than `MOST_SHARED`."""
    shingles = _shingles(first.text), _shingles(second.text)
    common = len(np.intersect1d(*shingles, assume_unique=True))
    return common > MOST_SHARED * min(map(len, shingles))


class _Index:
    """An index from 8-grams to articles: hashes in ascending order, each with the index of its article."""

    def __init__(self, articles: Iterable[Article]) -> None:
        self._articles = list(articles)
        shingles = [_shingles(article.text) for article in self._articles]
        self._sizes = np.array([len(article_hashes) for article_hashes in shingles], dtype=np.int64)
        hashes = np.concatenate(shingles) if shingles else np.empty(0, np.uint64)
        order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[order]
        self._owners = np.repeat(np.arange(len(shingles), dtype=np.int32), self._sizes)[order]

    def copies_of(self, article: Article) -> Iterator[NearCopy]:
        shingles = _shingles(article.text)
        starts, ends = (np.searchsorted(self._hashes, shingles, side) for side in ("left", "right"))
        common = np.flatnonzero(starts < ends)
        if not len(common):
            return
        owners = np.concatenate([self._owners[starts[i] : ends[i]] for i in common])
        for owner, count in zip(*np.unique(owners, return_counts=True), strict=True):
            shared = float(count / min(self._sizes[owner], len(shingles)))
            if shared > MOST_SHARED:
                yield NearCopy(self._articles[owner], article, shared)


@functools.lru_cache(maxsize=512)  # an article may be compared with many, and many with the same ones
def _shingles(text: str) -> Hashes:
    """64-bit hashes of the distinct 8-grams of a text's words, without case and punctuation; none without a word."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    if not words:
        return np.empty(0, np.uint64)
    size = min(len(words), WORDS)
    hashes = np.array([hash(word) for word in words], dtype=np.int64).view(np.uint64)
    windows = np.lib.stride_tricks.sliding_window_view(hashes, size)
    return np.unique((windows * _POWERS[:size]).sum(axis=1, dtype=np.uint64))
