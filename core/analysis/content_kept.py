"""How much of the reference's content do n words keep, and how few words keep a given share?

*Content kept* of an article i at n words, after its recall R_i against its own reference and the floor f, which is the
mean recall of the same summaries against references of other articles:

    κ_i(n) = (R_i(n) - f(n)) / (1 - f(n))

0 is what a text about something else gets, 1 is the whole reference. The share of a system at n is the mean of κ_i over
articles, which is (R̄ - f) / (1 - f) of the mean recall R̄. It is no measure of truth: with
"not" put in, a summary keeps 99 % of it.

The floor is estimated from the same articles. Its error counts: every interval and test here is of the values

    ψ_i = (R_i - R̄ - (1 - κ)(F_i - f)) / (1 - f),

where F_i is the mean recall of summary i against references of others. They are the influence of each article on the
share (Hampel 1974, The Influence Curve and its Role in Robust Estimation): their standard deviation over √N is the
share's standard error.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from core.analysis.grids import Grid, build_grids
from core.analysis.intervals import CONFIDENCE, Interval, mean_intervals
from core.analysis.points import Metric, Point, Points
from core.types import SystemKind

Floats: TypeAlias = NDArray[np.float64]
Ceiling: TypeAlias = Literal["reference", "person", "longest"]
"""What a share is of: the whole reference, what another person's summary keeps, or the system's own longest n."""

RECALL: Metric = "kept_recall"
FLOOR: Metric = "kept_floor"
PERSON = "person"
"""The system whose summaries are another reference of the article."""
SHARES: dict[Ceiling, tuple[float, ...]] = {
    "reference": (0.25, 0.5, 0.8, 0.9),
    "person": (0.5, 0.8, 0.9),
    "longest": (0.8, 0.9),
}
"""For each ceiling, the shares whose smallest n is looked for."""
FEWEST_ARTICLES = 12
"""With fewer, no n is claimed: with so few, skewness cannot be estimated."""
ALPHA: dict[Ceiling, float] = {"reference": 0.05, "person": 0.025, "longest": 0.025}
"""How often a test of a claim may err. Where the ceiling is estimated, too, tests at .05 err in up to .09."""
DRAWS = 2_000
_SEED = 20_261_123
_MOST_ARTICLES = 10_000_000


@dataclass(frozen=True, slots=True)
class Share:
    """What a system keeps at n words: the mean over `articles` and its 95 % interval, 1 for the whole ceiling."""

    n: int
    articles: int
    share: Interval


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
class ContentKept:
    """One system on one dataset, held against one ceiling.

    Attributes:
        longest: the longest n of the grid.
        articles: how many articles have a summary at every n; shares and answers are over these.
        dropped: how many other articles lack some.
        lengths: in rising n.
        smallest: for each share of `SHARES`.
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


def content_kept(points: Points | Iterable[Point]) -> tuple[ContentKept, ...]:
    """What each system keeps, by dataset, system and ceiling. Uncut summaries (n = 0) count for `PERSON` alone.

    Raises:
        StoreError: the points are not those of one run, or a score is not a finite number (see `build_grids`).
    """
    points = Points.of(points)
    whole = {dataset: kept for dataset, kept in _persons(points)}
    at_n = points.take(points.n > 0)
    grids = zip(build_grids(at_n, RECALL), build_grids(at_n, FLOOR), strict=True)
    return tuple(kept for recall, floor in grids for kept in _of_dataset(recall, floor, whole.get(recall.dataset)))


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Mean shares of one system at some n, and how each article moves them.

    Attributes:
        shares: float64 of shape (lengths,).
        influence: ψ, float64 of shape (articles, lengths), with mean 0.
        articles: the ids of the articles.
    """

    shares: Floats
    influence: Floats
    articles: tuple[Hashable, ...]

    @classmethod
    def of(cls, recall: Floats, floor: Floats, articles: Iterable[Hashable]) -> "Kept":
        """From recalls against the own reference and against others', each (articles, lengths)."""
        own, other = recall.mean(axis=0), floor.mean(axis=0)
        shares = (own - other) / (1 - other)
        influence = ((recall - own) - (1 - shares) * (floor - other)) / (1 - other)
        return cls(shares, influence, tuple(articles))

    def relative_to(self, ceiling: "Kept") -> "Kept":
        """Shares of what a ceiling of one length keeps, over the articles that both have."""
        theirs_at = {article: place for place, article in enumerate(ceiling.articles)}
        both = [place for place, article in enumerate(self.articles) if article in theirs_at]
        mine = self.influence[both]
        theirs = ceiling.influence[[theirs_at[self.articles[place]] for place in both]]
        shares = self.shares / ceiling.shares
        return Kept(shares, (mine - shares * theirs) / ceiling.shares, tuple(self.articles[i] for i in both))


def _persons(points: Points) -> Iterator[tuple[str, Kept]]:
    uncut = points.take((points.n == 0) & np.isin(np.array(points.systems, dtype=np.object_)[points.system], [PERSON]))
    for recall, floor in zip(build_grids(uncut, RECALL), build_grids(uncut, FLOOR), strict=True):
        yield recall.dataset, Kept.of(recall.values[0].T, floor.values[0].T, recall.articles)


