import re
import xml.etree.ElementTree as ET
from functools import partial

import matplotlib as mpl
import pytest
from matplotlib.image import imread
from policy_results import OTHERS, make_results
from system_kinds import CONTROLS, UPPER_BOUNDS, kind_of

from jobs.report.figure_files import save
from jobs.report.looks import system_looks
from jobs.report.means_figure import (
    difference_series,
    draw_policies,
    draw_sweep,
    gain_series,
    score_series,
)
from jobs.report.policies.policy_numbers import analyse_policies
from jobs.report.sweep.numbers import analyse


@pytest.fixture
def draw(run, tmp_path):
    def draw(points):
        png, svg = tmp_path / "plot.png", tmp_path / "plot.svg"
        save(partial(draw_sweep, analyse(run, points)), png, svg)
        return png, svg

    return draw


def heights(series):
    return [(at.x, at.y, at.low, at.high) for at in series.points]


def ringed(series):
    return tuple(at.x for at in series.points if at.ringed)


def text_of(svg):
    """The strings in it, which matplotlib writes as comments, one for each line."""
    return " ".join(re.findall(r"<!-- (.*?) -->", svg.read_text()))


def test_the_series_are_the_numbers(run, make_points):
    numbers = analyse(run, make_points())
    for series, curve in zip(score_series(numbers, "news"), numbers.curves, strict=True):
        assert series.name == curve.system
        assert heights(series) == [(at.n, at.mean, at.low, at.high) for at in curve.lengths]
    gains = gain_series(numbers, "news")
    assert [series.name for series in gains] == ["m|textrank|chunks", "m|textrank|sentences", "lead"]
    assert gains[0].points[4].y == numbers.magic_numbers[0].gains[4].gain.mean


def test_upper_bounds_are_in_the_upper_row_only(run, draw, make_points):
    points = make_points(("good|x", "oracle", "window-oracle", "lead", "random"))
    numbers = analyse(run, points)
    assert [series.name for series in score_series(numbers, "news")][1:3] == ["oracle", "window-oracle"]
    assert [series.name for series in gain_series(numbers, "news")] == ["good|x", "lead"]
    _, svg = draw(points)
    text = svg.read_text()
    for shown in ("oracle (upper bound)", "window-oracle (upper bound)", "saw the reference"):
        assert shown in text, shown
    _, svg = draw(make_points())
    assert "upper bound" not in svg.read_text()


def test_a_mean_over_fewer_articles_is_a_hollow_marker_that_is_explained(draw, make_points):
    points = make_points(("few", "all", "lead", "random"), (7, 9), 30)
    _, svg = draw(points)
    assert "lacks articles" not in text_of(svg)
    _, svg = draw([p for p in points if p.system != "few" or p.n == 7 or p.article_id < "0010"])
    assert "hollow marker: lacks articles" in text_of(svg)


def test_fourteen_systems_look_different_from_each_other_and_from_the_rest():
    systems = [f"s{i:02}" for i in range(14)]
    looks = system_looks({system: kind_of(system) for system in (*systems, *UPPER_BOUNDS, *CONTROLS)})
    assert list(looks) == [*systems, *UPPER_BOUNDS, *CONTROLS]
    assert len(set(looks.values())) == 21
    assert len({(look.colour, look.marker) for look in looks.values() if look.marker}) == 14
    assert len({(look.colour, look.dashes) for look in looks.values()}) == 21
    assert {name for name, look in looks.items() if not look.marker} == {*UPPER_BOUNDS, *CONTROLS}


def test_files_are_pictures_with_text(draw, make_points):
    png, svg = draw(make_points() + make_points(dataset="xsum"))
    height, width, _ = imread(png).shape
    assert width > height > 250
    # The text is drawn as outlines; matplotlib writes each string as a comment beside them.
    text = svg.read_text()
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    for shown in (
        "p1-0421",
        "chunks and sentences: with m, textrank",
        "random (control)",
        "summary length n (words)",
        "seed 7",
    ):
        assert shown in text, shown
    assert "bert-base-uncased_L9_no-idf" in text
    assert "0.1.0+gabc1234" in text


def test_global_settings_are_left_alone(draw, make_points):
    before = dict(mpl.rcParams)
    draw(make_points(articles=2))
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    "make",
    [
        {"articles": 1},
        {"systems": ("a",)},
        {"systems": ("random",)},
        {"lengths": (9,)},
        {"lengths": (9,), "systems": ("a",), "articles": 1},
        {"systems": ("a", "lead")},
        {"systems": ("oracle", "random"), "articles": 3},
        {"systems": ("oracle", "window-oracle", "a", "random"), "articles": 3, "lengths": (9,)},
        {"systems": (*(f"s{i}|textrank|chunks" for i in range(16)), "oracle", "lead", "random"), "articles": 3},
        {"systems": ("cost $5$", "random"), "articles": 3, "dataset": "a_b^c"},
    ],
)
def test_small_and_odd_sweeps_draw_without_warnings(draw, make_points, make):
    png, svg = draw(make_points(**make))
    assert imread(png).std() > 0.01
    assert svg.stat().st_size > 1000


@pytest.fixture
def draw_test(run, tmp_path):
    def draw(metric="bertscore_f1", **make):
        png, svg = tmp_path / "plot.png", tmp_path / "plot.svg"
        assert save(partial(draw_policies, analyse_policies(run, make_results(**make), metric)), png, svg) is None
        return png, svg

    return draw


def test_the_series_of_policies_are_the_numbers(run):
    numbers = analyse_policies(run, make_results())
    scores = numbers.of("news")
    for series in score_series(numbers, "news"):
        at = scores[series.name]
        assert heights(series) == [(n, score.score.mean, score.score.low, score.score.high) for n, score in at.items()]
    differences = {series.name: series for series in difference_series(numbers, "news")}
    assert list(differences) == ["policy|reinforce", "lead2+chunks", "lead"]
    versus = {n: score.versus["textrank"] for n, score in scores["policy|reinforce"].items()}
    assert [y for _, y, _, _ in heights(differences["policy|reinforce"])] == [
        at.difference.mean for at in versus.values()
    ]
    assert ringed(differences["policy|reinforce"]) == tuple(n for n, at in versus.items() if at.significant)


def test_files_of_policies_are_pictures_with_text(draw_test):
    png, svg = draw_test(greedy=[])
    height, width, _ = imread(png).shape
    assert width > 250 < height
    text = " ".join(svg.read_text().split())
    assert ET.fromstring(svg.read_text()).tag == "{http://www.w3.org/2000/svg}svg"
    for shown in (
        "p1-0421",
        "reinforce",
        "oracle (upper bound)",
        "difference to textrank at equal n",
        "seed 0, 1",
    ):
        assert shown in text, shown
    assert "mean BERTScore F1" in text
    assert "mean ROUGE-1 F1" in draw_test("rouge1_f1")[1].read_text()


@pytest.mark.parametrize(
    "make",
    [
        {"articles": 1, "lengths": (7,), "seeds": (0,)},
        {"others": {}},
        {"others": {"textrank": 0.0}, "methods": {}},
        {"others": OTHERS | {f"s{i}": 0.0 for i in range(12)}, "articles": 3},
        {"methods": {"cost-$5$": 3}, "dataset": "a_b^c"},
    ],
)
def test_small_and_odd_tests_draw_without_warnings(draw_test, make):
    png, svg = draw_test(**make)
    assert imread(png).std() > 0.01
    assert svg.stat().st_size > 1000
