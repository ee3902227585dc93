import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from nws.core.analysis import compare_all_pairs, compare_systems, mean_interval
from nws.core.analysis.paired import TIE
from nws.core.analysis.sign_flip import SMALLEST_P, holm, sign_flip_p

ANY_FIXTURE = [HealthCheck.function_scoped_fixture]


def compare(points, *pairs, **options):
    return compare_systems(points, points, pairs, **options)


def test_the_numbers_of_a_comparison(make_points):
    noise = np.random.default_rng(0).normal(0, 0.02, (2, 10, 60))
    points = make_points(lambda s, n, a: float(0.4 + 0.01 * (s == "a") + noise[int(s == "a"), n, a]), ("a", "b"))
    (found,) = compare(points, ("a", "b"))
    assert (found.dataset, found.a, found.b, [at.n for at in found.lengths]) == ("news", "a", "b", [1, 3, 5, 7, 9])
    at = found.lengths[2]
    differences = 0.01 + noise[1, 5] - noise[0, 5]
    expected = mean_interval(differences)
    assert (at.articles, at.only_a, at.only_b, at.exact) == (60, 0, 0, False)
    assert at.mean_a - at.mean_b == pytest.approx(at.difference.mean)
    assert (at.difference.mean, at.difference.low, at.difference.high) == pytest.approx(
        (expected.mean, expected.low, expected.high), abs=1e-12
    )
    assert at.p == pytest.approx(sign_flip_p(differences[:, None])[0][0], rel=1e-9)
    assert (at.wins, at.ties, at.losses) == ((differences > 0).sum(), 0, (differences < 0).sum())
    assert [at.p_holm for at in found.lengths] == holm([at.p for at in found.lengths])
    assert [at.significant for at in found.lengths] == [at.p_holm < 0.05 for at in found.lengths]


def test_what_rounding_does_is_a_tie_everywhere(make_points):
    points = make_points(lambda s, n, a: 0.4 + (s == "a") * TIE * 0.9, ("a", "b"), (1,))
    at = compare(points, ("a", "b"))[0].lengths[0]
    assert (at.difference.mean, at.p, at.wins, at.ties) == (0, 1, 0, 60)
    points = make_points(lambda s, n, a: 0.4 + (s == "a") * TIE * 2, ("a", "b"), (1,))
    at = compare(points, ("a", "b"))[0].lengths[0]
    assert (at.p, at.wins, at.ties) == (SMALLEST_P, 60, 0)


def test_two_runs_are_paired_by_article_and_n(make_points):
    first = make_points(lambda s, n, a: 0.5, ("a",), (3, 5, 7), 10, skip=lambda s, n, a: a < 2)
    second = make_points(lambda s, n, a: 0.4, ("a", "b"), (5, 7, 9), 8)
    (found,) = compare_systems(first, second, [("a", "b"), ("absent", "b")])
    assert [(at.n, at.articles, at.only_a, at.only_b) for at in found.lengths] == [(5, 6, 2, 2), (7, 6, 2, 2)]
    assert found.left_out == (3, 9)
    assert [at.difference.mean for at in found.lengths] == pytest.approx([0.1, 0.1])


@settings(max_examples=15, deadline=None, suppress_health_check=ANY_FIXTURE)
@given(seed=st.integers(0, 1000), gain=st.sampled_from([0.0, 0.1]))
def test_the_side_of_a_system_does_not_change_the_test(make_points, seed, gain):
    noise = np.random.default_rng(seed).normal(0, 0.05, (2, 6, 21))
    points = make_points(
        lambda s, n, a: float(noise[int(s == "b"), n, a]) + gain * (s == "b"),
        *(("a", "b"), (1, 3, 5), 21),
        skip=lambda s, n, a: n == a,
    )
    (found,), (swapped,) = compare(points, ("a", "b")), compare(points, ("b", "a"))
    for one, other in zip(found.lengths, swapped.lengths, strict=True):
        assert (one.p, one.p_holm, one.wins, one.losses) == (other.p, other.p_holm, other.losses, other.wins)
        assert (one.better, one.worse) == (other.worse, other.better)
        assert one.worse >= bool(gain)
        assert (one.difference.low, one.difference.high) == pytest.approx(
            (-other.difference.high, -other.difference.low)
        )


