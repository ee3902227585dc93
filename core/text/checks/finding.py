"""What a check looks at, and what it finds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from nws.core.text.language import Language

Part: TypeAlias = Literal["articles", "references", "predictions", "texts"]
"""Of a row; `texts` are all three."""
SHOWN = 40
"""Characters of an example."""


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """An article with its references, a prediction with its references, or all of them.

    Attributes:
        id: of the article. Several predictions may have the same one.
        article: None where it is not known; "" is an empty one.
        references: none where they are not known.
        prediction: None where there is none, or only thoughts; "" is an empty one.
        raw: what a model wrote, where the prediction is only a part of it.
        parts: the items of a prediction that was a list, where they were joined.
    """

    id: str
    article: str | None = None
    references: Sequence[str] = ()
    prediction: str | None = None
    raw: str | None = None
    parts: Sequence[str] = ()

    def texts(self, part: Part) -> Iterator[str]:
        """The texts of a part."""
        if part in ("articles", "texts") and self.article is not None:
            yield self.article
        if part in ("references", "texts"):
            yield from self.references
        if part in ("predictions", "texts") and self.prediction is not None:
            yield self.prediction


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of all rows.

    Attributes:
        language: of the texts; None where nobody knows it.
        every: of so many rows one is looked at by checks that take long.
    """

    language: Language | None = None
    every: int = 1


@dataclass(frozen=True, slots=True)
class Found:
    """What a check found in some rows: in how many of how many, an example, and what `says` has a place for."""

    count: int
    total: int
    example: str = ""
    detail: str = ""


class Accumulator(Protocol):
    """Gathers what a check finds: it sees each row once, and holds no text but examples."""

    def add(self, row: CheckedRow) -> None:
        """Look at a row."""

    def found(self) -> Iterator[Found]:
        """What was found in all rows: nothing where it may be chance."""


NewAccumulator: TypeAlias = Callable[[Part, Context], Accumulator]
"""Makes an accumulator for a part of rows."""


@dataclass(frozen=True, slots=True)
class TextCheck:
    """One check.

    Attributes:
        name: that stored findings have, with a sentence of its own in `SENTENCES`.
        looks_at: the part of a row.
        look: makes what decides.
    """

    name: str
    looks_at: Part
    look: NewAccumulator


def shortened(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 4 * SHOWN].split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
