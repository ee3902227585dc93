"""The positions of a summary's words in its article.

A word is a word of `nws.core.text.length`. Two words are the same if they are equal without case and without the
characters around them that are neither letters nor digits: "Council," and "council" are.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nws.core.text.length import word_spans


def bare_spans(text: str) -> list[tuple[int, int]]:
    """Return the character spans of the words of `text`, in order, each from its first letter or digit to its last."""
    spans = []
    for start, end in word_spans(text):
        letters = [i for i in range(start, end) if text[i].isalnum()]
        spans.append((letters[0], letters[-1] + 1))
    return spans


def align(summary: Sequence[str], article: Sequence[str]) -> list[int | None]:
    """Return the position in the article of each word of a summary, or None: an in-order alignment.

    Positions rise strictly, and each has a word equal to the summary's. Of all such alignments, this is the one with

    1. the most words placed (their number is the length of the longest common subsequence);
    2. among these, the fewest runs, where a run is a longest stretch of words that are neighbours in the summary and
       have neighbouring positions in the article (METEOR's "chunk", Banerjee and Lavie 2005);
    3. among these, the earliest: from the summary's first word to its last, each has the lowest position that still
       allows 1 and 2, and is left out only if no position does.

    So the answer is unique. It says where the words occur, not where a system took them from: if they occur twice,
    nobody can tell. All words of a summary by `nws.core.systems.composition` are placed, since they are words of the
    article in order.

    The method is dynamic programming from the ends of both, with a NumPy row for each word of the summary. Time and
    memory (8 bytes) grow with len(summary) * len(article).

    Args:
        summary: the words, such as those of `nws.core.text.length.bare_words`, which are compared by equality.
        article: the words, likewise.
    """
    codes: dict[str, int] = {}
    summary_codes, article_codes = (
        np.array([codes.setdefault(word, len(codes)) for word in words], dtype=np.int32) for words in (summary, article)
    )
    # An alignment is worth `per_word` for each word that is placed, minus 1 for each run. There are fewer runs than
    # `per_word`, so one more word outweighs all runs.
    per_word = len(summary) + 1
    fresh, joined = _worths(summary_codes, article_codes, per_word)
    positions: list[int | None] = []
    position, is_joined = 0, False
    for i in range(len(summary)):
        goes_on = (
            is_joined
            and position < len(article)
            and summary_codes[i] == article_codes[position]
            and joined[i, position] == per_word + joined[i + 1, position + 1]
        )
        if not goes_on:
            begins = (summary_codes[i] == article_codes[position:]) & (
                per_word - 1 + joined[i + 1, position + 1 :] == fresh[i, position]
            )
            is_joined = bool(begins.any())
            position += int(begins.argmax()) if is_joined else 0
        positions.append(position if is_joined else None)
        position += is_joined
    return positions


def _worths(
    summary_codes: NDArray[np.int32], article_codes: NDArray[np.int32], per_word: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return tables of what the words from i on are worth at most in the article from j on; int32, (s + 1, a + 1).

    In the second table, word i - 1 is placed at j - 1, so that a word i at j continues its run.
    """
    fresh = np.zeros((len(summary_codes) + 1, len(article_codes) + 1), dtype=np.int32)
    joined = fresh.copy()
    for i in range(len(summary_codes) - 1, -1, -1):
        is_same = article_codes == summary_codes[i]
        placed = np.where(is_same, per_word - 1 + joined[i + 1, 1:], 0)
        best_here = np.maximum(placed, fresh[i + 1, :-1])
        # At j or anywhere after it.
        fresh[i, :-1] = np.maximum.accumulate(best_here[::-1])[::-1]
        joined[i, :-1] = np.maximum(fresh[i, :-1], np.where(is_same, per_word + joined[i + 1, 1:], 0))
    return fresh, joined