def test_equal_texts_are_counted(make_points):
    points = make_points(
        lambda s, n, a: 0.5, ("a", "b"), (3, 5), 10, text=lambda s, n, a: "same" if a < n else f"{s} {a}"
    )
    (found,) = compare(points, ("a", "b"))
    assert [(at.n, at.same_text) for at in found.lengths] == [(3, 3), (5, 5)]
    unknown = make_points(lambda s, n, a: 0.5, ("a", "b"), (3,), 10, text=lambda s, n, a: None if s == "a" else "b")
    assert compare(unknown, ("a", "b"))[0].lengths[0].same_text is None


def test_articles_shorter_than_n_take_no_part_and_are_counted(make_points):
    points = make_points(
        lambda s, n, a: 9.0 if a < 15 and n > 6 else 0.1 * (s == "a"),
        ("a", "random"),
        words=lambda s, n, a: min(n, 6) if a < 15 else n,
    )
    (found,) = compare(points, ("a", "random"))
    assert [(at.n, at.articles, at.only_a, at.only_b) for at in found.lengths] == [
        *((n, 60, 0, 0) for n in (1, 3, 5)),
        *((n, 45, 0, 0) for n in (7, 9)),
    ]
    assert [at.difference.mean for at in found.lengths] == pytest.approx([0.1] * 5)
    assert found.short == {7: 15, 9: 15}


def test_what_the_controls_of_one_run_say_of_an_article_holds_for_the_other(make_points):
    first = make_points(lambda *_: 0.5, ("a", "lead"), (9,), 10, words=lambda s, n, a: 6 if a == 0 else n)
    second = make_points(lambda *_: 0.4, ("a",), (9,), 10, words=lambda s, n, a: 6 if a == 0 else n)
    (found,) = compare_systems(first, second, [("a", "a")])
    assert [(at.articles, at.only_a, at.only_b) for at in found.lengths] == [(9, 0, 0)]
    assert found.short == {9: 1}


def test_the_words_that_both_wrote_are_told(make_points):
    points = make_points(
        lambda s, n, a: 0.5, ("a", "random"), (9, 13), 10, words=lambda s, n, a: 6 + a % 2 if (s, n) == ("a", 13) else n
    )
    (found,) = compare(points, ("a", "random"))
    assert [(at.n, at.words_a, at.words_b, at.at_equal_length) for at in found.lengths] == [
        (9, 9, 9, True),
        (13, 6.5, 13, False),
    ]


def test_skewness_is_that_of_scipy(make_points):
    gains = np.exp(np.random.default_rng(1).normal(size=60)) / 10
    points = make_points(lambda s, n, a: (s == "a") * (float(gains[a]) if n == 1 else 0.1), ("a", "b"), (1, 3))
    skewed, flat = compare(points, ("a", "b"))[0].lengths
    assert skewed.skewness == pytest.approx(stats.skew(gains))
    assert (flat.skewness, flat.too_skewed) == (None, False)


def test_every_two_systems_are_compared_at_the_longest_n_that_all_have(make_points):
    noise = np.random.default_rng(5).normal(0, 0.05, (4, 10, 60))
    points = make_points(
        lambda s, n, a: float(noise["abcrandom".index(s) % 4, n, a]),
        ("a", "b", "c", "random"),
        skip=lambda s, n, a: s == "c" and n > 5,
    )
    found = compare_all_pairs(points, "bertscore_f1")
    assert [(one.dataset, one.a, one.b, [at.n for at in one.lengths]) for one in found] == [
        ("news", *pair, [5]) for pair in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    alone = [next(at.p for at in compare(points, (one.a, one.b))[0].lengths if at.n == 5) for one in found]
    assert [one.lengths[0].p for one in found] == alone
    assert [one.lengths[0].p_holm for one in found] == holm(alone)


def test_pairs_are_compared_at_no_n_that_a_system_has_of_few_articles_alone(make_points):
    def lengths(skip):
        points = make_points(lambda s, n, a: 0.5, ("a", "b", "c"), skip=skip)
        return [[at.n for at in one.lengths] for one in compare_all_pairs(points, "bertscore_f1")]

    assert lengths(lambda s, n, a: s == "c" and n == 9 and a < 30) == [[9]] * 3
    assert lengths(lambda s, n, a: s == "c" and n == 9 and a < 31) == [[7]] * 3
    assert lengths(lambda s, n, a: n == 9 and (s == "c") == (a > 0)) == [[7]] * 3
    assert lengths(lambda s, n, a: (s == "c") == (a > 0)) == []
