"""What is drawn: lines, intervals, markers, and names that lie beside the ends of lines and apart."""

import itertools
import warnings
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_scores import report_of
from matplotlib.image import imread
from matplotlib.text import Text
from policy_results import DISTRACTORS, make_results

from nws.core.analysis.points import Points
from nws.jobs.report import figure_files
from nws.jobs.report.charts import Chart, ChartPoint, Series, Sheet, numbered_look
from nws.jobs.report.drawing import MOST_WHISKERS, draw, label_text, spread_labels
from nws.jobs.report.figure_files import save
from nws.jobs.report.policy_report import learning_sheet, policies_sheet
from nws.jobs.report.sweep_charts import curves_sheet

PLACES = st.floats(0, 1, allow_nan=False)


@given(st.lists(st.tuples(PLACES, st.floats(0.01, 0.2)), min_size=1, max_size=12))
def test_labels_lie_apart_and_as_near_as_they_can(wanted_and_heights):
    wanted, heights = (np.array(values) for values in zip(*wanted_and_heights, strict=True))
    placed = spread_labels(wanted, heights)
    order = np.argsort(placed)
    tops, bottoms = placed + heights / 2, placed - heights / 2
    assert (bottoms[order][1:] >= tops[order][:-1] - 1e-9).all()
    assert bottoms.min() >= -1e-9
    if heights.sum() <= 1:
        assert tops.max() <= 1 + 1e-9
    # The order of line ends is that of their labels.
    assert (np.argsort(wanted, kind="stable") == np.argsort(placed, kind="stable")).all()


def test_long_names_are_broken_and_lose_nothing():
    for name in ("a|b", "policy|reinforce|rerank-160-lead6-adjacent0.05|seed=0", "x" * 90, ""):
        assert label_text(name, 20).replace("\n", "") == name
        assert all(len(line) <= 20 for line in label_text(name, 20).split("\n"))
    assert label_text("textrank (upper bound)", 18) == "textrank (upper\nbound)"


def drawn(count: int, lengths=(1, 3, 5), hollow=(), ringed=(), paper=None):
    lines = tuple(
        Series(
            f"system-{i}",
            numbered_look(i),
            tuple(ChartPoint(n, 0.5 + n / 100, 0.4, 0.6, hollow=n in hollow, ringed=n in ringed) for n in lengths),
        )
        for i in range(count)
    )
    figure = draw(Sheet("t", ((Chart("c", "t", "h", "n", "F1", lines),),), (), ()), paper)
    (panel,) = figure.axes
    return figure, panel


@pytest.mark.parametrize("count", [1, MOST_WHISKERS, MOST_WHISKERS + 1, 25])
@pytest.mark.parametrize("lengths", [(9,), (1, 3, 5)])
def test_no_label_lies_on_another_though_all_lines_end_alike(count, lengths):
    figure, panel = drawn(count, lengths)
    figure.draw_without_rendering()
    boxes = sorted((text.get_window_extent() for text in panel.texts), key=lambda box: box.y0)
    assert len(boxes) == count
    assert all(below.y1 <= above.y0 + 1 for below, above in itertools.pairwise(boxes))
    assert all(box.x0 > panel.get_window_extent().x1 and box.x1 <= figure.bbox.x1 for box in boxes)


@pytest.mark.parametrize("lengths", [(10, 11, 12, 13, 48), tuple(range(5, 1000, 5))])
def test_no_n_is_written_on_another(lengths):
    figure, panel = drawn(1, lengths, paper=3.35)
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in panel.get_xticklabels()]
    assert len(boxes) > 1
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


@pytest.mark.parametrize("paper", [None, 3.35, 6.9])
def test_no_label_of_the_y_axis_is_cut_off(paper):
    points = tuple(ChartPoint(n, n / 100 - 0.13, -0.05, 0.13) for n in (7, 9, 11, 13))
    chart = Chart("c", "t", "h", "n", "difference to textrank at equal n", (Series("a", numbered_look(0), points),))
    figure = draw(Sheet("t", ((chart,),), (), ()), paper)
    figure.draw_without_rendering()
    (panel,) = figure.axes
    assert max(len(label.get_text()) for label in panel.get_yticklabels()) >= len("−0.05")
    assert panel.yaxis.label.get_window_extent().x0 > 0.02 * figure.dpi


def test_intervals_of_few_lines_are_bars_at_every_n_and_of_many_one_bar_each():
    for count, at in ((1, [1, 3, 5]), (MOST_WHISKERS, [1, 3, 5]), (MOST_WHISKERS + 1, [5])):
        *drawn_of_lines, _to_labels = drawn(count)[1].collections
        bars, ends = drawn_of_lines[::2], drawn_of_lines[1::2]
        for bar, end in zip(bars, ends, strict=True):
            assert [segment.tolist() for segment in bar.get_segments()] == [[[x, 0.4], [x, 0.6]] for x in at]
            assert end.get_offsets().tolist() == [[x, y] for y in (0.4, 0.6) for x in at]
        assert len(bars) == count


