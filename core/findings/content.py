"""How much of the content systems keep with n words, and with how few words they keep a share of it."""

from typing import Literal, TypeAlias

from pydantic import computed_field
from pydantic.dataclasses import dataclass

from nws.core.findings.scores import ONE_SIDED_LEVEL, Edge, Interval, edge_of
from nws.core.metrics.specs import Metric
from nws.core.text.length import LengthUnit
from nws.core.text.word_kinds import WordKind
from nws.core.types import SystemKind

CONTENT_KEPT: Metric = "kept"
Ceiling: TypeAlias = Literal["reference", "person", "longest"]
"""The whole that a share is of: the reference, what another person's summary keeps, or what the longest n keeps."""


SHARES: dict[Ceiling, tuple[float, ...]] = {
    "reference": (0.25, 0.5, 0.8, 0.9),
    "person": (0.5, 0.8, 0.9),
    "longest": (0.8, 0.9),
}
"""For each ceiling, the shares whose smallest n is looked for."""


@dataclass(frozen=True, slots=True)
class SmallestN:
    """The smallest n that keeps at least the content share `share`, as does every longer n of the grid.

    Attributes:
        n: the smallest n by the mean shares; None where the longest n keeps less than x.
        low: the lower end of the 95 % interval of `n`; None where the interval lies beyond the longest n.
        high: the upper end of that interval; None where it lies beyond the longest n.
        claimed: the smallest n that keeps x with 95 % confidence, as do all longer n: the claim is wrong in at most 5 %
            of studies. None where there is no such n.
        articles_for_one_step: the number of articles with which the interval would be about one step of the grid wide;
            None where `n` is. It is estimated from these articles, and understates how much other articles may vary.
    """

    share: float
    n: int | None
    low: int | None
    high: int | None
    claimed: int | None
    articles_for_one_step: int | None


@dataclass(frozen=True, slots=True)
class Share:
    """The share kept at n words: the mean over `articles` with its 95 % interval. 1 is the whole ceiling.

    `words` is the mean number of words of the system's summaries: most systems write n. None in older documents.
    """

    n: int
    articles: int
    share: Interval
    words: float | None = None


@dataclass(frozen=True, slots=True)
class ContentKept:
    """The content that one system keeps on one dataset, as shares of one ceiling.

    Attributes:
        longest: the longest n of the grid.
        articles: the number of articles with a summary at every n; all shares are means over these.
        dropped: the number of articles that lack a summary at some n, and are left out.
        lengths: the share kept at each n, in rising n.
        smallest: the smallest n for each share of `SHARES`.
        length_unit: what n counts.
    """

    dataset: str
    system: str
    kind: SystemKind
    ceiling: Ceiling
    longest: int
    articles: int
    dropped: int
    lengths: tuple[Share, ...]
    smallest: tuple[SmallestN, ...]
    length_unit: LengthUnit = "words"

    @property
    def by_share(self) -> dict[float, SmallestN]:
        """`smallest` by its share."""
        return {smallest.share: smallest for smallest in self.smallest}

    def edge(self, n: int | None) -> Edge | None:
        """Return at which end of the lengths tried n lies; None where it lies between them."""
        return edge_of(n, [length.n for length in self.lengths])


@dataclass(frozen=True, slots=True)
class KindShare:
    """The share that is kept of one kind of word, over the articles that have it. With few there is no interval."""

    kind: WordKind
    share: Interval
    articles: int


@dataclass(frozen=True, slots=True)
class KindContrast:
    """The kinds of word of which a system keeps most and least.

    `p` is one-sided, of the claim that it keeps more of `most`, and corrected for all pairs of kinds.
    """

    most: WordKind
    least: WordKind
    p: float

    @computed_field
    @property
    def significant(self) -> bool:
        """Whether the difference is significant. If all kinds are kept alike, it is in at most 5 % of studies."""
        return self.p <= ONE_SIDED_LEVEL


@dataclass(frozen=True, slots=True)
class KeptByKind:
    """What one system keeps of each kind of word at n words (0: of its own length), see `nws.core.metrics.kept`.

    Attributes:
        kinds: in the order of `KINDS`; those that no article has are left out.
        contrast: the kinds kept most and least at the longest n; None at any other n, and where fewer than two kinds
            are in enough references.
    """

    dataset: str
    system: str
    n: int
    kinds: tuple[KindShare, ...]
    contrast: KindContrast | None = None

    @property
    def by_kind(self) -> dict[WordKind, KindShare]:
        """`kinds` by kind."""
        return {share.kind: share for share in self.kinds}


@dataclass(frozen=True, slots=True)
class WordsSaved:
    """The smallest n with which `a` keeps as much as `b` with `m` words, as it does with every longer n."""

    dataset: str
    a: str
    b: str
    m: int
    articles: int
    smallest: SmallestN


@dataclass(frozen=True, slots=True)
class LateGain:
    """What a system gains from `start` to `end` words, and what the reference's first words gain on the same articles.

    `p` is of the claim that the system has stopped gaining, while the reference's words have not.
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
        """Whether the claim of `p` is significant. If the gain is just `AT_MOST`, it is in at most 5 % of studies."""
        return self.p <= ONE_SIDED_LEVEL


@dataclass(frozen=True, slots=True)
class Abstractive:
    """A system that may write words which the article lacks, or whose texts alone are known to NWS.

    Both means are over its uncut summaries, or over those of all n where it has no uncut ones.

    Attributes:
        coverage: the mean share of words that the article has, too.
        faithfulness: the mean faithfulness of its summaries to the articles; None where the run has not measured it.
    """

    dataset: str
    system: str
    coverage: float
    faithfulness: float | None
