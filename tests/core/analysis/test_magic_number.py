import random
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats
from system_kinds import kind_of

from core.analysis import Gain, Interval, lengths_text, magic_number, magic_numbers, sweep_curves
from core.analysis.points import Point, build_grids

LENGTHS = tuple(range(1, 22, 2))
NOISE = np.random.default_rng(12).normal(0, 0.02, size=(3, 22, 400))
SYSTEMS = ("peaked", "flat", "random")


def sweep(system, n, article):
    """F1 rises with n for all; `peaked` is best over random at 9, `flat` is as good as random but for noise."""
    gain = 0.03 * np.exp(-((n - 9) ** 2) / 18) if system == "peaked" else 0.0
    return float(0.3 + 0.008 * n + gain + NOISE[SYSTEMS.index(system), n, article])


def by_system(numbers):
    return {number.system: number for number in numbers}


def test_the_gain_finds_the_peak_that_the_bare_arg_max_misses(make_points):
    found = by_system(magic_numbers(make_points(sweep, SYSTEMS, LENGTHS, 400), seed=1))
    peaked = found["peaked"]
    assert peaked.best_by_mean == 21
    assert peaked.median > 13
    assert 9 in peaked.recommended
    assert set(peaked.recommended) <= {7, 9, 11}
    assert peaked.largest_gain.n in peaked.recommended
    assert peaked.verdict == lengths_text(LENGTHS, peaked.recommended)
    assert found["random"].best_by_mean == 21
    assert (found["random"].gains, found["random"].verdict) == ((), "is the control")


def test_a_system_like_random_has_no_recommendation(make_points):
    points = make_points(lambda s, n, a: sweep("random", n, a), ("copy", "random"), LENGTHS, 400)
    copy = by_system(magic_numbers(points, seed=1))["copy"]
    assert copy.recommended == ()
    assert copy.verdict == "none: does not beat random at any n"
    assert all(gain.gain.mean == gain.gain.low == gain.gain.high == 0 for gain in copy.gains)


def test_a_system_below_random_has_no_recommendation(make_points):
    points = make_points(lambda s, n, a: 0.3 + 0.01 * (s == "random") + a / 1000)
    worse = by_system(magic_numbers(points, seed=1))["a|textrank|chunks"]
    assert worse.recommended == ()
    assert "does not beat random" in worse.verdict


