"""Upper bounds: summaries that are chosen by their score against the references. They are not systems to choose.

Each bounds one kind of summaries: `WindowOracle` consecutive words, and `Oracle` the systems that it is compared with.
"""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from core.systems.chunk_systems import candidate_chunks, greedy
from core.systems.system import Document, Draft, System, UsualSystem
from core.text.length import LengthUnit, cost, room, word_spans
from core.types import Article, SystemKind

LIKELY_WINDOWS = 40
"""The number of windows that `Oracle` tries at each n. All windows would take several times as long as all else."""
_NO_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class WindowOracle(UsualSystem):
    """The n consecutive words of the article with the highest BERTScore F1. Every window is tried.

    It bounds systems that take consecutive words, such as `lead`. A system that skips words may score higher.
    """

    kind: ClassVar[SystemKind] = "upper bound"
    signature: ClassVar[str] = "window-oracle"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        unit = document.length_unit
        return [Draft(n, best(document, windows(document.segmented.article.text, n, unit))) for n in lengths]


@dataclass(frozen=True, slots=True)
class Oracle(UsualSystem):
    """Greedy search for the n words with the highest BERTScore F1.

    In each step, the chunk that raises F1 most is taken (Nallapati et al. 2017, section 3, with chunks in place of
    sentences and BERTScore in place of ROUGE). The result is then compared with the summaries of `rivals` and with
    `likely_windows`. The best of all is the oracle's summary, so the oracle is never below one of them.
    """

    kind: ClassVar[SystemKind] = "upper bound"

    rivals: tuple[System, ...]

    signature: ClassVar[str] = "oracle"

    @property
    def encoders(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for rival in self.rivals for name in rival.encoders))

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        candidates = candidate_chunks(document.segmented, document.f1)
        searched = greedy(document.segmented, document.f1, candidates, lengths, document.length_unit)
        candidate_texts = {n: [text] for n, text in searched.items()}
        for rival in self.rivals:
            for draft in rival.summarize(document, lengths):
                if draft.n in candidate_texts:
                    candidate_texts[draft.n] += draft.texts
        for n in candidate_texts:
            candidate_texts[n] += likely_windows(document.segmented.article, n, document.length_unit)
        return [Draft(n, best(document, candidate_texts[n])) for n in lengths]


def best(document: Document, texts: Sequence[str]) -> str:
    """The text with the highest F1; of equals the first."""
    scores = document.f1(texts)
    return texts[max(range(len(texts)), key=scores.__getitem__)]


def windows(text: str, n: int, unit: LengthUnit = "words") -> list[str]:
    """All runs of n consecutive words of a text in order, or the whole text where it has fewer.

    In n characters a run has as many words as fit. The first run that reaches the end of the text is the last one.
    """
    words = [text[start:end] for start, end in word_spans(text)]
    texts, end, used = [], 0, 0
    for start in range(len(words)):
        while end < len(words) and used + cost(words[end], unit) <= room(n, unit):
            used += cost(words[end], unit)
            end += 1
        if end > start:
            texts.append(" ".join(words[start:end]))
            used -= cost(words[start], unit)
        end = max(end, start + 1)
        if end == len(words):
            break
    return texts or [""]


def likely_windows(article: Article, n: int, unit: LengthUnit = "words") -> list[str]:
    """The `LIKELY_WINDOWS` different windows that have most in common with a reference; of equals the first.

    Common words and pairs of neighbouring words are counted, without case and punctuation. Only a window that is nearly
    a copy of the reference scores higher than the search over chunks.
    """
    references = [_words_and_pairs(reference) for reference in article.references]
    common: dict[str, int] = {}
    for window in windows(article.text, n, unit):
        if window not in common:
            own = _words_and_pairs(window)
            common[window] = max(((own & reference).total() for reference in references), default=0)
    return sorted(common, key=common.__getitem__, reverse=True)[:LIKELY_WINDOWS]


def _words_and_pairs(text: str) -> Counter[tuple[str, ...]]:
    words = [word for word in (_NO_LETTER.sub("", word).casefold() for word in text.split()) if word]
    return Counter([*zip(words), *itertools.pairwise(words)])
