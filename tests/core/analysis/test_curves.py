import numpy as np
import pytest

from core.analysis import mean_interval, sweep_curves, uncut_scores


def rising(system, n, article):
    return 0.3 + 0.01 * n + 0.001 * (article % 7) + (0.02 if system != "random" else 0.0)


def test_a_curve_per_dataset_and_system_controls_last(make_points):
    systems = ("z", "lead", "a", "random")
    points = make_points(rising, systems, dataset="xsum") + make_points(rising, systems, dataset="cnn")
    curves = sweep_curves(points, seed=1)
    assert [(c.dataset, c.system) for c in curves] == [
        (dataset, system) for dataset in ("cnn", "xsum") for system in ("a", "z", "lead", "random")
    ]
    assert [c.kind for c in curves[:4]] == ["system", "system", "control", "control"]
    assert [p.n for p in curves[0].lengths] == [1, 3, 5, 7, 9]


def test_upper_bounds_stand_apart(make_points):
    points = make_points(rising, ("lead", "window-oracle", "a", "oracle"))
    kinds = [(c.system, c.kind) for c in sweep_curves(points, seed=1)]
    assert kinds == [
        ("a", "system"),
        ("oracle", "upper bound"),
        ("window-oracle", "upper bound"),
        ("lead", "control"),
    ]
    uncut = uncut_scores(make_points(rising, ("oracle", "a", "lead"), (0,)), seed=1)
    assert [(u.system, u.kind) for u in uncut] == [
        ("a", "system"),
        ("oracle", "upper bound"),
        ("lead", "control"),
    ]


def test_the_numbers_of_a_point(make_points):
    noise = np.random.default_rng(0).normal(0, 0.1, 10)
    points = make_points(lambda s, n, article: float(noise[article]) + n, articles=10, lengths=(2, 4))
    at = sweep_curves(points, seed=3)[0].lengths[1]
    expected = mean_interval(noise + 4, seed=3)
    assert (at.n, at.articles) == (4, 10)
    assert (at.mean, at.low, at.high) == pytest.approx((expected.mean, expected.low, expected.high), abs=1e-12)
    assert at.half_width == pytest.approx((at.high - at.low) / 2)


def test_another_metric(make_points):
    curve = sweep_curves(make_points(rising), "rouge1_f1", seed=1)[0]
    bertscore = sweep_curves(make_points(rising), seed=1)[0]
    assert [p.mean for p in curve.lengths] == pytest.approx([p.mean / 2 for p in bertscore.lengths])


def test_uncut_summaries_are_on_no_curve(make_points):
    uncut = make_points(lambda s, n, a: 0.5, ("bart", "lead-3"), (0,), words=lambda s, n, a: 18 + a % 2)
    assert sweep_curves(uncut, seed=1) == ()
    curves = sweep_curves(uncut + make_points(rising), seed=1)
    assert {(c.system, p.n) for c in curves for p in c.lengths}.isdisjoint({("bart", 0), ("lead-3", 0)})
    bart, lead = uncut_scores(uncut + make_points(rising), seed=1)
    assert (bart.system, bart.articles, bart.words, bart.score.mean) == ("bart", 60, 18.5, 0.5)
    assert lead.system == "lead-3"


def test_an_article_missing_at_one_n_is_missing_there_alone(make_points):
    points = make_points(rising, skip=lambda s, n, a: (n, a) == (5, 2) or (s, n) == ("random", 9))
    curve, control = sweep_curves(points, seed=1)
    assert [p.articles for p in curve.lengths] == [60, 60, 59, 60, 60]
    assert [p.n for p in control.lengths] == [1, 3, 5, 7]


@pytest.mark.parametrize(("articles", "lengths"), [(1, (7,)), (1, (1, 3)), (5, (7,))])
def test_small_sweeps(make_points, articles, lengths):
    (curve,) = sweep_curves(make_points(rising, ("a",), lengths, articles), seed=1)
    for at in curve.lengths:
        assert at.low <= at.mean <= at.high
        assert at.articles == articles


def test_nothing_in_nothing_out():
    assert sweep_curves([], seed=1) == ()
    assert uncut_scores([], seed=1) == ()
