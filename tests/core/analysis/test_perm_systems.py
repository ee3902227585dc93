from itertools import product

import numpy as np
import pytest

from nws.core.analysis import perm_systems
from nws.core.analysis.correlation import COEFFICIENTS, LEVELS, observed, resampled_correlations
from nws.core.analysis.perm_systems import differences
from nws.core.analysis.sign_flip import holm


def noisy(human, noise, rng):
    return human + rng.normal(scale=noise, size=human.shape)


def made(systems, documents, rng):
    return rng.normal(size=(systems, 1)) + rng.normal(size=(systems, documents))


def compare(metrics, human, seed=0, **options):
    return differences(
        metrics, human, resampled_correlations(metrics, human, seed=seed, resamples=50), seed=seed, **options
    )


def by_place(found):
    return {(one.level, one.coefficient): one for one in found}


def exchanges_by_hand(metrics, human):
    """The difference of correlations found, and in every exchange of systems: (levels, coefficients) each."""
    x, y = ((scores - scores.mean()) / scores.std() for scores in metrics.values())
    gap = observed(x, human) - observed(y, human)
    drawn = []
    for exchanged in product((False, True), repeat=len(human)):
        swapped = np.array(exchanged)[:, None]
        drawn.append(observed(np.where(swapped, y, x), human) - observed(np.where(swapped, x, y), human))
    return gap, np.array(drawn)


def test_exchanges_are_those_of_the_paper():
    """Perm-Systems by hand: standardise, exchange whole systems, correlate again."""
    rng = np.random.default_rng(0)
    human = made(6, 9, rng).round()
    metrics = {"a": noisy(human, 0.7, rng), "b": 20 * noisy(human, 1.1, rng)}
    metrics["a"][:, 2] = 0.0  # a document on which only a has no correlation
    found = by_place(compare(metrics, human))
    gap, drawn = exchanges_by_hand(metrics, human)
    for (i, level), (j, name) in product(enumerate(LEVELS), enumerate(COEFFICIENTS)):
        one = found[level, name]
        assert one.difference == pytest.approx(gap[i, j], abs=1e-12)
        assert (one.p, one.exchanges) == (np.mean(np.abs(drawn[:, i, j]) >= abs(gap[i, j]) - 1e-12), 64)
        assert not one.near


def test_drawn_exchanges_agree_with_all(monkeypatch):
    rng = np.random.default_rng(6)
    human = made(9, 12, rng)
    metrics = {"a": noisy(human, 0.7, rng), "b": noisy(human, 1.1, rng)}
    exact = by_place(compare(metrics, human))
    monkeypatch.setattr(perm_systems, "COUNTED", 8)
    drawn = by_place(compare(metrics, human, most=6000))
    for place, one in drawn.items():
        assert one.p == pytest.approx(exact[place].p, abs=5 * (0.25 / one.exchanges) ** 0.5)
        assert 2001 <= one.exchanges <= 6001


def test_pairs_are_corrected_together_and_swapping_a_pair_keeps_p():
    rng = np.random.default_rng(4)
    human = made(8, 10, rng)
    metrics = {name: noisy(human, 0.4 + i, rng) for i, name in enumerate("abc")}
    found = compare(metrics, human, seed=3)
    assert len(found) == 3 * 2 * 3
    for level, name in product(LEVELS, COEFFICIENTS):
        family = [one for one in found if (one.level, one.coefficient) == (level, name)]
        assert [(one.a, one.b) for one in family] == [("a", "b"), ("a", "c"), ("b", "c")]
        assert [one.p_holm for one in family] == pytest.approx(holm([one.p for one in family]))
    swapped = compare({name: metrics[name] for name in "cba"}, human, seed=3)
    of = {(one.a, one.b, one.level, one.coefficient): one for one in found}
    for one in swapped:
        other = of[one.b, one.a, one.level, one.coefficient]
        assert (one.difference, one.p) == (pytest.approx(-other.difference), other.p)
    assert compare({"a": metrics["a"]}, human) == ()


def test_a_metric_without_a_correlation_is_not_tested():
    rng = np.random.default_rng(5)
    human = made(5, 6, rng)
    metrics = {"flat": np.ones((5, 6)), "a": noisy(human, 1, rng), "b": noisy(human, 1, rng)}
    for one in compare(metrics, human):
        numbers = (one.difference, one.low, one.high, one.p, one.p_holm)
        assert numbers == (None,) * 5 if "flat" in (one.a, one.b) else one.p_holm == one.p


def test_a_verdict_that_another_seed_might_turn_is_called_near(monkeypatch):
    monkeypatch.setattr(perm_systems, "DRAWN_AT_ONCE", 100)
    rng = np.random.default_rng(8)
    human = made(14, 6, rng)
    near, draws = 0, []
    for _ in range(12):
        metrics = {"a": noisy(human, 0.8, rng), "b": noisy(human, 1.6, rng)}
        first, second = (compare(metrics, human, seed=seed, most=1000) for seed in (1, 2))
        for one, other in zip(first, second, strict=True):
            assert one.near or other.near or one.significant == other.significant
            assert not (one.near and one.significant)
            assert (one.p < 0.05) == one.significant or one.near
        near += sum(one.near for one in first)
        draws += [one.exchanges for one in first]
    assert near
    assert min(draws) < max(draws) == 1001  # clear ones end early
