"""Agreement of a judge with itself, and the sign test, against published numbers and against scipy."""

import random

import pytest
from scipy import stats

from core.analysis.verdicts import agreement, sign_test

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", C: 12 units, 4 observers, with missing values.
OBSERVERS = ("1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .")


def units(kind: type) -> dict[tuple[str, str], list[int | str]]:
    columns = zip(*(row.split() for row in OBSERVERS), strict=True)
    return {("", str(i)): [kind(value) for value in column if value != "."] for i, column in enumerate(columns)}


def test_alpha_is_that_of_the_published_example() -> None:
    numbers, words = agreement(units(int)), agreement(units(str))
    assert numbers is not None
    assert words is not None
    assert numbers.alpha == pytest.approx(0.849, abs=5e-4)
    assert words.alpha == pytest.approx(0.743, abs=5e-4)
    assert numbers.units == 11, "what one observer alone has rated has no agreement"


def test_exact_agreement_is_over_pairs_and_its_interval_over_articles() -> None:
    found = agreement({("a", "x"): [4, 4, 5], ("a", "y"): [3, 3, 3], ("b", "x"): [2, 2, 1], ("c", "x"): [5]})
    assert found is not None
    assert found.exact.mean == pytest.approx(((1 / 3 + 1) / 2 + 1 / 3) / 2)
    assert found.exact.low is not None


def test_agreement_that_nothing_could_disturb_has_no_alpha() -> None:
    found = agreement({("a", "x"): [4, 4], ("b", "x"): [4, 4]})
    assert found is not None
    assert (found.exact.mean, found.alpha) == (1, None)
    assert agreement({("a", "x"): [4], ("b", "x"): []}) is None


def test_verdicts_by_chance_have_an_alpha_near_0() -> None:
    draw = random.Random(1)
    found = agreement({(str(i), ""): [draw.randint(1, 5) for _ in range(3)] for i in range(3000)})
    assert found is not None
    assert found.alpha == pytest.approx(0, abs=0.04)
    assert found.exact.mean == pytest.approx(0.2, abs=0.02)


def test_the_sign_test_by_hand() -> None:
    found = sign_test(9, 1)
    assert found.p == pytest.approx(2 * (1 + 10) / 2**10)
    assert found.share is not None
    assert found.share.mean == 0.9
    # Clopper and Pearson, by the quantiles of the beta distribution.
    assert found.share.low == pytest.approx(stats.beta.ppf(0.025, 9, 2))
    assert found.share.high == pytest.approx(stats.beta.ppf(0.975, 10, 1))


def test_the_sign_test_at_its_ends() -> None:
    assert sign_test(0, 0).p is None
    assert sign_test(0, 0).share is None
    assert sign_test(5, 5).p == 1
    nobody = sign_test(0, 6)
    assert nobody.share is not None
    assert nobody.share.low == 0
    assert nobody.p == pytest.approx(2 / 2**6)
