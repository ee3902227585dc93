import numpy as np
import pytest

from nws.core.analysis import magic_numbers
from nws.core.findings.lengths import lengths_text
from nws.jobs.report.wording import magic_number_text

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
    found = by_system(magic_numbers(make_points(sweep, SYSTEMS, LENGTHS, 400)))
    peaked = found["peaked"]
    assert peaked.best_by_mean == 21
    assert peaked.median > 13
    assert 9 in peaked.recommended
    assert set(peaked.recommended) <= {7, 9, 11}
    assert peaked.largest_gain.n in peaked.recommended
    assert magic_number_text(peaked) == lengths_text(LENGTHS, peaked.recommended)
    assert found["random"].best_by_mean == 21
    assert (found["random"].gains, magic_number_text(found["random"])) == ((), "is the control")


def test_a_system_like_random_has_no_recommendation(make_points):
    points = make_points(lambda s, n, a: sweep("random", n, a), ("copy", "random"), LENGTHS, 400)
    copy = by_system(magic_numbers(points))["copy"]
    assert copy.recommended == ()
    assert magic_number_text(copy) == "none: not significantly above random at any n"
    assert all((gain.gain.mean, gain.gain.low, gain.p_holm) == (0, None, 1) for gain in copy.gains)


def test_best_n_per_article_ties_go_to_the_smaller_n(make_points):
    best = {0: 3, 1: 3, 2: 9, 3: 1}
    points = make_points(lambda s, n, a: 0.5 + 0.1 * (n == best[a]) + 0.1 * (a == 3 and n == 7), articles=4)
    number = magic_numbers(points)[0]
    assert number.best_per_article == {1: 0.25, 3: 0.5, 5: 0.0, 7: 0.0, 9: 0.25}
    assert (number.median, number.most_frequent) == (3.0, 3)
    flat = magic_numbers(make_points(lambda *_: 0.5))[0]
    assert (flat.best_per_article[1], flat.most_frequent, flat.best_by_mean, flat.largest_gain.n) == (1.0, 1, 1, 1)


def test_only_complete_articles_take_part_and_the_others_are_counted(make_points):
    lacks = {("random", 5, 7), ("a|textrank|chunks", 1, 9), ("a|textrank|chunks", 3, 9)}
    points = make_points(
        lambda s, n, a: 100.0 if (n, a) in ((5, 7), (1, 9), (3, 9)) else 0.1 * (s != "random") + n / 100,
        skip=lambda *at: at in lacks,
    )
    number = magic_numbers(points)[0]
    # The best n of an article needs every n of the system, the gain at an n what both have there.
    assert (number.articles, number.dropped) == (59, 1)
    assert [gain.articles for gain in number.gains] == [59, 59, 59, 60, 60]
    assert [gain.gain.mean for gain in number.gains] == pytest.approx([0.1] * 5)


def test_an_n_of_too_few_articles_is_neither_tested_nor_recommended(make_points):
    noise = np.random.default_rng(3).normal(0, 0.01, (2, 22, 40))
    # Five articles have 21 words, and there the system is far below random.
    points = make_points(
        lambda s, n, a: float(0.5 + noise[int(s == "random"), n, a] + (s != "random") * (-0.2 if n == 21 else 0.03)),
        lengths=(1, 3, 21),
        articles=40,
        words=lambda s, n, a: n if a < 5 else min(n, 6),
    )
    number = magic_numbers(points)[0]
    assert [gain.articles for gain in number.gains] == [40, 40, 5]
    assert number.gains[-1].p_behind is None
    assert (number.recommended, magic_number_text(number)) == ((1, 3), "1–3: no n ruled out")


def test_n_that_contradict_each_other_are_not_called_no_better_than_random(make_points):
    # Each third of the articles lacks one n, and each n is below another one on the articles that both have.
    ahead = {(1, 0): 0.1, (3, 0): 0.2, (3, 1): 0.1, (5, 1): 0.2, (5, 2): 0.1, (1, 2): 0.2}
    points = make_points(
        lambda s, n, a: 0.3 + (s != "random") * ahead.get((n, a % 3), 0),
        lengths=(1, 3, 5),
        articles=60,
        skip=lambda s, n, a: (n, a % 3) not in ahead,
    )
    number = magic_numbers(points)[0]
    assert all(gain.above_random for gain in number.gains)
    assert (number.recommended, magic_number_text(number)) == ((), "unclear: every n is significantly below another n")


def test_no_two_n_are_ranked_over_different_articles(make_points):
    # The short articles are easy: over all articles n = 1 gains most, over those that have every n it is n = 3.
    points = make_points(
        lambda s, n, a: (s != "random") * (0.9 if a < 10 else 0.1 + (n == 3) / 10),
        lengths=(1, 3, 9),
        articles=20,
        words=lambda s, n, a: min(n, 2) if a < 10 else n,
    )
    number = magic_numbers(points)[0]
    assert (number.largest_gain.n, number.best_by_mean) == (3, 3)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"systems": ("a", "lead")}, "unknown: no summaries by random to compare with"),
        ({"skip": lambda s, n, a: (s == "random") == (n < 5)}, "unknown: no summaries by random to compare with"),
        ({"articles": 1}, "unknown: 1 article cannot tell 5 n apart"),
        ({"articles": 3, "lengths": (7,)}, "unknown: only 3 articles to test"),
    ],
)
def test_why_there_is_no_recommendation(make_points, changes, verdict):
    number = magic_numbers(make_points(lambda s, n, a: n / 100 + 0.1 * (s != "random"), **changes))[0]
    assert (magic_number_text(number), number.recommended) == (verdict, ())


@pytest.mark.parametrize(
    ("recommended", "text"), [((), ""), ((9,), "9"), ((7, 9, 11), "7–11"), ((5, 11), "5, 11"), ((1, 3, 9), "1–3, 9")]
)
def test_lengths_text(recommended, text):
    assert lengths_text(LENGTHS, recommended) == text


def test_an_upper_bound_is_never_recommended(make_points):
    points = make_points(
        lambda s, n, a: 0.3 + a / 1000 + 0.1 * (s not in ("lead", "random")),
        ("a", "oracle", "window-oracle", "lead", "random"),
    )
    found = by_system(magic_numbers(points))
    assert list(found) == ["a", "oracle", "window-oracle", "lead", "random"]
    # The same scores recommend a system.
    assert found["a"].recommended == (1, 3, 5, 7, 9)
    for bound in (found["oracle"], found["window-oracle"]):
        assert (bound.kind, bound.recommended) == ("oracle", ())
        assert magic_number_text(bound) == "is an oracle: it saw the reference"
        assert bound.largest_gain.gain.mean == pytest.approx(0.1)
