"""Mean scores with intervals: of systems by n, and of uncut summaries."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic.dataclasses import dataclass

from nws.core.types import SystemKind

CONFIDENCE = 0.95
ONE_SIDED_LEVEL = (1 - CONFIDENCE) / 2
"""The level of each test. On real articles, which are skewed, tests at 2.5 % err in up to 5 % of studies."""
FEW_ARTICLES = 30
"""With fewer values, an interval is valid only if they are roughly symmetric around their mean."""
_KINDS: tuple[SystemKind, ...] = ("system", "oracle", "control")


def system_order(system: str, kind: SystemKind) -> tuple[int, str]:
    """Return a sort key: first the systems that one can choose, then oracles, then controls, each by name."""
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
        articles: the number of articles that the mean is over. For a comparable point they are the articles that every
            comparable system has at this n; for any other point, all articles of its own system.
        of_articles: the number of articles that any system has at this n.
        comparable: whether the mean may be compared with those of other systems at this n.
        words: the mean number of words of these summaries. Most systems write n.
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
    """The mean score of a system's uncut summaries. `words` is their mean number of words."""

    dataset: str
    system: str
    kind: SystemKind
    articles: int
    words: float
    score: Interval


Edge: TypeAlias = Literal["longest", "shortest", "only"]
"""The end of the lengths tried at which an n lies. The right n may then lie beyond that end."""


def edge_of(n: int | None, lengths: Sequence[int]) -> Edge | None:
    """Return at which end of the lengths tried, in rising order, n lies; None where it lies between them."""
    if n is None:
        return None
    if len(lengths) == 1:
        return "only"
    return "longest" if n == lengths[-1] else "shortest" if n == lengths[0] else None
