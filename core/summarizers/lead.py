"""The beginning of the article as it stands: in news, where the most important comes first, a strong baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from core.summarizers.systems import UNCUT, Document, Draft, UsualSystem
from core.text.length import cut
from core.text.words import word_spans
from core.types import SegmentedArticle, SystemKind


@dataclass(frozen=True, slots=True)
class Lead(UsualSystem):
    """Control: the first n words. Its curve shows what length alone does."""

    kind: ClassVar[SystemKind] = "control"
    signature: ClassVar[str] = "lead"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        text = document.segmented.article.text
        return [Draft(n, cut(text, n, document.length_unit)) for n in lengths]


@dataclass(frozen=True, slots=True)
class Lead3(UsualSystem):
    """The first three sentences, uncut and cut to n (See et al. 2017, section 5).

    Where they have fewer than n words, the words that follow them make up for it.
    """

    has_uncut: ClassVar[bool] = True
    signature: ClassVar[str] = "lead3"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        text = document.segmented.article.text
        _, end = word_spans(text)[document.segmented.sentences[:3][-1].end - 1]
        whole = Draft(UNCUT, " ".join(text[:end].split()))
        return [whole, *(Draft(n, cut(text, n, document.length_unit)) for n in lengths)]


def first_sentences(article: SegmentedArticle, count: int) -> str:
    """The text of the first `count` sentences, or of all if there are fewer."""
    return " ".join(sentence.text for sentence in article.sentences[:count])
