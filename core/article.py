"""An article and its id, which is a hash of what it holds; and the article cut into words, sentences and chunks."""

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Article:
    """One news article with its reference summaries.

    Attributes:
        dataset, split: where it is from.
        key: names the article inside its dataset and split.
        text: the article.
        references: the summaries that others wrote of it.
        content_hash: SHA-256 (64 hex digits) of the text and its references: what is drawn for an article is seeded by
            it.
        id: 16 hex digits, the same in every store and on every machine for the same row of the same dataset.
    """

    dataset: str
    split: str
    key: str
    text: str
    references: tuple[str, ...]
    # Made once: every summary of an article names it.
    content_hash: str = field(init=False, compare=False, repr=False)
    id: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        content_hash = _sha256(self.text, *self.references)
        object.__setattr__(self, "content_hash", content_hash)
        object.__setattr__(self, "id", _sha256(self.dataset, self.split, self.key, content_hash)[:16])

    def __hash__(self) -> int:  # of one text, whose hash Python keeps: every score is found by its article
        return hash(self.id)


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence or a chunk: words of the article from position `start` (included) to `end` (excluded).

    Attributes:
        text: its words.
        sentence: an index into the article's sentences.
        left_out: positions between that are not its own. Only a subtree has any.
        head: of a subtree, the index of the one that it hangs on, or its own if it hangs on none; None of others.
        begins: of a subtree, whether a summary may begin with it.
    """

    text: str
    start: int
    end: int
    sentence: int
    left_out: frozenset[int] = frozenset()
    head: int | None = None
    begins: bool = True

    @property
    def positions(self) -> list[int]:
        """Those of its words, rising."""
        return [position for position in range(self.start, self.end) if position not in self.left_out]


@dataclass(frozen=True, slots=True)
class SegmentedArticle:
    """An article cut into sentences and chunks, and into subtrees where the run's units are those.

    `words[i]` is the article's i-th word without the punctuation around it. Sentences lie in document order and
    do not overlap; nor do chunks. Subtrees are ordered by their first words, and hold every word once.
    """

    article: Article
    words: tuple[str, ...]
    sentences: tuple[Segment, ...]
    chunks: tuple[Segment, ...]
    subtrees: tuple[Segment, ...] = ()

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All of them: sentences, chunks, subtrees."""
        return (*self.sentences, *self.chunks, *self.subtrees)


def _sha256(*parts: str) -> str:
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    # The length first, so that ("ab", "c") and ("a", "bc") differ.
    return hashlib.sha256(b"".join([b"%d:%b" % (len(part), part) for part in encoded])).hexdigest()
