"""From ranked chunks to a summary of exactly n words, in document order."""

import itertools
from collections.abc import Collection, Iterable, Sequence

from core.types import SegmentedArticle


def compose(article: SegmentedArticle, ranking: Iterable[int], n: int) -> str:
    """The best-ranked chunks that make `n` words, put back into document order.

    Chunks are taken in the order of `ranking` (indices into `article.chunks`, best first), none whose text was taken
    already; the last one is cut to fit. If the chunks run out, the article's other words follow from its beginning,
    so that the summary has fewer than `n` words only if the article does.
    """
    taken: set[int] = set()
    texts: set[str] = set()
    for index in ranking:
        room = n - len(taken)
        if room <= 0:
            break
        chunk = article.chunks[index]
        end = min(chunk.end, chunk.start + room)
        text = (chunk.text if end == chunk.end else " ".join(article.words[chunk.start : end])).casefold()
        if text not in texts:
            texts.add(text)
            taken.update(range(chunk.start, end))
    return words_at(article, filled(article, taken, n))


def filled(article: SegmentedArticle, taken: Collection[int], n: int) -> set[int]:
    """The word positions `taken` and, if they are fewer than `n`, the first other words of the article."""
    if len(taken) >= n:
        return set(taken)
    others = (position for position in range(len(article.words)) if position not in taken)
    return {*taken, *itertools.islice(others, n - len(taken))}


def words_at(article: SegmentedArticle, positions: Collection[int]) -> str:
    """The words at these positions, in document order."""
    return " ".join(article.words[position] for position in sorted(positions))


def adjacent_share(positions: Sequence[int]) -> float:
    """Share of neighbours in a summary that are neighbours in the article, from 0 to 1; 1 for fewer than two words.

    Args:
        positions: of the summary's words in the article, rising.
    """
    pairs = list(itertools.pairwise(positions))
    return sum(after - before == 1 for before, after in pairs) / len(pairs) if pairs else 1.0
