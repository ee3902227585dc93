"""Does one metric agree better with human scores than another? Perm-Systems of Deutsch, Dror and Roth 2021 (TACL 9).

If two metrics were equally good, their standardised scores could be exchanged on any system, for all of its documents.
p is two-sided: the share of exchanges in which the difference of correlations is at least as far from 0 as the observed
difference. Up to `COUNTED` systems, all 2^systems exchanges are counted. With more systems, m exchanges are drawn. If b
of them are at least as far from 0, p is (b + 1) / (m + 1), so that the observed one counts, too (Phipson and Smyth
2010).

Documents are not exchanged, as they are in the paper's Perm-Both. A metric that favours some systems does so on all
their documents, and an exchange by document would average this out (docs/correlate.md has the error rates).

Draws go on until every verdict would be the same with any seed (MMCTest of Gandy and Hahn 2014, Scandinavian Journal of
Statistics 41): each p has bounds that contain it in all but 1 of 10,000 cases, and the verdicts by Holm's correction of
all lower bounds and of all upper bounds must agree. A verdict for which they disagree after `MOST_EXCHANGES` draws is
called near.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from nws.core.analysis.correlation import (
    COEFFICIENTS,
    LEVELS,
    PLACES,
    Coefficient,
    FloatArray,
    Level,
    coefficients,
    coefficients_of_draws,
    interval_ends,
    mean_of_filled,
    mean_over_documents,
    observed,
    standardised,
)
from nws.core.analysis.sign_flip import holm
from nws.core.findings.comparisons import TWO_SIDED_LEVEL

COUNTED = 12
"""The largest number of systems for which all exchanges are counted."""
DRAWN_AT_ONCE = 2_000
MOST_EXCHANGES = 50_000
RISK = 1e-4
"""How often the bounds of a p do not contain it, at any one look."""
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Difference:
    """The correlation of metric `a` minus that of metric `b`, with its bootstrap interval and its test.

    `difference`, `low`, `high`, `p` and `p_holm` are None where one of the correlations is undefined.

    Attributes:
        low, high: the ends of the interval (Boot-Both, as that of a correlation).
        p: the p of the test that there is no difference.
        p_holm: p corrected over all pairs of metrics, at this level and for this coefficient.
        exchanges: the number of exchanges from which p is computed, including the observed one.
        near: whether `p_holm` is so near to `ALPHA` that another seed might give the other verdict.
    """

    a: str
    b: str
    level: Level
    coefficient: Coefficient
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    exchanges: int
    near: bool

    @property
    def significant(self) -> bool:
        return self.p_holm is not None and self.p_holm < TWO_SIDED_LEVEL and not self.near


def differences(
    metrics: Mapping[str, FloatArray],
    human: FloatArray,
    resampled: Mapping[str, FloatArray],
    *,
    seed: int,
    most: int = MOST_EXCHANGES,
) -> tuple[Difference, ...]:
    """Compare every pair of metrics, in their order, at every level and by every coefficient.

    Args:
        metrics: the scores by name of the metric: float64 of shape (systems, documents), NaN where `human` is.
        human: the human scores, of the same shape.
        resampled: the correlations of each metric in bootstrap resamples (`resampled_correlations`).
        seed: the seed of numpy's `default_rng`; the same seed and scores give the same p.
        most: the largest number of exchanges that are drawn.
    """
    gold = standardised(human)
    scores = {name: standardised(values) for name, values in metrics.items()}
    values = {name: observed(metric, gold) for name, metric in scores.items()}
    pairs = list(itertools.combinations(scores, 2))
    if not pairs:
        return ()
    gaps = np.stack([values[a] - values[b] for a, b in pairs])
    ends = [interval_ends(resampled[a] - resampled[b]) for a, b in pairs]
    tests = _tests(scores, gold, gaps, seed, most)
    found = []
    for (i, level), (j, coefficient), (k, names) in itertools.product(
        enumerate(LEVELS), enumerate(COEFFICIENTS), enumerate(pairs)
    ):
        place = k, i, j
        numbers = gaps[place], *ends[k][:, i, j], tests.p[place], tests.p_holm[place]
        difference, low, high, p, p_holm = (None if np.isnan(gaps[place]) else float(number) for number in numbers)
        exchanges, near = int(tests.exchanges[place]), bool(tests.near[place])
        found.append(Difference(*names, level, coefficient, difference, low, high, p, p_holm, exchanges, near))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Tests:
    """The tests of all differences: arrays of shape (pairs, levels, coefficients), p NaN where it is undefined."""

    p: FloatArray
    p_holm: FloatArray
    exchanges: FloatArray
    near: BoolArray


def _tests(scores: Mapping[str, FloatArray], gold: FloatArray, gaps: FloatArray, seed: int, most: int) -> _Tests:
    """Test all pairs of `scores`, whose observed differences are `gaps`, (pairs, levels, coefficients)."""
    pairs = list(itertools.combinations(scores.values(), 2))
    is_counted = len(gold) <= COUNTED
    extreme, exchanges = np.zeros(gaps.shape), np.zeros(gaps.shape)
    unclear = np.argwhere(np.ones(gaps.shape[:2], dtype=np.bool_))
    tests = _corrected(gaps, extreme, exchanges, is_counted)
    for systems in [_all_exchanges(len(gold))] if is_counted else _drawn_exchanges(len(gold), seed, most):
        for k, i in unclear:
            a, b = pairs[k]
            exchanged = exchanged_at(LEVELS[i], a, b, gold, systems)
            # Equal differences must not differ by rounding, or a tie with the observed one would not count.
            extreme[k, i] += (np.abs(exchanged) >= np.abs(gaps[k, i])[:, None] - 1e-12).sum(axis=-1)
            exchanges[k, i] += (~np.isnan(exchanged)).sum(axis=-1)
        tests = _corrected(gaps, extreme, exchanges, is_counted)
        unclear = np.argwhere(tests.near.any(axis=2))
        if not unclear.size:
            break
    return tests


def _corrected(gaps: FloatArray, extreme: FloatArray, exchanges: FloatArray, is_counted: bool) -> _Tests:
    if not is_counted:
        extreme, exchanges = extreme + 1, exchanges + 1
    p = np.where(np.isnan(gaps), np.nan, extreme / np.maximum(exchanges, 1))
    if is_counted:
        low = high = p
    else:
        low = np.where(np.isnan(p), np.nan, beta.ppf(RISK / 2, extreme, exchanges - extreme + 1))
        high = np.where(np.isnan(p), np.nan, beta.ppf(1 - RISK / 2, extreme + 1, np.maximum(exchanges - extreme, 1e-9)))
    p_holm = _holm(p)
    return _Tests(p, p_holm, exchanges, (_holm(low) < TWO_SIDED_LEVEL) != (_holm(high) < TWO_SIDED_LEVEL))


def _holm(p: FloatArray) -> FloatArray:
    """Correct p over the first axis, the pairs, without those that are NaN."""
    corrected = np.full(p.shape, np.nan)
    for i, j in np.ndindex(*p.shape[1:]):
        tested = ~np.isnan(p[:, i, j])
        corrected[tested, i, j] = holm(p[tested, i, j].tolist())
    return corrected


def _all_exchanges(systems: int) -> BoolArray:
    return np.asarray((np.arange(2**systems)[:, None] >> np.arange(systems)) & 1 == 1)


def _drawn_exchanges(systems: int, seed: int, most: int) -> Iterator[BoolArray]:
    rng = np.random.default_rng(seed)
    for start in range(0, most, DRAWN_AT_ONCE):
        yield rng.random((min(DRAWN_AT_ONCE, most - start), systems)) < 0.5


def exchanged_at(level: Level, a: FloatArray, b: FloatArray, gold: FloatArray, systems: BoolArray) -> FloatArray:
    """Return the difference of correlations in each exchange, (coefficients, exchanges).

    Args:
        level: the level of the correlations.
        a: the standardised scores of one metric, (systems, documents).
        b: the standardised scores of the other metric.
        gold: the standardised human scores.
        systems: whether each system is exchanged, (exchanges, systems).
    """
    return _correlations_of(level, a, b, gold, systems) - _correlations_of(level, a, b, gold, ~systems)


def _correlations_of(level: Level, a: FloatArray, b: FloatArray, gold: FloatArray, systems: BoolArray) -> FloatArray:
    """Return the correlations of scores that are `b` on the chosen `systems`, (choices, systems), and `a` elsewhere."""
    if level == "system":
        mean_a, mean_b, mean_gold = (np.round(mean_of_filled(scores)[:, 0], PLACES) for scores in (a, b, gold))
        return coefficients(np.where(systems, mean_b, mean_a), np.broadcast_to(mean_gold, systems.shape))
    # Each system occurs twice, once with its score by a and once with that by b. One of the two is taken.
    scores, golds = np.concatenate([a, b]).T, np.concatenate([gold, gold]).T
    taken = np.concatenate([~systems, systems], axis=1).astype(np.float64)
    return mean_over_documents(coefficients_of_draws(scores, golds, taken), np.ones((len(systems), a.shape[1])))
