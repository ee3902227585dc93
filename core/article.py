"""An article, and how its id is made."""

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


def _sha256(*parts: str) -> str:
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    # The length first, so that ("ab", "c") and ("a", "bc") differ.
    return hashlib.sha256(b"".join([b"%d:%b" % (len(part), part) for part in encoded])).hexdigest()
