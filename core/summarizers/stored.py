"""Summaries that a run has stored, as systems that write them again: to score them anew."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.summarizers.systems import Document, Draft, UsualSystem
from core.types import Article


@dataclass(frozen=True, slots=True)
class SummarizedArticle(Article):
    """An article with summaries that were written of it before: the system and the draft of each."""

    drafts: tuple[tuple[str, Draft], ...] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Stored(UsualSystem):
    """Writes what a run has stored of `signature`, for a `SummarizedArticle`."""

    signature: str

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        """All its drafts, whatever `lengths` there are; none for another article."""
        return known_drafts(document.segmented.article, self.signature)


def known_drafts(article: Article, signature: str) -> list[Draft]:
    """What an article brings along of a system."""
    drafts = article.drafts if isinstance(article, SummarizedArticle) else ()
    return [draft for system, draft in drafts if system == signature]
