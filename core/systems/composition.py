"""Composition of ranked chunks into a summary of n words or characters, in document order."""

import itertools
from collections.abc import Collection, Iterable, Sequence

from nws.core.article import SegmentedArticle
from nws.core.text.length import LengthUnit, cost, fitting, room


def compose(article: SegmentedArticle, ranking: Iterable[int], n: int, unit: LengthUnit = "words") -> str:
    """Join the best chunks that together have `n` words, in document order.

    Chunks are taken in the order of `ranking` (indices into `article.chunks`, best first), but no text twice. The last
    one is cut to fit. If there are too few chunks, the article's other words are added from its beginning, so that the
    summary has fewer than `n` words only if the article does.

    If `n` counts characters, the first word that does not fit ends the summary, even if a later one would fit.
    """
    taken: set[int] = set()
    texts: set[str] = set()
    left = room(n, unit)
    for index in ranking:
        chunk = article.chunks[index]
        end = chunk.start + fitting(article.words[chunk.start : chunk.end], left, unit)
        if end == chunk.start:
            break
        text = (chunk.text if end == chunk.end else " ".join(article.words[chunk.start : end])).casefold()
        if text not in texts:
            texts.add(text)
            taken.update(range(chunk.start, end))
            left -= taken_room(article, range(chunk.start, end), unit)
            if end < chunk.end:
                break
    else:
        taken = filled(article, taken, n, unit)
    return words_at(article, taken)


def taken_room(article: SegmentedArticle, positions: Iterable[int], unit: LengthUnit) -> int:
    """Return the room that the words at these positions take in a summary, in `unit`."""
    return sum(cost(article.words[position], unit) for position in positions)


def filled(article: SegmentedArticle, taken: Collection[int], n: int, unit: LengthUnit = "words") -> set[int]:
    """Add the positions of the article's first other words to those `taken`, up to a word that does not fit.

    This is for summaries with too few chunks, and not for those whose next chunk did not fit into `n` characters.
    """
    positions = set(taken)
    left = room(n, unit) - taken_room(article, taken, unit)
    for position, word in enumerate(article.words):
        if position not in taken:
            left -= cost(word, unit)
            if left < 0:
                break
            positions.add(position)
    return positions


def words_at(article: SegmentedArticle, positions: Collection[int]) -> str:
    """Join the words at these positions, in document order."""
    return " ".join(article.words[position] for position in sorted(positions))


def first_sentences(article: SegmentedArticle, count: int) -> str:
    """Return the text of the first `count` sentences, or of all if there are fewer."""
    return " ".join(sentence.text for sentence in article.sentences[:count])


def adjacent_share(positions: Sequence[int]) -> float:
    """Return the share of neighbours in a summary that are neighbours in the article, in [0, 1]; 1 without neighbours.

    Args:
        positions: the positions of the summary's words in the article, in rising order.
    """
    pairs = list(itertools.pairwise(positions))
    return sum(after - before == 1 for before, after in pairs) / len(pairs) if pairs else 1.0
