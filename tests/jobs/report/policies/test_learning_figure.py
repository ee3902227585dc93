import xml.etree.ElementTree as ET
from functools import partial

import pytest
from matplotlib.image import imread
from policy_results import make_results

from jobs.report.figure_files import save
from jobs.report.policies.learning_curves import learning_lines
from jobs.report.policies.learning_figure import choose_axis, draw_learning
from jobs.report.policies.policy_numbers import analyse_policies


@pytest.fixture
def draw(run, tmp_path):
    def draw(**make):
        png, svg = tmp_path / "plot.png", tmp_path / "plot.svg"
        save(partial(draw_learning, analyse_policies(run, make_results(**({"points": []} | make)))), png, svg)
        return png, svg

    return draw


def test_files_are_pictures_with_text(draw):
    png, svg = draw()
    height, width, _ = imread(png).shape
    assert width > height > 250
    # The text is drawn as outlines; matplotlib writes each string as a comment beside them.
    text = svg.read_text()
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    for shown in ("n = 7", "n = 13", "reinforce (mean of 2 seeds)", "advantage baseline", "mean entropy (nats)"):
        assert shown in text, shown
    for made_by in ("p1-0421", "bertscore_f1|tiny_L2", "seeds 0, 1", "0.1.0+gabc1234", "30 equal windows"):
        assert made_by in text, made_by


def test_methods_with_many_and_few_updates_share_an_axis_of_percent(draw):
    near, far = (learning_lines(make_results(methods={"a": 10, "b": b}).curve) for b in (15, 16))
    assert not choose_axis(near).is_share
    axis = choose_axis(far)
    assert axis.is_share
    assert axis.x(far[0]) == pytest.approx([5 + 10 * i for i in range(10)])
    assert choose_axis(near).x(near[0]) == list(range(10))
    assert "updates done (%)" in draw(methods={"a": 10, "b": 16})[1].read_text()
    assert "updates done (%)" not in draw(methods={"a": 10, "b": 15})[1].read_text()


def test_a_baseline_of_zero_is_no_line(draw):
    assert "advantage baseline" not in draw(methods={"as-written": 40})[1].read_text()
    assert "advantage baseline" in draw(methods={"as-written": 40, "reinforce": 40})[1].read_text()


def test_one_seed_has_no_band_and_few_updates_are_not_smoothed(draw):
    text = draw(methods={"reinforce": 20}, seeds=(3,))[1].read_text()
    assert "lowest to highest seed" not in text
    assert "equal windows" not in text
    assert "seed 3" in text


@pytest.mark.parametrize(
    "make",
    [
        {"methods": {"a": 1}},
        {"methods": {"a": 1}, "lengths": (7,), "seeds": (0,)},
        {"methods": {"a": 1, "b": 200}, "lengths": (9,)},
        {"methods": {f"method-{i}": 3 + i for i in range(9)}, "lengths": (7, 9)},
        {"methods": {"cost-$5$": 3}, "lengths": tuple(range(1, 22, 2))},
    ],
)
def test_small_and_odd_trainings_draw_without_warnings(draw, make):
    png, svg = draw(**make)
    assert imread(png).std() > 0.01
    assert svg.stat().st_size > 1000
