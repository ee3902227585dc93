"""Rulers: texts of people, as a scale for the content kept by systems. They are not systems to choose.

Two show the content kept by n words of a person, and one how much of an article its topic alone tells. Other scores
take the best reference, so a ruler that is a reference is compared with itself there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from core.errors import EmptyArticleError
from core.systems.system import Document, Draft, UsualSystem, uncut_and_cut
from core.text.length import LengthUnit
from core.types import OTHER_ARTICLE as OTHER_ARTICLE
from core.types import SystemKind

REFERENCE_WORDS: Final = "reference-words"
PERSON: Final = "person"
RULERS = (REFERENCE_WORDS, PERSON, OTHER_ARTICLE)


@dataclass(frozen=True, slots=True)
class ReferenceWords(UsualSystem):
    """The first n words of the first reference. Content kept is measured against it: all of it keeps 100 %."""

    kind: ClassVar[SystemKind] = "upper bound"
    signature: ClassVar[str] = REFERENCE_WORDS

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        return _first_words(document.segmented.article.references[0], lengths, document.length_unit)


@dataclass(frozen=True, slots=True)
class Person(UsualSystem):
    """The summary of another person: the second reference, uncut and its first n words."""

    kind: ClassVar[SystemKind] = "upper bound"
    has_uncut: ClassVar[bool] = True
    signature: ClassVar[str] = PERSON

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        """See `System`.

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

    The dataset decides which article that is (`core.metrics.kept.WordsKept.nearest_reference`).
    """

    kind: ClassVar[SystemKind] = "control"
    signature: ClassVar[str] = OTHER_ARTICLE

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        return _first_words(document.nearest(), lengths, document.length_unit)


def _first_words(text: str, lengths: Sequence[int], unit: LengthUnit) -> list[Draft]:
    _, *cut = uncut_and_cut(_one_line(text), lengths, unit)
    return cut


def _one_line(text: str) -> str:
    return " ".join(text.split())