def _of_dataset(recall: Grid, floor: Grid, person: Kept | None) -> Iterator[ContentKept]:
    for s, system in enumerate(recall.systems):
        lengths = np.flatnonzero(recall.present[s].any(axis=1))
        complete = recall.present[s, lengths].all(axis=0)
        dropped = int((recall.present[s].any(axis=0) & ~complete).sum())
        if not complete.any():
            continue
        ids = [recall.articles[i] for i in np.flatnonzero(complete)]
        kept = Kept.of(recall.values[s, lengths][:, complete].T, floor.values[s, lengths][:, complete].T, ids)
        ceilings: dict[Ceiling, Kept] = {"reference": kept}
        if person is not None and system != PERSON and set(person.articles) & set(ids):
            ceilings["person"] = kept.relative_to(person)
        ceilings["longest"] = kept.relative_to(Kept(kept.shares[-1:], kept.influence[:, -1:], kept.articles))
        at = [recall.lengths[i] for i in lengths]
        for of, held in ceilings.items():
            yield ContentKept(
                dataset=recall.dataset,
                system=system,
                kind=recall.kinds[s],
                of=of,
                longest=at[-1],
                articles=len(held.articles),
                dropped=dropped,
                lengths=_lengths(held, at),
                smallest=tuple(_smallest(held, at, x, ALPHA[of]) for x in SHARES[of]),
            )


def _lengths(kept: Kept, at: Sequence[int]) -> tuple[Share, ...]:
    intervals = mean_intervals(kept.shares + kept.influence)
    return tuple(Share(n, len(kept.articles), interval) for n, interval in zip(at, intervals, strict=True))


def _smallest(kept: Kept, at: Sequence[int], x: float, alpha: float) -> SmallestN:
    steps = [*at, None]  # the last: longer than any that was tried
    reached = int(first_kept(kept.shares[None], x)[0])
    noise = _noise(kept)
    low, high = _interval_of_n(kept.shares, noise / math.sqrt(len(kept.articles)), x)
    claimed = smallest_claimed(kept.shares - x, kept.influence, alpha)
    return SmallestN(
        x=x,
        n=steps[reached],
        low=steps[low],
        high=steps[high],
        claimed=steps[claimed],
        articles_for_one_step=None if steps[reached] is None else _articles_for_one_step(kept.shares, noise, x),
    )


def first_kept(shares: Floats, x: float) -> NDArray[np.intp]:
    """For each row of (rows, lengths), the index of the first length from which on all keep x; lengths if none does."""
    below = shares < x
    last_below = shares.shape[1] - np.argmax(below[:, ::-1], axis=1)
    return np.where(below.any(axis=1), last_below, 0)


def smallest_claimed(above: Floats, influence: Floats, alpha: float) -> int:
    """The index of the smallest length that is shown to be above 0, as are all longer ones; lengths if none is.

    The lengths are tested one-sidedly from the longest down, and the first that is not shown ends it. A wrong
    claim needs a wrong rejection at the longest length that does not keep the share, which is a single test: so no
    correction for the number of lengths is needed (Tamhane, Hochberg and Dunnett 1996, Biometrics 52, 21-37).

    Args:
        above: (lengths,), what the shares are above that to be shown.
        influence: (articles, lengths).
        alpha: how often a test may err.
    """
    claimed = len(above)
    if len(influence) < FEWEST_ARTICLES:
        return claimed
    for place in reversed(range(len(above))):
        if above_zero_p(above[place], influence[:, place]) > alpha:
            break
        claimed = place
    return claimed


def above_zero_p(mean: float, deviations: Floats) -> float:
    """One-sided p that a mean is not above 0: by Student's t, plain and corrected for skewness, the larger of the two.

    The correction is Hall's (1992, On the Removal of Skewness by Transformation, Journal of the Royal Statistical
    Society B 54, 221-228). Plain t errs too often where the tail lies below 0; the correction, where few articles make
    the skewness look positive.

    Args:
        mean: of the values.
        deviations: (articles,), the values minus their mean.
    """
    articles = len(deviations)
    spread = math.sqrt(float(deviations @ deviations) / (articles - 1))
    if spread == 0:
        return 0.0 if mean > 0 else 1.0
    t = math.sqrt(articles) * mean / spread
    skew = float(np.mean((deviations / spread) ** 3)) / math.sqrt(articles)
    corrected = t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6
    return float(max(stdtr(articles - 1, -t), stdtr(articles - 1, -corrected)))


def _noise(kept: Kept) -> Floats:
    """Errors of the shares as one article makes them, (DRAWS, lengths): normal, correlated as the articles say."""
    articles, lengths = kept.influence.shape
    covariance = kept.influence.T @ kept.influence / max(1, articles - 1)
    scale = max(float(covariance.max(initial=0.0)), np.finfo(np.float64).tiny)
    factor = np.linalg.cholesky(covariance + 1e-9 * scale * np.eye(lengths))
    return np.asarray(np.random.default_rng(_SEED).standard_normal((DRAWS, lengths)) @ factor.T)


def _interval_of_n(shares: Floats, errors: Floats, x: float) -> tuple[int, int]:
    """The indices between which the middle 95 % of the drawn studies have their smallest n."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(first_kept(shares + errors, x), [tail, 1 - tail], method="inverted_cdf")
    return int(low), int(high)


def _articles_for_one_step(shares: Floats, noise: Floats, x: float) -> int | None:
    articles = FEWEST_ARTICLES
    while articles <= _MOST_ARTICLES:
        low, high = _interval_of_n(shares, noise / math.sqrt(articles), x)
        if high - low <= 1:
            return articles
        articles = math.ceil(articles * 1.1)
    return None
