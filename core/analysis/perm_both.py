"""Does one metric agree better with human scores than another? Perm-Both of Deutsch, Dror and Roth 2021 (TACL 9).

If two metrics were alike, their standardised scores could be exchanged on any system and on any document. A cell is
exchanged where its system or its document is, but not both. p is two-sided: the share of drawn exchanges whose
difference of correlations is at least as far from 0 as the observed one. The observed difference counts as one of them:
(b + 1) / (m + 1) (Phipson and Smyth 2010).
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.analysis.coefficients import COEFFICIENTS, Coefficient, FloatArray, coefficients, coefficients_of_draws
from core.analysis.correlation import LEVELS, PLACES, Level, mean_over_documents, observed, standardised
from core.analysis.sign_flip import holm

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Difference:
    """The correlation of metric `a` minus that of metric `b`, and the two-sided p of no difference.

    `p_holm` is corrected over all pairs of metrics, at this level and for this coefficient. All three are None where
    one of the correlations is undefined.
    """

    a: str
    b: str
    level: Level
    coefficient: Coefficient
    difference: float | None
    p: float | None
    p_holm: float | None


def differences(
    metrics: Mapping[str, FloatArray], human: FloatArray, *, seed: int, resamples: int = 1_000
) -> tuple[Difference, ...]:
    """Every pair of metrics, in their order: at every level, by every coefficient.

    Every pair sees the same exchanges.

    Args:
        metrics: by name, the scores: float64 of shape (systems, documents), without NaN.
        human: the human scores, of the same shape.
        seed: of numpy's `default_rng`; the same seed and scores give the same p.
        resamples: how many exchanges are drawn.
    """
    rng = np.random.default_rng(seed)
    systems, documents = (rng.random((resamples, size)) < 0.5 for size in human.shape)
    gold = standardised(human)
    scores = {name: standardised(values) for name, values in metrics.items()}
    values = {name: observed(metric, gold) for name, metric in scores.items()}
    pairs = list(itertools.combinations(scores, 2))
    gaps = {(a, b): values[a] - values[b] for a, b in pairs}
    p = {(a, b): _p(gaps[a, b], _exchanged(scores[a], scores[b], gold, systems, documents)) for a, b in pairs}
    results = []
    for (i, level), (j, coefficient) in itertools.product(enumerate(LEVELS), enumerate(COEFFICIENTS)):
        tested = [pair for pair in pairs if not np.isnan(gaps[pair][i, j])]
        corrected = dict(zip(tested, holm([p[pair][i, j] for pair in tested]), strict=True))
        for a, b in pairs:
            if (a, b) in corrected:
                numbers = (gaps[a, b][i, j], p[a, b][i, j], corrected[a, b])
                results.append(Difference(a, b, level, coefficient, *map(float, numbers)))
            else:
                results.append(Difference(a, b, level, coefficient, None, None, None))
    return tuple(results)


def _p(gap: FloatArray, exchanged: FloatArray) -> FloatArray:
    """The p of each level and coefficient, from the differences in each draw, (levels, coefficients, draws)."""
    # Equal differences must not differ by rounding, or a tie with the observed one would not count.
    extreme = (np.abs(exchanged) >= np.abs(gap)[..., None] - 1e-12).sum(axis=-1)
    return np.asarray((extreme + 1) / ((~np.isnan(exchanged)).sum(axis=-1) + 1))


def _exchanged(a: FloatArray, b: FloatArray, gold: FloatArray, systems: BoolArray, documents: BoolArray) -> FloatArray:
    """The difference of correlations in each draw, (levels, coefficients, draws).

    Args:
        a: standardised scores of one metric, (systems, documents).
        b: those of the other.
        gold: human scores, standardised.
        systems: which are exchanged, (draws, systems).
        documents: which are exchanged, (draws, documents).
    """
    return np.stack(
        [_exchanged_means(a, b, gold, systems, documents), _exchanged_summaries(a, b, gold, systems, documents)]
    )


def _exchanged_means(
    a: FloatArray, b: FloatArray, gold: FloatArray, systems: BoolArray, documents: BoolArray
) -> FloatArray:
    moved = documents.astype(np.float64) @ (b - a).T / a.shape[1]
    means_a, means_b = a.mean(axis=1), b.mean(axis=1)
    exchanged_a = np.where(systems, means_b - moved, means_a + moved)
    gold_means = np.broadcast_to(np.round(gold.mean(axis=1), PLACES), exchanged_a.shape)
    correlation_a, correlation_b = (
        coefficients(np.round(means, PLACES), gold_means) for means in (exchanged_a, means_a + means_b - exchanged_a)
    )
    return correlation_a - correlation_b


def _exchanged_summaries(
    a: FloatArray, b: FloatArray, gold: FloatArray, systems: BoolArray, documents: BoolArray
) -> FloatArray:
    # Each system occurs twice, once with its score by a and once by b. A draw takes one of the two.
    scores, golds = np.concatenate([a, b]).T, np.concatenate([gold, gold]).T
    counts = np.concatenate([~systems, systems], axis=1).astype(np.float64)
    drawn_correlations, undrawn_correlations = (
        coefficients_of_draws(scores, golds, drawn) for drawn in (counts, 1 - counts)
    )
    every = np.ones(documents.shape)
    first = mean_over_documents(np.where(documents.T, undrawn_correlations, drawn_correlations), every)
    return first - mean_over_documents(np.where(documents.T, drawn_correlations, undrawn_correlations), every)
