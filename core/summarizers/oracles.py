"""Upper bounds: summaries chosen with the reference at hand. They say how much room there is, and are no systems.

Each bounds its own way to write: `WindowOracle` consecutive words, `Oracle` the systems that it is held against.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from core.summarizers.composition import filled, words_at
from core.summarizers.systems import Document, Draft, System
from core.text.words import word_spans
from core.types import SegmentedArticle, SystemKind

CANDIDATE_CHUNKS = 40
"""How many chunks the greedy search chooses from: those with the highest F1 by themselves."""


@dataclass(frozen=True, slots=True)
class WindowOracle:
    """The n consecutive words of the article with the highest BERTScore F1. Every window is tried.

    So it bounds what takes consecutive words as they stand, such as `lead`. What skips words may be above it.
    """

    kind: ClassVar[SystemKind] = "upper bound"
    has_uncut: ClassVar[bool] = False

    @property
    def signature(self) -> str:
        return "window-oracle"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        text = document.segmented.article.text
        words = [text[start:end] for start, end in word_spans(text)]
        drafts = []
        for n in lengths:
            starts = range(max(1, len(words) - n + 1))
            windows = [" ".join(words[start : start + n]) for start in starts]
            drafts.append(Draft(n, best(document, windows)))
        return drafts


@dataclass(frozen=True, slots=True)
class Oracle:
    """Greedy search for the n words with the highest BERTScore F1.

    Chunk after chunk, the one that raises F1 most is taken (Nallapati et al. 2017, section 3, with chunks for sentences
    and BERTScore for ROUGE). What was found is then held against the summaries of `rivals`, and the best of all is
    the oracle's: it is never below one of them.
    """

    kind: ClassVar[SystemKind] = "upper bound"
    has_uncut: ClassVar[bool] = False

    rivals: tuple[System, ...]

    @property
    def signature(self) -> str:
        return "oracle"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        candidates = _candidates(document)
        found = {n: [greedy(document, candidates, n)] for n in lengths}
        for rival in self.rivals:
            for draft in rival.summarize(document, lengths):
                if draft.n in found:
                    found[draft.n] += draft.texts
        return [Draft(n, best(document, found[n])) for n in lengths]


def best(document: Document, texts: Sequence[str]) -> str:
    """The text with the highest F1; of equals the first."""
    scores = document.f1(texts)
    return texts[max(range(len(texts)), key=scores.__getitem__)]


def greedy(document: Document, candidates: Sequence[int], n: int) -> str:
    """The chunks among `candidates` that greedy search takes, in document order.

    Where all of them have fewer than n words, the article's first other words make up for it.
    """
    article = document.segmented
    taken: frozenset[int] = frozenset()
    while len(taken) < n:
        options = list(_extensions(article, candidates, taken, n))
        if not options:
            break
        scores = document.f1([words_at(article, option) for option in options])
        taken = options[max(range(len(options)), key=scores.__getitem__)]
    return words_at(article, filled(article, taken, n))


def _candidates(document: Document) -> list[int]:
    chunks = document.segmented.chunks
    scores = document.f1([chunk.text for chunk in chunks])
    order = sorted(range(len(chunks)), key=lambda i: (-scores[i], i))
    return sorted(order[:CANDIDATE_CHUNKS])


def _extensions(
    article: SegmentedArticle, candidates: Sequence[int], taken: frozenset[int], n: int
) -> Iterator[frozenset[int]]:
    """The word positions `taken` with each further chunk, cut to fit."""
    for index in candidates:
        chunk = article.chunks[index]
        if chunk.start not in taken:
            yield taken | set(range(chunk.start, min(chunk.end, chunk.start + n - len(taken))))
