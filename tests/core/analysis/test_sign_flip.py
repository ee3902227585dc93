import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.analysis import sign_flip
from core.analysis.sign_flip import holm, sign_flip_p

# Tenths repeat, so that ties and equal sums of other signs occur.
DIFFERENCES = st.lists(st.integers(-5, 5).map(lambda tenths: tenths / 10), min_size=1, max_size=40)


def p_of(values, seed=1, resamples=1000):
    return sign_flip_p(np.array(values, dtype=np.float64)[:, None], seed, resamples)[0]


@pytest.mark.parametrize("articles", [2, 5, 9])
def test_few_articles_are_enumerated_as_scipy_does(articles):
    differences = np.random.default_rng(articles).normal(0.3, 1, articles)
    expected = stats.permutation_test(
        (differences, np.zeros(articles)),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        n_resamples=1000,
        vectorized=True,
    )
    assert p_of(differences) == (pytest.approx(expected.pvalue, abs=1e-12), True)


@pytest.mark.parametrize("effect", [0.0, 0.1, 0.2])
def test_many_articles_agree_with_scipy_up_to_the_draw(effect):
    differences = np.random.default_rng(5).normal(effect, 1, 200)
    expected = stats.permutation_test(
        (differences, np.zeros(200)),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=np.random.default_rng(1),
    ).pvalue
    p, exact = p_of(differences, resamples=20_000)
    assert not exact
    assert p == pytest.approx(expected, abs=6 * np.sqrt(expected * (1 - expected) / 20_000) + 1e-4)


def test_drawn_signs_count_the_one_found():
    # 2^40 sign patterns, of which two are as far from 0: none of them is drawn, and still p is not 0.
    assert p_of([1.0] * 40, resamples=99) == (1 / 100, False)


def test_under_the_null_p_is_below_alpha_as_often_as_it_says():
    p = [found for found, _ in sign_flip_p(np.random.default_rng(2).normal(size=(30, 2000)), 1, 999)]
    for alpha in (0.05, 0.2, 0.5):
        assert np.mean(np.array(p) <= alpha) == pytest.approx(alpha, abs=0.04)


@settings(max_examples=60, deadline=None)
@given(values=DIFFERENCES, seed=st.integers(0, 2**32))
def test_p_is_a_probability_and_the_same_for_b_minus_a(values, seed):
    p, exact = p_of(values, seed, 200)
    assert 0 < p <= 1
    assert exact == (2 ** len(values) <= 200)
    assert p_of([-value for value in values], seed, 200) == (p, exact)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.integers(-5, 5), min_size=1, max_size=10))
def test_sums_that_are_equal_but_for_rounding_count_as_equal(values):
    patterns = itertools.product((1, -1), repeat=len(values))
    signed = [sum(s * v for s, v in zip(signs, values, strict=True)) for signs in patterns]
    expected = np.mean([abs(total) >= abs(sum(values)) for total in signed])
    # Whole numbers add without rounding; their tenths do not.
    assert p_of([value / 10 for value in values], resamples=1024)[0] == expected


def test_drawing_in_parts_changes_nothing(monkeypatch):
    values = np.random.default_rng(0).normal(size=(101, 3))
    whole = sign_flip_p(values, seed=5, resamples=500)
    monkeypatch.setattr(sign_flip, "CELLS_AT_ONCE", 1000)
    assert sign_flip_p(values, seed=5, resamples=500) == whole


def test_a_column_that_lacks_articles_is_its_own_sample():
    values = np.random.default_rng(0).normal(0.2, 1, size=(20, 3))
    values[[3, 8], 1] = np.nan
    found = sign_flip_p(values, seed=4, resamples=300)
    assert found[1] == p_of(values[~np.isnan(values[:, 1]), 1], 4, 300)
    assert found[2] == p_of(values[:, 2], 4, 300)


@settings(max_examples=100, deadline=None)
@given(p=st.lists(st.floats(1e-6, 1), min_size=1, max_size=7))
def test_holm_is_the_closed_test_of_bonferroni(p):
    corrected = holm(p)
    for i, found in enumerate(corrected):
        families = [
            family
            for size in range(1, len(p) + 1)
            for family in itertools.combinations(range(len(p)), size)
            if i in family
        ]
        assert found == pytest.approx(min(1, max(len(family) * min(p[j] for j in family) for family in families)))
        assert found >= p[i]
    assert all(corrected[i] <= corrected[j] for i in range(len(p)) for j in range(len(p)) if p[i] <= p[j])


@pytest.mark.parametrize("articles", [15, 33, 700])
def test_sums_in_float32_count_what_sums_in_float64_count(articles):
    """Tenths: many sums are equal to the one found, and float32 alone cannot tell. Half of the columns are clear."""
    rng = np.random.default_rng(articles)
    differences = rng.integers(-3, 4, (articles, 30)) / 10 + np.repeat([0.0, 0.1], 15)
    differences[:, 0] = 0.0
    flips = np.random.default_rng(4).integers(0, 2, (1000, articles))
    sums = np.abs(np.where(flips, -1.0, 1.0) @ differences)
    extreme = (sums >= np.abs(differences.sum(axis=0)) - 1e-9).sum(axis=0)
    assert sign_flip_p(differences, 4, 1000) == [(float((1 + b) / 1001), False) for b in extreme]
