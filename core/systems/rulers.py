"""Bounds and rulers: texts made with the references, as a scale for what systems reach. They are not systems to choose.

`Oracle` bounds the BERTScore F1 of the systems that it is compared with. Rulers are texts of people, as a scale for
content kept: two show what n words of a person keep, and one shows how much an article's topic alone keeps. Other
scores take the best reference, so there a ruler that is a reference is compared with itself.
"""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from nws.core.article import Article
from nws.core.errors import EmptyArticleError
from nws.core.systems.chunk_systems import candidate_chunks, greedy
from nws.core.systems.system import Document, Draft, System, UsualSystem, uncut_and_cut
from nws.core.text.length import LengthUnit, cost, room, word_spans
from nws.core.types import OTHER_ARTICLE as OTHER_ARTICLE
from nws.core.types import SystemKind

REFERENCE_WORDS: Final = "reference-words"
PERSON: Final = "person"
RULERS = (REFERENCE_WORDS, PERSON, OTHER_ARTICLE)


@dataclass(frozen=True, slots=True)
class ReferenceWords(UsualSystem):
    """The first n words of the first reference. The whole reference keeps 100 % of the content, by definition."""

    kind: ClassVar[SystemKind] = "oracle"
    signature: ClassVar[str] = REFERENCE_WORDS

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        return _first_words(document.segmented.article.references[0], lengths, document.length_unit)


@dataclass(frozen=True, slots=True)
class Person(UsualSystem):
    """The summary of another person: the second reference, uncut and cut to its first n words."""

    kind: ClassVar[SystemKind] = "oracle"
    has_uncut: ClassVar[bool] = True
    signature: ClassVar[str] = PERSON

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        """Return the drafts, see `System`.

        Raises:
            EmptyArticleError: the article has no second reference.
        """
        article = document.segmented.article
        if len(article.references) < 2:
            raise EmptyArticleError(f"Article {article.key!r} of {article.dataset} has no second reference.")
        return uncut_and_cut(_one_line(article.references[1]), lengths, document.length_unit)


@dataclass(frozen=True, slots=True)
class OtherArticle(UsualSystem):
    """Control: the first n words of the reference of the most similar other article; empty if there is no other.

    The dataset decides which article that is (`nws.core.metrics.kept.WordsKept.nearest_reference`).
    """

    kind: ClassVar[SystemKind] = "control"
    signature: ClassVar[str] = OTHER_ARTICLE

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        return _first_words(document.nearest(), lengths, document.length_unit)


def _first_words(text: str, lengths: Sequence[int], unit: LengthUnit) -> list[Draft]:
    return uncut_and_cut(_one_line(text), lengths, unit)[1:]


def _one_line(text: str) -> str:
    return " ".join(text.split())


LIKELY_WINDOWS = 40
"""The number of windows that `Oracle` tries at each n. All windows would take several times as long as the rest."""
_NO_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Oracle(UsualSystem):
    """Greedy search for the n words with the highest BERTScore F1.

    In each step, the chunk that raises F1 most is taken (Nallapati et al. 2017, section 3, with chunks instead of
    sentences and BERTScore instead of ROUGE). The result is then compared with the summaries of `rivals` and with
    `likely_windows`. The best of all is the oracle's summary, so the oracle is never below one of them.
    """

    kind: ClassVar[SystemKind] = "oracle"

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
    """Return the text with the highest F1; the first of equals."""
    scores = document.f1(texts)
    return texts[max(range(len(texts)), key=scores.__getitem__)]


def windows(text: str, n: int, unit: LengthUnit = "words") -> list[str]:
    """Return all runs of n consecutive words of a text, in order, or the whole text if it has fewer.

    With n characters, a run has as many words as fit. The first run that reaches the end of the text is the last one.
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
    """Return the `LIKELY_WINDOWS` different windows that have most in common with a reference; the first of equals.

    Common words and pairs of neighbouring words are counted, ignoring case and punctuation. Only a window that is
    nearly a copy of the reference scores higher than the search over chunks.
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
