"""The lengths at which a system gains most over `random`, and what is known of a claim such as "7 to 13 words"."""

from collections.abc import Mapping
from dataclasses import field
from itertools import count, groupby

from pydantic import computed_field
from pydantic.dataclasses import dataclass

from nws.core.findings.comparisons import ALPHA, FEWEST_ARTICLES
from nws.core.findings.content import SHARES, SmallestN
from nws.core.findings.scores import Edge, Interval, edge_of
from nws.core.metrics.specs import Metric
from nws.core.types import SystemKind

OF_LONGEST = SHARES["longest"][0]


@dataclass(frozen=True, slots=True)
class Gain:
    """A system minus `random` at equal n, over the `articles` that both have and that have n words.

    Attributes:
        gain: the mean of the per-article differences. The intervals of all n of a system hold at once (Bonferroni).
        p_holm: corrected p of the test that the gain is 0, the same as in `nws compare`.
        too_skewed: whether that test may be wrong more often than it says (`PairedLength.too_skewed`).
        p_behind: the smallest p of a test in which another n gains more, corrected over all pairs of n. None where
            there are too few articles for any p to fall below .05, so that nothing could rule this n out.
    """

    n: int
    articles: int
    gain: Interval
    p_holm: float
    too_skewed: bool
    p_behind: float | None

    @property
    def difference(self) -> Interval:
        """The gain, as `PairedLength` calls it."""
        return self.gain

    @property
    def is_told(self) -> bool:
        """Whether the gain is called significant where people read: of few articles, nothing is."""
        return self.above_random and self.articles >= FEWEST_ARTICLES

    @computed_field
    @property
    def above_random(self) -> bool:
        return self.p_holm < ALPHA and self.gain.mean > 0

    @computed_field
    @property
    def may_be_largest(self) -> bool:
        return self.p_behind is not None and self.p_behind >= ALPHA


@dataclass(frozen=True, slots=True)
class MagicNumber:
    """The n that suit one system on one dataset.

    Attributes:
        articles: how many articles have a summary by the system at every n for which they have words.
        dropped: how many other articles lack some of these summaries.
        best_per_article: bare arg-max over `articles`: n to the share of articles whose F1 is highest there. Ties go to
            the smaller n. Empty without articles.
        median: the median of these best n; None without articles.
        best_by_mean: the n with the highest mean, over those of `articles` that have words for every n; None without
            any.
        gains: the gain over `random` at each n.
        largest_gain: the largest mean gain over the articles that have every n, so that all n are compared over the
            same articles; None without any.
        recommended: every n that may have the largest gain, if the system beats `random` at some n. An n of too few
            articles is not recommended, and an upper bound never is, since it saw the reference.
    """

    dataset: str
    system: str
    kind: SystemKind
    articles: int
    dropped: int
    best_per_article: Mapping[int, float]
    median: float | None
    best_by_mean: int | None
    gains: tuple[Gain, ...]
    largest_gain: Gain | None
    recommended: tuple[int, ...]

    @property
    def tested(self) -> tuple[Gain, ...]:
        """The gains at those n that have enough articles to be told from other n."""
        return tuple(gain for gain in self.gains if gain.p_behind is not None)

    @computed_field
    @property
    def is_conclusive(self) -> bool:
        """Whether some n are recommended and some ruled out. If all are recommended, the sweep gives no answer."""
        return bool(self.recommended) and len(self.recommended) < max(2, len(self.tested))

    @computed_field
    @property
    def edge(self) -> Edge | None:
        """At which end the n lies that is the only one left as that with the largest gain; None if several are left."""
        return edge_of(self.recommended[0], [gain.n for gain in self.gains]) if len(self.recommended) == 1 else None

    @computed_field
    @property
    def most_frequent(self) -> int | None:
        """The n that is best for most articles; the smallest of equals."""
        return max(self.best_per_article, key=lambda n: (self.best_per_article[n], -n), default=None)


def lengths_text(tested: tuple[int, ...], chosen: tuple[int, ...]) -> str:
    """`chosen` as ranges over the `tested` lengths: of 1, 3, 5, 7, 9, the lengths 1, 3, 5 and 9 are "1–5, 9"."""
    runs = [list(run) for is_chosen, run in groupby(tested, lambda n: n in chosen) if is_chosen]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def enough_articles(tests: int) -> int:
    """The fewest articles with which one of so many tests can have a corrected p below `ALPHA`."""
    return next(articles for articles in count(1) if 2 / 2**articles * tests < ALPHA)


@dataclass(frozen=True, slots=True)
class BestN:
    """The n at which a system gains most over `random` in one metric, over the articles that have every n.

    `may_be` are the n that are not shown to gain less than another; none where no gain is shown
    (`MagicNumber.recommended`).
    """

    metric: Metric
    n: int
    may_be: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What each word more keeps from `start` to `end` words: 0.01 is a hundredth of the reference.

    `p_more` is of the test that this is above 0, `p_less` that it is less than in the step before (1 for the first).
    Both are corrected over the steps; what is at most `ONE_SIDED_ALPHA` is shown.
    """

    start: int
    end: int
    per_word: Interval
    p_more: float
    p_less: float


@dataclass(frozen=True, slots=True)
class ClaimedLengths:
    """What is told of the claim that `low` to `high` words are the right number.

    Attributes:
        longest: the longest n tried.
        shares: what `low` and `high` keep, as shares of what `longest` keeps.
        best: by metric; empty without `random`.
        elbows: by where the lengths end, the smallest n that keeps `OF_LONGEST` of what that n keeps.
        steps: between neighbouring n. These three are empty with fewer than `FEWEST_ARTICLES`.
    """

    dataset: str
    system: str
    articles: int
    low: int
    high: int
    longest: int
    shares: tuple[Interval, Interval]
    best: tuple[BestN, ...] = ()
    elbows: Mapping[int, SmallestN] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()

    @property
    def lengths(self) -> tuple[int, ...]:
        """The n between which there are steps."""
        return tuple(dict.fromkeys(n for step in self.steps for n in (step.start, step.end)))

    @computed_field
    @property
    def is_singled_out(self) -> bool:
        """Whether every metric is shown to gain most over `random` at a claimed n.

        It errs only if the test of a metric does that gains most elsewhere: in at most 5 % of studies.
        """
        claimed = set(range(self.low, self.high + 1))
        return bool(self.best) and all(best.may_be and claimed.issuperset(best.may_be) for best in self.best)
