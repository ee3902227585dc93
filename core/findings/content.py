"""How much of the content systems keep with n words, and with how few words they keep a share of it."""

from typing import Literal, TypeAlias

from pydantic import computed_field
from pydantic.dataclasses import dataclass

from nws.core.findings.scores import ONE_SIDED_ALPHA, Edge, Interval, edge_of
from nws.core.metrics.specs import Metric
from nws.core.text.length import LengthUnit
from nws.core.types import SystemKind

KEPT: Metric = "kept"
Ceiling: TypeAlias = Literal["reference", "person", "longest"]
"""What a share is of: the whole reference, what another person's summary keeps, or the system's own longest n."""


SHARES: dict[Ceiling, tuple[float, ...]] = {
    "reference": (0.25, 0.5, 0.8, 0.9),
    "person": (0.5, 0.8, 0.9),
    "longest": (0.8, 0.9),
}
"""For each ceiling, the shares whose smallest n is looked for."""


@dataclass(frozen=True, slots=True)
class SmallestN:
    """The smallest n from which on every longer n of the grid keeps at least the share `x`.

    Attributes:
        n: by the mean shares; None where the longest n keeps less than x.
        low: of the 95 % interval of `n`; None where the interval lies beyond the longest n.
        high: its upper end; None where that lies beyond the longest n.
        claimed: the smallest n that is shown to keep x, as all longer n are: wrong in at most 5 % of studies. None
            where nothing is shown.
        articles_for_one_step: with about so many articles the interval would be at most one step of the grid wide; None
            where `n` is. It is drawn from these articles, and understates how much others may vary.
    """

    x: float
    n: int | None
    low: int | None
    high: int | None
    claimed: int | None
    articles_for_one_step: int | None


@dataclass(frozen=True, slots=True)
class Share:
    """The share kept at n words: the mean over `articles` with its 95 % interval. 1 is the whole ceiling.

    `words` is the mean number of words of the system's summaries: most write n. None in answers of older stores.
    """

    n: int
    articles: int
    share: Interval
    words: float | None = None


@dataclass(frozen=True, slots=True)
class ContentKept:
    """One system on one dataset, held against one ceiling.

    Attributes:
        longest: the longest n of the grid.
        articles: how many articles have a summary at every n; shares and answers are over these.
        dropped: how many other articles lack some.
        lengths: in rising n.
        smallest: for each share of `SHARES`.
        length_unit: what n counts.
    """

    dataset: str
    system: str
    kind: SystemKind
    of: Ceiling
    longest: int
    articles: int
    dropped: int
    lengths: tuple[Share, ...]
    smallest: tuple[SmallestN, ...]
    length_unit: LengthUnit = "words"

    @property
    def by_share(self) -> dict[float, SmallestN]:
        """`smallest` by its share."""
        return {smallest.x: smallest for smallest in self.smallest}

    def edge(self, n: int | None) -> Edge | None:
        """At which end of its lengths the n lies from which on a share is kept."""
        return edge_of(n, [length.n for length in self.lengths])


@dataclass(frozen=True, slots=True)
class LateGain:
    """What a system gains from `start` to `end` words, and the reference's first words over the same articles.

    `p` is of the claim that it has stopped gaining, while they have not.
    """

    dataset: str
    system: str
    start: int
    end: int
    gain: Interval
    of_reference: Interval
    p: float

    @computed_field
    @property
    def has_stopped(self) -> bool:
        """Whether that is shown. Of systems that gain just `AT_MOST` of the reference, at most 5 % are said to."""
        return self.p <= ONE_SIDED_ALPHA


@dataclass(frozen=True, slots=True)
class OwnWords:
    """A system that one can choose, with words that are not the article's, or one that NWS only has the texts of.

    Both means are over its summaries of its own length, or of all n where it has none.

    Attributes:
        coverage: the mean share of words that are the article's.
        faithfulness: how well the articles support it, on average; None where the run has not measured that.
    """

    dataset: str
    system: str
    coverage: float
    faithfulness: float | None
