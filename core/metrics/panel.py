"""Which other articles show what any text of their kind would keep of a reference: the floor of content kept.

The floor of an article depends on its dataset alone, and not on what else is in its bundle: its others are drawn by
content from a panel, which is drawn by content from all articles that a run has of the dataset.
"""

import functools
import hashlib
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from core.text.near_copies import are_near_copies
from core.types import Article

PANEL = 256
"""Articles of a dataset whose references may be others. Each process embeds them once."""
OTHERS = 12
"""Of each article. A floor of fewer is noisier, which lowers content kept: with 6, by up to 1.6 points on dialogues."""
KEPT_SIGNATURE = (
    f"ref:first|floor:mean of {OTHERS} references of other articles, of {PANEL} drawn by content|(R-F)/(1-F)"
)


@dataclass(frozen=True, slots=True)
class Panel:
    """Articles of one dataset, in the order of their ids. An article's others are drawn from them."""

    dataset: str
    articles: tuple[Article, ...]

    @property
    def sha256(self) -> str:
        """64 hex digits. Scores of one text by panels with the same hash are the same."""
        ids = [self.dataset, *(article.id for article in self.articles)]
        return hashlib.sha256("\n".join(ids).encode("utf-8", "surrogatepass")).hexdigest()


def draw_panel(dataset: str, articles: Iterable[Article]) -> Panel:
    """The `PANEL` articles with the smallest ids, which are hashes of the content: their order does not matter.

    An article without a reference, which fails in a run, is none of them.
    """
    with_reference = (article for article in articles if article.references)
    return Panel(dataset, tuple(sorted(with_reference, key=lambda article: article.id)[:PANEL]))


def others(article: Article, panel: Panel) -> tuple[Article, ...]:
    """The articles with whose references an article's floor is measured, at most `OTHERS`, drawn by content.

    None of them tells the same: has its text or its reference, or nearly its text. There may be none.
    """
    drawn = sorted(panel.articles, key=functools.partial(_place, article))
    return tuple(itertools.islice((other for other in drawn if not tells_the_same(article, other)), OTHERS))


def _place(article: Article, other: Article) -> bytes:
    return hashlib.blake2b(f"{article.content_hash}{other.content_hash}".encode(), digest_size=8).digest()


def tells_the_same(article: Article, other: Article) -> bool:
    """Whether another article has this one's text or its reference, or nearly its text: it shows nothing then."""
    if article.content_hash == other.content_hash or article.references[0] == other.references[0]:
        return True
    return are_near_copies(article, other)
