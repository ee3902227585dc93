from itertools import product

import numpy as np
import pytest

from core.analysis.correlation import COEFFICIENTS, LEVELS, observed
from core.analysis.perm_both import differences
from core.analysis.sign_flip import holm


def noisy(human, noise, rng):
    return human + rng.normal(scale=noise, size=human.shape)


def made(systems, documents, rng):
    return rng.normal(size=(systems, 1)) + rng.normal(size=(systems, documents))


def test_exchanges_are_those_of_the_paper():
    """Perm-Both by hand: standardise, exchange whole systems, then whole documents, correlate again."""
    rng = np.random.default_rng(0)
    human = made(6, 9, rng).round()
    a, b = noisy(human, 0.7, rng), 20 * noisy(human, 1.1, rng)
    a[:, 2] = 0.0  # a document on which only a has no correlation
    found = {(one.level, one.coefficient): one for one in differences({"a": a, "b": b}, human, seed=0, resamples=3000)}
    x, y = ((scores - scores.mean()) / scores.std() for scores in (a, b))
    gap = observed(x, human) - observed(y, human)
    extreme = np.zeros(gap.shape)
    for _ in range(400):
        exchanged = (rng.random((6, 1)) < 0.5) ^ (rng.random((1, 9)) < 0.5)
        one, other = np.where(exchanged, y, x), np.where(exchanged, x, y)
        extreme += np.abs(observed(one, human) - observed(other, human)) >= np.abs(gap) - 1e-12
    for (i, level), (j, name) in product(enumerate(LEVELS), enumerate(COEFFICIENTS)):
        assert found[level, name].difference == pytest.approx(gap[i, j], abs=1e-12)
        assert found[level, name].p == pytest.approx(extreme[i, j] / 400, abs=0.09)


def test_metrics_that_are_alike_are_found_different_as_often_as_alpha_says():
    rng = np.random.default_rng(1)
    p = []
    for trial in range(200):
        human = made(8, 12, rng)
        metrics = {name: noisy(human, 1.0, rng) for name in "ab"}
        p.append([one.p for one in differences(metrics, human, seed=trial, resamples=99)])
    for alpha in (0.05, 0.2):
        # 200 trials: three standard errors are 0.046 and 0.085.
        np.testing.assert_allclose((np.array(p) <= alpha).mean(axis=0), alpha, atol=0.09 if alpha == 0.2 else 0.05)


def test_a_metric_that_is_much_better_is_found():
    rng = np.random.default_rng(2)
    human = made(12, 30, rng)
    found = differences({"noise": rng.normal(size=human.shape), "good": noisy(human, 0.2, rng)}, human, seed=0)
    assert all(one.difference < 0 and one.p <= 0.01 for one in found)


def test_p_counts_the_scores_found_as_one_of_the_draws():
    human = made(5, 6, np.random.default_rng(3))
    for one in differences({"a": human, "b": human * 2 + 1}, human, seed=0, resamples=50):
        assert (one.difference, one.p) == (pytest.approx(0, abs=1e-12), 1.0)


def test_pairs_are_corrected_together_and_swapping_a_pair_keeps_p():
    rng = np.random.default_rng(4)
    human = made(8, 10, rng)
    metrics = {name: noisy(human, 0.4 + i, rng) for i, name in enumerate("abc")}
    found = differences(metrics, human, seed=3, resamples=200)
    assert len(found) == 3 * 2 * 3
    for level, name in product(LEVELS, COEFFICIENTS):
        family = [one for one in found if (one.level, one.coefficient) == (level, name)]
        assert [(one.a, one.b) for one in family] == [("a", "b"), ("a", "c"), ("b", "c")]
        assert [one.p_holm for one in family] == pytest.approx(holm([one.p for one in family]))
    swapped = differences({name: metrics[name] for name in "cba"}, human, seed=3, resamples=200)
    of = {(one.a, one.b, one.level, one.coefficient): one for one in found}
    for one in swapped:
        other = of[one.b, one.a, one.level, one.coefficient]
        assert (one.difference, one.p) == (pytest.approx(-other.difference), other.p)
    assert differences({"a": metrics["a"]}, human, seed=0) == ()


def test_a_metric_without_a_correlation_is_not_tested():
    rng = np.random.default_rng(5)
    human = made(5, 6, rng)
    metrics = {"flat": np.ones((5, 6)), "a": noisy(human, 1, rng), "b": noisy(human, 1, rng)}
    for one in differences(metrics, human, seed=0, resamples=50):
        numbers = (one.difference, one.p, one.p_holm)
        assert numbers == (None, None, None) if "flat" in (one.a, one.b) else one.p_holm == one.p
