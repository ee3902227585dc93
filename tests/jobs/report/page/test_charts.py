import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.report.looks import At, Series
from jobs.report.page.charts import Guide, Lines, end_labels, line_chart

VALUES = st.floats(-2, 2).map(lambda value: round(value, 4))
LINES = st.lists(st.lists(VALUES, min_size=3, max_size=3), min_size=1, max_size=45)


def chart(heights: list[list[float]], *, zero: bool = False, labels: dict[str, str] | None = None):
    series = [
        Series(f"s{i}", tuple(At(n, y, y - 0.1, y + 0.1, tooltip=f"{y}") for n, y in zip((1, 3, 5), line, strict=True)))
        for i, line in enumerate(heights)
    ]
    lines = Lines({line.name: "c0" for line in series}, labels or {})
    return line_chart("c", "t", "d", series, lines, "n", "F1", zero=zero)


@given(LINES)
def test_everything_lies_inside(heights: list[list[float]]) -> None:
    found = chart(heights)
    marks = [mark for line in found.lines for mark in line.marks]
    assert all(
        found.left <= mark.x <= found.right and found.top - 1e-6 <= mark.y <= found.bottom + 1e-6 for mark in marks
    )
    ticks = [tick.at for tick in found.y_ticks]
    assert ticks == sorted(ticks, reverse=True)
    assert 2 <= len(ticks) <= 9
    assert len({tick.label for tick in found.y_ticks}) == len(ticks)


@given(LINES)
def test_higher_values_are_higher_up_and_ticks_say_where(heights: list[list[float]]) -> None:
    found = chart(heights)
    for line, values in zip(found.lines, heights, strict=True):
        for mark, value in zip(line.marks, values, strict=True):
            low = [tick for tick in found.y_ticks if float(tick.label) <= value]
            assert all(mark.y <= tick.at + 1e-6 for tick in low)


@given(LINES)
def test_labels_do_not_overlap(heights: list[list[float]]) -> None:
    found = chart(heights)
    label_heights = sorted(line.label_y for line in found.lines)
    assert all(after - before >= 15 - 1e-9 for before, after in itertools.pairwise(label_heights))
    assert label_heights[0] > 0
    assert label_heights[-1] <= found.height


@given(st.lists(st.text("ab|-", min_size=1, max_size=60), unique=True, min_size=1, max_size=8))
def test_labels_are_short_and_distinct(names: list[str]) -> None:
    labels = end_labels(names)
    assert len(set(labels)) == len(names)
    assert all(len(label) <= 22 for label in labels)


def test_labels_are_cut_where_names_are_alike() -> None:
    names = ["policy|reinforce|rerank-160-lead3|seed=0", "policy|reinforce|rerank-160-lead3|seed=1"]
    assert end_labels(names) == ["policy|rei…ad3|seed=0", "policy|rei…ad3|seed=1"]


def test_zero_is_in_a_chart_that_asks_for_it() -> None:
    found = chart([[0.4, 0.5, 0.6]], zero=True)
    assert found.zero == pytest.approx(next(tick.at for tick in found.y_ticks if float(tick.label) == 0))
    assert chart([[0.4, 0.5, 0.6]]).zero is None


def test_guides_lie_where_their_values_do_and_a_range_is_in_the_chart() -> None:
    series = [Series("a", (At(1, 20.0), At(3, 40.0)))]
    found = line_chart(
        *("c", "t", "d", series, Lines({"a": "c0"}, {}), "n", "%"),
        guides=[Guide(40.0, "here"), Guide(100.0, "top")],
        within=(0.0, 100.0),
        least_height=480,
    )
    assert [tick.label for tick in found.y_ticks] == ["0", "20", "40", "60", "80", "100"]
    here, top = found.guides
    assert (here.label, here.at) == ("here", pytest.approx(found.lines[0].marks[1].y))
    assert top.at == pytest.approx(found.top)
    assert found.height == 480


@given(LINES)
def test_pointing_reads_the_nearest_point_and_names_those_that_are_close(heights: list[list[float]]) -> None:
    marks = [mark for line in chart(heights).lines for mark in line.marks]
    for x in {mark.x for mark in marks}:
        column = [mark for mark in marks if mark.x == x]
        for mark in column:
            assert mark.upper - 1e-6 <= mark.y <= mark.upper + mark.height + 1e-6
            middle = mark.upper + mark.height / 2
            assert abs(mark.y - middle) <= min(abs(other.y - middle) for other in column) + 1e-6
            _, *others = mark.tooltip.split("\n")
            assert len(others) == sum(abs(other.y - mark.y) < 9 for other in column) - 1
            assert mark.left < x < mark.left + mark.width
    assert all(
        a.upper + a.height <= b.upper + 1e-6
        or b.upper + b.height <= a.upper + 1e-6
        or a.left + a.width <= b.left + 1e-6
        or b.left + b.width <= a.left + 1e-6
        for a, b in itertools.combinations(marks[:60], 2)
    )
