import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from nws.core.analysis import sign_flip
from nws.core.analysis.sign_flip import COUNTED, SMALLEST_P, holm, sign_flip_p

# Tenths repeat, so that ties and equal sums of other signs occur.
DIFFERENCES = st.lists(st.integers(-5, 5).map(lambda tenths: tenths / 10), min_size=1, max_size=40)


def p_of(values):
    return sign_flip_p(np.array(values, dtype=np.float64)[:, None])[0]


def exact_p_of_whole_numbers(values):
    """Every sign pattern, by convolution: how many of them have each sum."""
    shares, reach = np.ones(1), 0
    for value in map(abs, values):
        grown = np.zeros(2 * (reach + value) + 1)
        grown[: 2 * reach + 1] += shares / 2
        grown[2 * value :] += shares / 2
        shares, reach = grown, reach + value
    sums = np.arange(-reach, reach + 1)
    return shares[np.abs(sums) >= abs(sum(values))].sum()


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


@pytest.mark.parametrize("shape", ["normal", "skewed", "one is as large as all others"])
@pytest.mark.parametrize("effect", [0.0, 0.4, 0.7])
def test_the_series_gives_what_counting_all_patterns_gives(monkeypatch, shape, effect):
    rng = np.random.default_rng(3)
    values = effect + (rng.normal(size=26) if shape == "normal" else np.exp(rng.normal(size=26)) - np.exp(0.5))
    values[0] = np.abs(values[1:]).sum() / 3 if shape.startswith("one") else values[0]
    series, exact = p_of(values)
    assert not exact
    monkeypatch.setattr(sign_flip, "COUNTED", 26)
    assert p_of(values) == (pytest.approx(series, rel=0.02), True)


@pytest.mark.parametrize("articles", [30, 60, 400])
@pytest.mark.parametrize("steps", [[1], [0, 1], [2, 3], [0, 1, 2, 5, 9]])
def test_the_series_holds_on_a_grid_where_sums_tie_with_the_one_found(articles, steps):
    """Right or wrong, ratings, counts: sums are whole numbers, and the observed one has a share of its own."""
    rng = np.random.default_rng(articles)
    for towards in (0.5, 0.6, 0.75):
        values = rng.choice(steps, articles) * np.where(rng.random(articles) < towards, 1, -1)
        exact = exact_p_of_whole_numbers(values.tolist())
        # Tenths add with rounding, and must tie as whole numbers do.
        if exact > 1e-4:
            assert 0.97 * exact <= p_of(values / 10)[0] <= 1.1 * exact
        else:
            assert p_of(values / 10)[0] == pytest.approx(exact, rel=0.5, abs=2 * SMALLEST_P)


def test_all_on_one_side_is_the_smallest_p_and_never_0():
    assert p_of([1.0] * COUNTED) == (2 / 2**COUNTED, True)
    assert p_of(np.random.default_rng(0).uniform(1, 2, 200)) == (SMALLEST_P, False)


@settings(max_examples=60, deadline=None)
@given(values=DIFFERENCES)
def test_p_is_a_probability_and_the_same_for_b_minus_a(values):
    p, exact = p_of(values)
    assert 0 < p <= 1
    assert exact == (np.count_nonzero(values) <= COUNTED)
    assert p_of([-value for value in values]) == (p, exact)


@settings(max_examples=60, deadline=None)
@given(values=DIFFERENCES, power=st.integers(-8, 8))
def test_p_is_the_same_in_any_unit_and_articles_without_a_difference_do_not_count(values, power):
    p, exact = p_of(values)
    assert p_of([10.0**power * value for value in [*values, 0.0, 0.0]]) == (pytest.approx(p, rel=1e-6), exact)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.integers(-5, 5), min_size=1, max_size=10))
def test_sums_that_are_equal_but_for_rounding_count_as_equal(values):
    patterns = itertools.product((1, -1), repeat=len(values))
    signed = [sum(s * v for s, v in zip(signs, values, strict=True)) for signs in patterns]
    expected = np.mean([abs(total) >= abs(sum(values)) for total in signed])
    # Whole numbers add without rounding; their tenths do not.
    assert p_of([value / 10 for value in values])[0] == expected


def test_many_columns_at_once_change_nothing(monkeypatch):
    values = np.random.default_rng(0).normal(size=(101, 7))
    values[:, 3] = np.round(values[:, 3])  # its series is longer
    whole = sign_flip_p(values)
    assert whole == [p_of(column) for column in values.T]
    monkeypatch.setattr(sign_flip, "CELLS_AT_ONCE", 1000)
    assert sign_flip_p(values) == whole


@pytest.mark.parametrize("articles", [20, 40])
def test_a_column_that_lacks_articles_is_its_own_sample(articles):
    values = np.random.default_rng(0).normal(0.2, 1, size=(articles, 3))
    values[[3, 8], 1] = np.nan
    found = sign_flip_p(values)
    assert found[1] == (pytest.approx(p_of(values[~np.isnan(values[:, 1]), 1])[0]), articles == 20)
    assert found[2] == p_of(values[:, 2])
    values[:, 0] = np.nan
    with pytest.raises(ValueError, match="a column is empty"):
        sign_flip_p(values)


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


@pytest.mark.parametrize("shape", ["normal", "skewed", "on a grid", "right or wrong"])
@pytest.mark.parametrize("articles", [2_500, 20_000])
def test_the_power_series_of_many_articles_gives_what_cosines_give(monkeypatch, shape, articles):
    rng = np.random.default_rng(articles)
    values = {
        "normal": rng.normal(size=(articles, 6)),
        "skewed": rng.gamma(4, size=(articles, 6)) - 4,
        "on a grid": rng.integers(-5, 6, (articles, 6)) / 10,
        "right or wrong": rng.choice([-1.0, 0.0, 1.0], (articles, 6)),
    }[shape]
    values[:, 1:] += (values[:, 1:] != 0) * np.linspace(0, 0.1, 5)
    taken = []
    of_one = sign_flip._sum_by_powers
    monkeypatch.setattr(sign_flip, "_sum_by_powers", lambda *row: taken.append(row) or of_one(*row))
    fast = sign_flip_p(values)
    assert len(taken) == 6
    monkeypatch.setattr(sign_flip, "_WIDEST", 0.0)
    slow = sign_flip_p(values)
    assert len(taken) == 6
    assert [p for p, _ in fast] == pytest.approx([p for p, _ in slow], rel=1e-9, abs=1e-12)
