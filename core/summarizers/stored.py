"""Summaries that a run has stored, as systems that write them again: to score them by a metric that is newer."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.summarizers.systems import Document, Draft, UsualSystem
from core.types import Article


@dataclass(frozen=True, slots=True)
class SummarizedArticle(Article):
    """An article with what a run has of it: the system and the draft of each summary."""

    drafts: tuple[tuple[str, Draft], ...] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Stored(UsualSystem):
    """Writes what a run has stored of `signature`, for a `SummarizedArticle`."""

    signature: str

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        """All its drafts, whatever `lengths` there are; none for another article."""
        article = document.segmented.article
        drafts = article.drafts if isinstance(article, SummarizedArticle) else ()
        return [draft for system, draft in drafts if system == self.signature]
