import math
from dataclasses import replace

import numpy as np
import pytest
from made_scores import in_columns, list_kept_points

from nws.core.analysis import mean_interval, sweep_curves, uncut_scores
from nws.core.analysis.points import Points


def rising(system, n, article):
    return 0.3 + 0.01 * n + 0.001 * (article % 7) + (0.02 if system != "random" else 0.0)


def test_a_curve_per_dataset_and_system_upper_bounds_and_controls_last(make_points):
    systems = ("z", "lead", "oracle", "a", "random")
    points = Points.together([make_points(rising, systems, dataset=dataset) for dataset in ("xsum", "cnn")])
    curves = sweep_curves(points)
    assert [(c.dataset, c.system) for c in curves] == [
        (dataset, system) for dataset in ("cnn", "xsum") for system in ("a", "z", "oracle", "lead", "random")
    ]
    assert [c.kind for c in curves[:5]] == ["system", "system", "oracle", "control", "control"]
    assert [p.n for p in curves[0].lengths] == [1, 3, 5, 7, 9]
    assert sweep_curves(Points.none()) == uncut_scores(Points.none()) == ()


def test_the_numbers_of_a_point(make_points):
    noise = np.random.default_rng(0).normal(0, 0.1, 10)
    points = make_points(lambda s, n, article: float(noise[article]) + n, articles=10, lengths=(2, 4))
    at = sweep_curves(points)[0].lengths[1]
    expected = mean_interval(noise + 4)
    assert (at.n, at.articles) == (4, 10)
    assert (at.mean, at.low, at.high) == pytest.approx((expected.mean, expected.low, expected.high), abs=1e-12)
    assert at.half_width == pytest.approx((at.high - at.low) / 2)


def test_uncut_summaries_are_on_no_curve(make_points):
    uncut = make_points(lambda s, n, a: 0.5, ("bart", "lead-3"), (0,), words=lambda s, n, a: 18 + a % 2)
    assert sweep_curves(uncut) == ()
    curves = sweep_curves(Points.together([uncut, make_points(rising)]))
    assert {(c.system, p.n) for c in curves for p in c.lengths}.isdisjoint({("bart", 0), ("lead-3", 0)})
    bart, lead = uncut_scores(Points.together([uncut, make_points(rising)]))
    assert (bart.system, bart.articles, bart.words, bart.score.mean) == ("bart", 60, 18.5, 0.5)
    assert lead.system == "lead-3"


def test_uncut_summaries_without_a_score_that_may_be_missing_do_not_count():
    points = [*list_kept_points({"a": {0: 0.5}}, articles=3), *list_kept_points({"b": {0: math.nan}}, articles=3)]
    points[0] = replace(points[0], words=99, scores={**points[0].scores, "kept": math.nan})
    (a,) = uncut_scores(in_columns(points), "kept")
    assert (a.system, a.articles, a.words) == ("a", 2, 25.0)


def test_means_at_one_n_are_over_the_articles_that_all_systems_have(make_points):
    lacks = {("a", 5, 2), ("b", 5, 3), ("random", 9, 0)}
    points = make_points(
        lambda s, n, a: 100.0 if a in (2, 3) else 0.5, ("a", "b", "random"), skip=lambda *at: at in lacks
    )
    for curve in sweep_curves(points):
        at = {point.n: point for point in curve.lengths}
        assert [(at[n].articles, at[n].of_articles, at[n].comparable) for n in (1, 5, 9)] == [
            (60, 60, True),
            (58, 60, True),
            (59, 60, True),
        ]
        assert at[5].mean == 0.5


def test_a_system_that_lacks_many_articles_stands_apart(make_points):
    # The first ten articles are easy, and one system has only these.
    points = make_points(
        lambda s, n, a: 0.9 - 0.1 * (s == "few") if a < 10 else 0.3,
        ("few", "all", "random"),
        (7,),
        30,
        skip=lambda s, n, a: s == "few" and a >= 10,
    )
    at = {curve.system: curve.lengths[0] for curve in sweep_curves(points)}
    assert (at["few"].mean, at["few"].articles, at["few"].comparable) == (pytest.approx(0.8), 10, False)
    for system in ("all", "random"):
        assert (at[system].mean, at[system].articles, at[system].comparable) == (pytest.approx(0.5), 30, True)
