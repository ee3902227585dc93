import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from core.analysis import Interval
from jobs.report.lines import (
    MOST_WHISKERS,
    apart,
    draw_lines,
    how_intervals_are_drawn,
    label_text,
    spread_labels,
)
from jobs.report.looks import Series, at_interval, system_looks

PLACES = st.floats(0, 1, allow_nan=False)


@given(st.lists(st.tuples(PLACES, st.floats(0.01, 0.2)), min_size=1, max_size=12))
def test_labels_lie_apart_and_as_near_as_they_can(wanted_and_heights):
    wanted, heights = (np.array(values) for values in zip(*wanted_and_heights, strict=True))
    placed = apart(wanted, heights)
    order = np.argsort(placed)
    tops, bottoms = placed + heights / 2, placed - heights / 2
    assert (bottoms[order][1:] >= tops[order][:-1] - 1e-9).all()
    assert bottoms.min() >= -1e-9
    if heights.sum() <= 1:
        assert tops.max() <= 1 + 1e-9
    # The order of line ends is that of their labels.
    assert (np.argsort(wanted, kind="stable") == np.argsort(placed, kind="stable")).all()


def test_long_names_are_broken_and_lose_nothing():
    for name in ("a|b", "policy|reinforce|rerank-160-lead3-adjacent0.05|seed=0", "x" * 90, ""):
        assert label_text(name).replace("\n", "") == name
        assert all(len(line) <= 35 for line in label_text(name).split("\n"))


def draw(count: int, lengths=(1, 3, 5), apart_at=()):
    systems = [f"system-{i}" for i in range(count)]
    figure = Figure(figsize=(6, 4), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    lines = [
        Series(
            system,
            tuple(
                at_interval(n, Interval(0.5 + n / 100, 0.4, 0.6), hollow=n in apart_at, ringed=n == 3) for n in lengths
            ),
        )
        for system in systems
    ]
    labels = draw_lines(panel, lines, system_looks(dict.fromkeys(systems, "system")), {})
    return figure, panel, labels


@pytest.mark.parametrize("count", [1, 3, MOST_WHISKERS, MOST_WHISKERS + 1, 16])
@pytest.mark.parametrize("lengths", [(9,), (1, 3, 5)])
def test_no_label_lies_on_another_though_all_lines_end_alike(count, lengths):
    figure, panel, labels = draw(count, lengths)
    spread_labels(figure, [(panel, labels)])
    figure.draw_without_rendering()
    boxes = sorted((Text.get_window_extent(label) for label in labels), key=lambda box: box.y0)
    assert all(below.y1 <= above.y0 + 1 for below, above in itertools.pairwise(boxes))
    assert all(box.x0 > panel.get_window_extent().x1 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_what_intervals_are_is_told_of_all_panels():
    assert how_intervals_are_drawn([2, 0]) == "thin bars"
    assert how_intervals_are_drawn([4, 9]) == "thin bars and thin bars at the ends, of the last n"
    assert how_intervals_are_drawn([12, 9]) == "thin bars at the ends, of the last n"


def test_intervals_of_few_lines_are_bars_at_every_n_and_of_many_one_bar_each():
    intervals = {count: draw(count)[1].collections for count in (1, MOST_WHISKERS, MOST_WHISKERS + 1)}
    assert {count: len(drawn) for count, drawn in intervals.items()} == {n: n for n in intervals}
    assert {count: len(drawn[0].get_segments()) for count, drawn in intervals.items()} == {
        1: 3,
        MOST_WHISKERS: 3,
        MOST_WHISKERS + 1: 1,
    }
    ends = {bar.get_segments()[0][0][0] for bar in intervals[MOST_WHISKERS + 1]}
    assert len(ends) == MOST_WHISKERS + 1
    assert min(ends) > 5


def shown_at(panel, **look):
    """The n of markers that look so."""
    return {
        int(x)
        for line in panel.lines
        if line.get_marker() not in ("", "None")
        and all(getattr(line, f"get_{name}")() == value for name, value in look.items())
        for x in line.get_xdata()
    }


def test_a_ring_marks_what_is_marked_and_a_hollow_marker_what_lacks_articles():
    _, panel, _ = draw(1, apart_at=(5,))
    assert shown_at(panel, markerfacecolor="white") == {5}
    assert shown_at(panel, markerfacecolor="none") == {3}
    filled = {line.get_markerfacecolor() for line in panel.lines} - {"white", "none"}
    assert {n for colour in filled for n in shown_at(panel, markerfacecolor=colour)} == {1, 3}
