"""Mean scores with intervals: of systems by n, and of summaries of their own length."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic.dataclasses import dataclass

from nws.core.types import SystemKind

CONFIDENCE = 0.95
ONE_SIDED_ALPHA = (1 - CONFIDENCE) / 2
"""Of each test. By real articles, which are skewed, those that should err in 2.5 % of studies do in up to 5 %."""
FEW_ARTICLES = 30
"""With fewer values, an interval leans on them being roughly symmetric around their mean."""
_KINDS: tuple[SystemKind, ...] = ("system", "upper bound", "control")


def system_order(system: str, kind: SystemKind) -> tuple[int, str]:
    """Key to sort systems by: first those one can choose, then upper bounds, then controls, each by name."""
    return _KINDS.index(kind), system


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the ends of its interval, in the unit of the values.

    There is no interval (None) where nothing shows how values spread: there is only one value, or all are equal.
    """

    mean: float
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class CurvePoint(Interval):
    """The mean over `articles` articles at n words, and its 95 % interval.

    Attributes:
        articles: how many articles the mean is over. For a comparable point they are the articles that every
            comparable system has at this n; for any other point, all that its own system has.
        of_articles: how many articles any system has at this n.
        comparable: whether it may be compared with other systems at this n.
        words: mean number of words of these summaries. Most systems write n.
    """

    n: int
    articles: int
    of_articles: int
    comparable: bool
    words: float


@dataclass(frozen=True, slots=True)
class Curve:
    """One system on one dataset; `lengths` in rising n."""

    dataset: str
    system: str
    kind: SystemKind
    lengths: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True)
class Uncut:
    """A system that was given no length. `words` is the mean length of its summaries."""

    dataset: str
    system: str
    kind: SystemKind
    articles: int
    words: float
    score: Interval


Edge: TypeAlias = Literal["longest", "shortest", "only"]
"""Of the n tried: beyond an answer that lies there the next n might be it."""


def edge_of(n: int | None, lengths: Sequence[int]) -> Edge | None:
    """At which end of the n tried, in rising order, one of them lies."""
    if n is None:
        return None
    if len(lengths) == 1:
        return "only"
    return "longest" if n == lengths[-1] else "shortest" if n == lengths[0] else None