def test_gains_are_paired_by_article(make_points):
    # Articles differ far more than systems do: unpaired intervals would be 0.5 wide and find nothing.
    hard = np.random.default_rng(1).uniform(0, 0.9, 60)
    wobble = np.random.default_rng(2).normal(0, 0.002, (2, 60))
    points = make_points(lambda s, n, a: float(hard[a] + (s != "random") * (0.01 + wobble[n // 2, a])), lengths=(1, 3))
    number = by_system(magic_numbers(points, seed=6))["a|textrank|chunks"]
    assert number.recommended
    for gain in number.gains:
        differences = 0.01 + wobble[gain.n // 2]
        expected = stats.bootstrap(
            (differences,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(6)
        ).confidence_interval
        assert gain.gain.mean == pytest.approx(differences.mean(), abs=1e-12)
        assert (gain.gain.low, gain.gain.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    largest = number.largest_gain
    assert (largest.behind.mean, largest.behind.low, largest.behind.high) == (0, 0, 0)


def test_best_n_per_article_ties_go_to_the_smaller_n(make_points):
    best = {0: 3, 1: 3, 2: 9, 3: 1}
    points = make_points(lambda s, n, a: 0.5 + 0.1 * (n == best[a]) + 0.1 * (a == 3 and n == 7), articles=4)
    number = magic_numbers(points, seed=1)[0]
    assert number.best_per_article == {1: 0.25, 3: 0.5, 5: 0.0, 7: 0.0, 9: 0.25}
    assert (number.median, number.most_frequent) == (3.0, 3)
    flat = magic_numbers(make_points(lambda *_: 0.5), seed=1)[0]
    assert (flat.best_per_article[1], flat.most_frequent, flat.best_by_mean, flat.largest_gain.n) == (1.0, 1, 1, 1)


def test_only_complete_articles_take_part_and_the_others_are_counted(make_points):
    lacks = {("random", 5, 7), ("a|textrank|chunks", 1, 9), ("a|textrank|chunks", 3, 9)}
    points = make_points(
        lambda s, n, a: 100.0 if a in (7, 9) else 0.1 * (s != "random") + n / 100, skip=lambda *at: at in lacks
    )
    number = magic_numbers(points, seed=1)[0]
    assert (number.articles, number.dropped) == (58, 2)
    assert [gain.gain.mean for gain in number.gains] == pytest.approx([0.1] * 5)


def test_short_summaries_are_named(make_points):
    points = make_points(lambda *_: 0.5, articles=12, words=lambda s, n, a: min(n, 6 if a in (2, 11) else 99))
    assert magic_numbers(points, seed=1)[0].short == ("0002", "0011")


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"systems": ("a", "lead")}, "unknown: the run has no random"),
        ({"articles": 1}, "unknown: one article"),
        ({"skip": lambda s, n, a: (s == "random") == (a < 30)}, "unknown: no article has every n here and in random"),
        ({"skip": lambda s, n, a: (s == "random") == (n < 5)}, "unknown: random was run at other n"),
    ],
)
def test_why_there_is_no_recommendation(make_points, changes, verdict):
    number = magic_numbers(make_points(lambda s, n, a: n / 100 + 0.1 * (s != "random"), **changes), seed=1)[0]
    assert (number.verdict, number.recommended) == (verdict, ())


def test_a_gain_that_is_above_random_but_below_an_uncertain_best_is_not_denied(make_points):
    uncertain = Gain(1, Interval(0.02, -0.001, 0.05), behind=Interval(0.0, 0.0, 0.0))
    sure = Gain(3, Interval(0.01, 0.005, 0.015), behind=Interval(0.01, 0.001, 0.02))
    assert not uncertain.recommended
    assert not sure.recommended
    (grid,) = build_grids(make_points(lambda *_: 0.5), "bertscore_f1")
    assert magic_number._verdict(grid, "a", "system", 60, (uncertain, sure), ()).startswith("unclear")


def test_without_a_complete_article_nothing_is_claimed(make_points):
    number = magic_numbers(make_points(lambda *_: 0.5, skip=lambda s, n, a: n == 1 + 2 * (a % 5)), seed=1)[0]
    assert (number.articles, number.dropped) == (0, 60)
    assert (number.median, number.most_frequent, number.best_by_mean, number.largest_gain) == (None,) * 4


def test_one_n_that_beats_random(make_points):
    number = magic_numbers(make_points(lambda s, n, a: 0.3 + a / 1000 + 0.1 * (s != "random"), lengths=(7,)), seed=1)[0]
    assert (number.recommended, number.verdict, number.best_by_mean) == ((7,), "7", 7)


def test_n_zero_takes_no_part(make_points):
    points = make_points(lambda s, n, a: 1.0 - n / 100, lengths=(0, 7, 9))
    number = magic_numbers(points, seed=1)[0]
    assert (sorted(number.best_per_article), number.best_by_mean) == ([7, 9], 7)


@pytest.mark.parametrize(
    ("recommended", "text"),
    [((), ""), ((9,), "9"), ((7, 9, 11), "7–11"), ((5, 11), "5, 11"), ((1, 3, 9), "1–3, 9")],
)
def test_lengths_text(recommended, text):
    assert lengths_text(LENGTHS, recommended) == text


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1000), shuffle=st.randoms(use_true_random=False))
def test_the_order_of_the_points_changes_nothing(make_points, seed, shuffle: random.Random):
    noise = np.random.default_rng(seed).normal(0, 0.05, (10, 12))
    points = make_points(
        lambda s, n, a: float(noise[n, a]) + 0.01 * len(s), lengths=(1, 3, 5), articles=12, skip=lambda s, n, a: n == a
    )
    mixed = list(points)
    shuffle.shuffle(mixed)
    assert magic_numbers(mixed, seed=seed) == magic_numbers(points, seed=seed)
    assert sweep_curves(mixed, seed=seed) == sweep_curves(points, seed=seed)


def test_a_whole_study_takes_seconds():
    noise = np.random.default_rng(0).normal(0.4, 0.05, (12, 11, 2000)).tolist()
    systems = [*(f"s{i}" for i in range(10)), "lead", "random"]
    points = [
        Point("cnn", str(article), system, n, n, noise[i][k][article], 0.0, 0.0, 0.0, 0.0, 0.0, kind_of(system))
        for i, system in enumerate(systems)
        for k, n in enumerate(LENGTHS)
        for article in range(2000)
    ]
    start = time.process_time()
    assert len(sweep_curves(points, seed=1)) == len(magic_numbers(points, seed=1)) == 12
    assert time.process_time() - start < 30


def test_a_system_is_compared_with_lead_at_equal_n(make_points):
    def f1(system, n, article):
        ahead = {"a|textrank|chunks": 0.02 if n == 1 else -0.02 if n == 9 else 0.0}.get(system, 0.0)
        return 0.3 + n / 100 + ahead + 0.001 * (article % 3) * (1 if system == "lead" else -1) * (n not in (1, 9))

    points = make_points(f1, systems=("a|textrank|chunks", "lead", "random"))
    found = by_system(magic_numbers(points, seed=1))
    assert found["a|textrank|chunks"].better_than_lead == (1,)
    assert 9 in found["a|textrank|chunks"].worse_than_lead
    (gain,) = [gain for gain in found["a|textrank|chunks"].gains if gain.n == 1]
    assert gain.over_lead.mean == pytest.approx(0.02)
    assert all(gain.over_lead is None for gain in found["lead"].gains)
    alone = by_system(magic_numbers(make_points(f1), seed=1))["a|textrank|chunks"]
    assert (alone.better_than_lead, alone.worse_than_lead) == ((), ())


def test_an_upper_bound_is_never_recommended_nor_put_beside_lead(make_points):
    points = make_points(
        lambda s, n, a: 0.3 + a / 1000 + 0.1 * (s not in ("lead", "random")),
        ("a", "oracle", "window-oracle", "lead", "random"),
    )
    found = by_system(magic_numbers(points, seed=1))
    assert list(found) == ["a", "oracle", "window-oracle", "lead", "random"]
    # The same scores recommend a system.
    assert (found["a"].recommended, found["a"].better_than_lead) == ((1, 3, 5, 7, 9), (1, 3, 5, 7, 9))
    for name in ("oracle", "window-oracle"):
        bound = found[name]
        assert bound.kind == "upper bound"
        assert (bound.recommended, bound.better_than_lead, bound.worse_than_lead) == ((), (), ())
        assert bound.verdict == "is an upper bound: it saw the reference"
        assert bound.largest_gain.gain.mean == pytest.approx(0.1)
    alone = by_system(magic_numbers(make_points(lambda *_: 0.5, ("oracle",)), seed=1))["oracle"]
    assert alone.verdict == "is an upper bound: it saw the reference"