def test_a_ring_marks_what_is_marked_and_a_hollow_marker_what_lacks_articles():
    _, panel = drawn(1, hollow=(5,), ringed=(3,))
    marks = {
        line.get_markerfacecolor(): list(line.get_xdata()) for line in panel.lines if line.get_linestyle() == "None"
    }
    assert marks == {"white": [5], "none": [3], numbered_look(0).colour: [1, 3]}


def test_lines_that_charts_share_are_named_once(run):
    figure = draw(learning_sheet(make_results(points=Points.none(), lengths=(7, 13)).report(run)))
    named = [[text.get_text() for text in panel.texts] for panel in figure.axes]
    line = "reinforce (mean of 2 seeds)"
    assert [[name for name in names if name == line] for names in named] == [[], [line], [], [line]]
    above, beside, *_ = figure.axes
    assert above.get_ylim() == beside.get_ylim()


def test_files_are_pictures_with_text_and_global_settings_are_left_alone(run, make_points, tmp_path):
    png, svg, before = tmp_path / "plot.png", tmp_path / "plot.svg", dict(mpl.rcParams)
    save(draw(curves_sheet(report_of(run, Points.together([make_points(), make_points(dataset="xsum")])))), png, svg)
    assert dict(mpl.rcParams) == before
    height, width, _ = imread(png).shape
    assert width > height > 250
    text = svg.read_text()
    # The text is drawn as outlines; matplotlib writes each string as a comment beside them.
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    for shown in (
        "p1-0421",
        "chunks and sentences leave out “m” and “textrank”",
        "random (control)",
        "summary length n (words)",
        "seed 7",
        "bert-base-uncased_L9_no-idf",
        "0.1.0+gabc1234",
    ):
        assert shown in text, shown


@pytest.mark.parametrize(
    "make",
    [
        {"articles": 1},
        {"systems": ("random",)},
        {"lengths": (9,), "systems": ("a",), "articles": 1},
        {"systems": ("oracle", "window-oracle", "a", "random"), "articles": 3, "lengths": (9,)},
        {"systems": (*(f"s{i}|textrank|chunks" for i in range(16)), "oracle", "lead", "random"), "articles": 3},
        {"systems": ("cost $5$", "random"), "articles": 3, "dataset": "a_b^c"},
    ],
)
@pytest.mark.parametrize("paper", [None, 3.35])
def test_small_and_odd_sweeps_draw_without_warnings(run, make_points, make, paper, tmp_path):
    save(draw(curves_sheet(report_of(run, make_points(**make))), paper), tmp_path / "x.png")
    assert imread(tmp_path / "x.png").std() > 0.01


@pytest.mark.parametrize(
    ("sheet", "make"),
    [
        (policies_sheet, {"articles": 1, "lengths": (7,), "seeds": (0,)}),
        (policies_sheet, {"others": {}}),
        (policies_sheet, {"others": DISTRACTORS | {f"s{i}": 0.0 for i in range(12)}, "articles": 3}),
        (policies_sheet, {"methods": {"cost-$5$": 3}, "dataset": "a_b^c"}),
        (learning_sheet, {"points": Points.none(), "methods": {"a": 1, "b": 200}, "lengths": (9,)}),
        (
            learning_sheet,
            {"points": Points.none(), "methods": {f"method-{i}": 3 + i for i in range(9)}, "lengths": (7, 9)},
        ),
    ],
)
def test_small_and_odd_trainings_draw_without_warnings(run, sheet, make, tmp_path):
    save(draw(sheet(make_results(**make).report(run))), tmp_path / "x.png")
    assert imread(tmp_path / "x.png").std() > 0.01


def test_letters_without_a_font_are_told_of_once_and_are_no_boxes(
    tmp_path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figure_files, "FAMILIES", ["DejaVu Sans"])
    figure_files._warn_of_unknown_letters.cache_clear()
    line = Series("요약", numbered_look(0), (ChartPoint(1, 0.5, 0.4, 0.6), ChartPoint(3, 0.6, 0.5, 0.7)))
    for name in ("a", "b"):
        figure = draw(Sheet("t: 뉴스 é", ((Chart("c", "뉴스.jsonl", "h", "n", "F1", (line,)),),), (), ()))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            save(figure, tmp_path / f"{name}.png")
    texts = {text.get_text() for text in figure.findobj(Text)}
    assert {"t: ?? é", "??"} <= texts
    told = (
        "Plots show ? for letters that no installed font has. For Korean, install one of Noto Sans CJK KR, NanumGothic"
    )
    assert capsys.readouterr().err.count(told) == 1
