"""What a judge's verdicts show: whether it agrees with itself, and which of two systems it prefers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from core.analysis.intervals import CONFIDENCE, Interval, mean_interval


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a judge says the same when it is asked again.

    Attributes:
        units: how many things have two or more verdicts.
        exact: the share of pairs of verdicts on the same thing that are equal; its interval is over clusters.
        alpha: Krippendorff's alpha: 1 where all verdicts agree, 0 where they agree as often as by chance. None where
            there is but one verdict in all, so that nothing could disagree.
    """

    units: int
    exact: Interval
    alpha: float | None


def agreement(verdicts: Mapping[tuple[str, str], Sequence[int | str]]) -> Agreement | None:
    """The agreement of repeated verdicts; None where nothing has two of them.

    Alpha is that of NLTK (`nltk.metrics.agreement.AnnotationTask.alpha`; Krippendorff, Content Analysis, 1980), with
    the squared distance of numbers (interval data), and 0 or 1 for words (nominal data).

    Args:
        verdicts: by cluster and thing. Of a cluster, such as an article, the shares of its things are averaged first,
            since they are no independent draws.
    """
    repeated = {unit: list(each) for unit, each in verdicts.items() if len(each) > 1}
    if not repeated:
        return None
    shares: dict[str, list[float]] = {}
    for (cluster, _), each in repeated.items():
        pairs = list(combinations(each, 2))
        shares.setdefault(cluster, []).append(sum(one == other for one, other in pairs) / len(pairs))
    exact = mean_interval([sum(share) / len(share) for share in shares.values()])
    return Agreement(len(repeated), exact, _alpha(list(repeated.values())))


def _alpha(repeated: Sequence[Sequence[int | str]]) -> float | None:
    # With much of SciPy and pandas, which others need not wait for.
    from nltk.metrics.agreement import AnnotationTask
    from nltk.metrics.distance import binary_distance, interval_distance

    different = {verdict for each in repeated for verdict in each}
    if len(different) == 1:
        return None
    distance = binary_distance if any(isinstance(verdict, str) for verdict in different) else interval_distance
    rated = [(coder, unit, verdict) for unit, each in enumerate(repeated) for coder, verdict in enumerate(each)]
    return float(AnnotationTask(rated, distance).alpha())


@dataclass(frozen=True, slots=True)
class SignTest:
    """Whether one of two wins more often than the other.

    Attributes:
        wins, losses: of the first.
        share: of the wins among both, with the exact interval of Clopper and Pearson (1934); None without either.
        p: two-sided, of the sign test (Dixon and Mood 1946, "The Statistical Sign Test"): ties take no part.
    """

    wins: int
    losses: int
    share: Interval | None
    p: float | None


def sign_test(wins: int, losses: int, confidence: float = CONFIDENCE) -> SignTest:
    """The sign test of `scipy.stats.binomtest`."""
    from scipy.stats import binomtest

    if not wins + losses:
        return SignTest(0, 0, None, None)
    found = binomtest(wins, wins + losses)
    ends = found.proportion_ci(confidence, "exact")
    share = Interval(wins / (wins + losses), float(ends.low), float(ends.high))
    return SignTest(wins, losses, share, min(1.0, float(found.pvalue)) if math.isfinite(found.pvalue) else None)
