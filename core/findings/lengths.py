"""The lengths at which a system gains most over `random`, and the tests of a claim such as "7 to 13 words"."""

from collections.abc import Mapping
from dataclasses import field
from itertools import count, groupby

from pydantic import computed_field
from pydantic.dataclasses import dataclass

from nws.core.findings.comparisons import FEWEST_ARTICLES, TWO_SIDED_LEVEL
from nws.core.findings.content import SHARES, SmallestN
from nws.core.findings.scores import Edge, Interval, edge_of
from nws.core.metrics.specs import Metric
from nws.core.types import SystemKind

OF_LONGEST = SHARES["longest"][0]


@dataclass(frozen=True, slots=True)
class Gain:
    """A system minus `random` at equal n, over the `articles` of at least n words for which both have a summary.

    Attributes:
        gain: the mean of the per-article differences. The intervals of all n of a system hold at once (Bonferroni).
        p_holm: corrected p of the test that the gain is 0, the same as in `nws compare`.
        too_skewed: whether the error rate of that test may exceed its level (`PairedLength.too_skewed`).
        p_behind: the smallest p of the tests in which another n gains more, corrected over all pairs of n. None where
            there are too few articles for any p to fall below .05, so that no test could rule this n out.
    """

    n: int
    articles: int
    gain: Interval
    p_holm: float
    too_skewed: bool
    p_behind: float | None

    @property
    def difference(self) -> Interval:
        """The gain, under the name that `PairedLength` has for it."""
        return self.gain

    @property
    def significant(self) -> bool:
        """Whether the gain is significantly above 0. With few articles nothing is significant."""
        return self.above_random and self.articles >= FEWEST_ARTICLES

    @computed_field
    @property
    def above_random(self) -> bool:
        return self.p_holm < TWO_SIDED_LEVEL and self.gain.mean > 0

    @computed_field
    @property
    def may_be_largest(self) -> bool:
        return self.p_behind is not None and self.p_behind >= TWO_SIDED_LEVEL


@dataclass(frozen=True, slots=True)
class MagicNumber:
    """The n that are best for one system on one dataset, by several criteria.

    Attributes:
        articles: the number of articles with a summary by the system at every n for which they have words.
        dropped: the number of other articles, which lack some of these summaries.
        best_per_article: maps n to the share of `articles` whose score is highest there. Ties go to the smaller n.
            Empty without articles.
        median: the median of these best n; None without articles.
        best_by_mean: the n with the highest mean over those `articles` that have words for every n; None without such
            articles.
        gains: the gain over `random` at each n.
        largest_gain: the largest mean gain over the articles that have every n, so that all n are compared over the
            same articles; None without such articles.
        recommended: every n that may have the largest gain, if the system is significantly above `random` at some n. An
            n with too few articles is not recommended. Nothing is recommended for an oracle, which saw the reference.
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
        """The gains at the n that have enough articles for a test against other n."""
        return tuple(gain for gain in self.gains if gain.p_behind is not None)

    @computed_field
    @property
    def is_conclusive(self) -> bool:
        """Whether some n are recommended and others ruled out. If all n are recommended, the sweep gives no answer."""
        return bool(self.recommended) and len(self.recommended) < max(2, len(self.tested))

    @computed_field
    @property
    def edge(self) -> Edge | None:
        """At which end of the lengths tried the only recommended n lies; None if several n are recommended."""
        return edge_of(self.recommended[0], [gain.n for gain in self.gains]) if len(self.recommended) == 1 else None

    @computed_field
    @property
    def most_frequent(self) -> int | None:
        """The n that is best for most articles; of several such n, the smallest."""
        return max(self.best_per_article, key=lambda n: (self.best_per_article[n], -n), default=None)


def lengths_text(tested: tuple[int, ...], chosen: tuple[int, ...]) -> str:
    """Write the `chosen` lengths as ranges of the `tested` ones: 1, 3, 5 and 9 of 1, 3, 5, 7, 9 are "1–5, 9"."""
    runs = [list(run) for is_chosen, run in groupby(tested, lambda n: n in chosen) if is_chosen]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def enough_articles(tests: int) -> int:
    """Return the fewest articles with which one of this many tests can have a corrected p below `TWO_SIDED_LEVEL`."""
    return next(articles for articles in count(1) if 2 / 2**articles * tests < TWO_SIDED_LEVEL)


@dataclass(frozen=True, slots=True)
class BestN:
    """The n at which a system gains most over `random` in one metric, over the articles that have every n.

    `may_be` are the n that do not gain significantly less than another n; empty where no gain is significant
    (`MagicNumber.recommended`).
    """

    metric: Metric
    n: int
    may_be: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What each additional word keeps from `start` to `end` words: 0.01 is a hundredth of the reference.

    `p_more` is of the test that this is above 0, `p_less` of the test that it is less than in the step before (1 for
    the first step). Both are corrected over the steps, and significant at `ONE_SIDED_LEVEL` or less.
    """

    start: int
    end: int
    per_word: Interval
    p_more: float
    p_less: float


@dataclass(frozen=True, slots=True)
class ClaimedLengths:
    """The evidence on the claim that `low` to `high` words are the right number.

    Attributes:
        longest: the longest n tried.
        shares: what `low` and `high` words keep, as shares of what `longest` words keep.
        best: the n with the largest gain in each metric; empty without `random`.
        elbows: maps an n, taken as the longest, to the smallest n that keeps `OF_LONGEST` of what that n keeps.
        steps: the steps between neighbouring n. `best`, `elbows` and `steps` are empty with fewer articles than
            `FEWEST_ARTICLES`.
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
        """Whether by every metric the gain over `random` is significantly largest at claimed n.

        This is wrong only if the test errs for a metric that gains most at another n: in at most 5 % of studies.
        """
        claimed = set(range(self.low, self.high + 1))
        return bool(self.best) and all(best.may_be and claimed.issuperset(best.may_be) for best in self.best)


@dataclass(frozen=True, slots=True)
class Obedience:
    """How well a system keeps to the n words or characters that it is asked for, before any text is cut.

    Attributes:
        system: its name.
        n: the number that it was asked for.
        summaries: the number of its summaries at n.
        mean_length: their mean length.
        exactly, within: the shares, in [0, 1], of summaries of length n, and of n at most. The others are cut.
        absolute_miss: the mean absolute difference between their length and n.
        first_exactly, first_absolute_miss: the same for first answers, before any draft; None where a system writes
            only one.
        requests, drafts: the requests that all of this took, and the drafts that were read.
    """

    system: str
    n: int
    summaries: int
    mean_length: float
    exactly: float
    within: float
    absolute_miss: float
    first_exactly: float | None
    first_absolute_miss: float | None
    requests: int
    drafts: int

    @property
    def miss(self) -> float:
        """The mean difference between their length and n."""
        return self.mean_length - self.n
