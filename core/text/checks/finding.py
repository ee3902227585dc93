"""The rows that a check gets, and what it finds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from nws.core.text.language import Language

Part: TypeAlias = Literal["articles", "references", "predictions", "texts"]
"""The part of a row that is checked; `texts` are all three."""
SHOWN = 40
"""The number of characters of an example."""


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """An article with its references, a prediction with its references, or all of them.

    Attributes:
        id: the id of the article, which several predictions may share.
        article: the article; None if it is not known, and "" if it is empty.
        references: the references; none if they are not known.
        prediction: the prediction; None if there is none, or only thoughts, and "" if it is empty.
        raw: a model's output, if the prediction is only a part of it.
        parts: the items of a prediction that was a list, if they were joined.
    """

    id: str
    article: str | None = None
    references: Sequence[str] = ()
    prediction: str | None = None
    raw: str | None = None
    parts: Sequence[str] = ()

    def texts(self, part: Part) -> Iterator[str]:
        """Yield the texts of a part."""
        if part in ("articles", "texts") and self.article is not None:
            yield self.article
        if part in ("references", "texts"):
            yield from self.references
        if part in ("predictions", "texts") and self.prediction is not None:
            yield self.prediction


@dataclass(frozen=True, slots=True)
class Context:
    """What is known about all rows.

    Attributes:
        language: the language of the texts; None if it is not known.
        every: slow checks look at one row of `every` rows.
    """

    language: Language | None = None
    every: int = 1


@dataclass(frozen=True, slots=True)
class Found:
    """What a check found: in how many of how many rows, an example, and the detail for its sentence."""

    count: int
    total: int
    example: str = ""
    detail: str = ""


class Accumulator(Protocol):
    """Collects what a check finds. It sees each row once, and keeps no texts except examples."""

    def add(self, row: CheckedRow) -> None:
        """Check a row."""

    def found(self) -> Iterator[Found]:
        """Yield what was found in all rows; nothing if it may be chance."""


NewAccumulator: TypeAlias = Callable[[Part, Context], Accumulator]
"""Creates an accumulator for a part of the rows."""


@dataclass(frozen=True, slots=True)
class TextCheck:
    """A check.

    Attributes:
        name: its name in findings, with its own sentence in `SENTENCES`.
        part: the part of the rows that it checks.
        new_accumulator: a function that creates the accumulator with the check's rule.
    """

    name: str
    part: Part
    new_accumulator: NewAccumulator


def shortened(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text[: 4 * SHOWN].split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
