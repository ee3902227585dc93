"""Upper bounds: summaries chosen with the reference at hand. They say how much room there is, and are no systems.

Each bounds its own way to write: `WindowOracle` consecutive words, `Oracle` the systems that it is held against.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from core.summarizers.chunk_search import candidate_chunks, greedy
from core.summarizers.systems import Document, Draft, System
from core.text.words import word_spans
from core.types import SystemKind


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
        candidates = candidate_chunks(document.segmented, document.f1)
        found = {n: [greedy(document.segmented, document.f1, candidates, n)] for n in lengths}
        for rival in self.rivals:
            for draft in rival.summarize(document, lengths):
                if draft.n in found:
                    found[draft.n] += draft.texts
        return [Draft(n, best(document, found[n])) for n in lengths]


def best(document: Document, texts: Sequence[str]) -> str:
    """The text with the highest F1; of equals the first."""
    scores = document.f1(texts)
    return texts[max(range(len(texts)), key=scores.__getitem__)]
