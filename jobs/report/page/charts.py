"""The layout of charts, in the units of their viewBox. templates/charts.html.j2 draws them as SVG.

The numbers are those of the tables. Colours and dashes are classes, so that the style sheet serves light and dark.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.text.length import LengthUnit
from jobs.report.looks import At, Series

WIDTH, LEAST_HEIGHT = 760.0, 340.0
PAIR_WIDTH = 580.0
"""Of a chart that stands beside another, so that its letters are as large as elsewhere."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 168.0, 14.0, 46.0
_LABEL_HEIGHT = 15.0
_CHARACTERS = 22  # of a label at the end of a line
_REACH = 9.0  # how far from a point pointing still reads it


def length_label(unit: LengthUnit) -> str:
    """Label of an x axis."""
    return f"summary length n ({unit})"


@dataclass(frozen=True, slots=True)
class Tick:
    """A label of an axis, with its position."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Lines:
    """By the names of series their CSS classes, and what stands at their ends, the same in several charts."""

    looks: Mapping[str, str]
    labels: Mapping[str, str]

    def label(self, name: str) -> str:
        return self.labels.get(name, name)


@dataclass(frozen=True, slots=True)
class Mark:
    """A point as it is drawn, and the part of its column in which it is the nearest: pointing there reads it.

    Attributes:
        tooltip: of the point, and below it those of points that stand closer than can be pointed at.
    """

    x: float
    y: float
    tooltip: str
    hollow: bool
    left: float
    width: float
    upper: float
    height: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it is drawn: points where they stand, a band (empty without intervals), and the label at its end."""

    name: str
    label: str
    look: str
    path: str
    band: str
    marks: tuple[Mark, ...]
    end: tuple[float, float]
    label_y: float


@dataclass(frozen=True, slots=True)
class Guide:
    """A line across a chart at a height that readers look for, and what it is called."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A line chart. `zero` is the height of y = 0 where that is a line of its own; `guides` have theirs, too."""

    id: str
    title: str
    description: str
    x_label: str
    y_label: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    zero: float | None
    guides: tuple[Guide, ...]
    height: float
    width: float
    left: float = _LEFT
    top: float = _TOP

    @property
    def right(self) -> float:
        return self.width - _RIGHT

    @property
    def bottom(self) -> float:
        return self.height - _BOTTOM


def line_chart(
    chart_id: str,
    title: str,
    description: str,
    series: Sequence[Series],
    lines: Lines,
    x_label: str,
    y_label: str,
    *,
    zero: bool = False,
    guides: Sequence[Guide] = (),
    within: tuple[float, float] | None = None,
    least_height: float = LEAST_HEIGHT,
    width: float = WIDTH,
) -> Chart:
    """A chart of at least one series with at least one point.

    With `zero`, y = 0 is in it and has a line. `guides` are values of y, and `within` a range of y that is in it.
    """
    xs = sorted({at.x for line in series for at in line.points})
    heights = [value for line in series for at in line.points for value in (at.y, at.low, at.high) if value is not None]
    heights += [0.0] * zero + list(within or ())
    y_ticks = _ticks(min(heights), max(heights))
    x = _scale(min(xs), max(xs), _LEFT + 8, width - _RIGHT)
    height = max(least_height, _TOP + _LABEL_HEIGHT * len(series))
    y = _scale(y_ticks[0], y_ticks[-1], height - _BOTTOM, _TOP)
    ends = [(y(line.points[-1].y), i) for i, line in enumerate(series)]
    label_heights = _apart(ends, height)
    shown = end_labels([lines.label(line.name) for line in series])
    marks = _marks([[(x(at.x), y(at.y), at) for at in line.points] for line in series])
    step = -(-len(xs) // 12)
    are_lengths = all(value == int(value) for value in xs) and len(xs) <= 40
    x_marks = xs[::step] if are_lengths else _ticks(xs[0], xs[-1])
    return Chart(
        id=chart_id,
        title=title,
        description=description,
        x_label=x_label,
        y_label=y_label,
        x_ticks=tuple(Tick(x(value), f"{value:g}") for value in x_marks if xs[0] <= value <= xs[-1]),
        y_ticks=tuple(Tick(y(value), _tick_label(value, y_ticks)) for value in y_ticks),
        lines=tuple(
            _line(line, lines.looks[line.name], x, y, label_heights[i], shown[i], marks[i])
            for i, line in enumerate(series)
        ),
        zero=y(0) if zero else None,
        guides=tuple(Guide(y(guide.at), guide.label) for guide in guides),
        height=height,
        width=width,
    )


def _line(
    series: Series,
    look: str,
    x: Callable[[float], float],
    y: Callable[[float], float],
    label_y: float,
    label: str,
    marks: Sequence[Mark],
) -> Line:
    places = [(x(at.x), y(at.y)) for at in series.points]
    return Line(
        name=series.name,
        label=label,
        look=look,
        path=_path(places),
        band=_band(series.points, x, y),
        marks=tuple(marks),
        end=places[-1],
        label_y=label_y,
    )


def _marks(lines: Sequence[Sequence[tuple[float, float, At]]]) -> list[list[Mark]]:
    """For each line the marks of its points, given where these stand."""
    columns: dict[float, list[tuple[float, int, At]]] = {}
    for i, places in enumerate(lines):
        for x, y, at in places:
            columns.setdefault(x, []).append((y, i, at))
    xs = sorted(columns)
    reach = min([_REACH, *((right - left) / 2 for left, right in itertools.pairwise(xs))])
    marks: list[list[Mark]] = [[] for _ in lines]
    for x in xs:
        column = sorted(columns[x], key=lambda place: place[:2])
        middles = [(above[0] + below[0]) / 2 for above, below in itertools.pairwise(column)]
        for (y, i, at), upper, lower in zip(column, [-math.inf, *middles], [*middles, math.inf], strict=True):
            upper, lower = max(upper, y - _REACH), min(lower, y + _REACH)
            near = sorted(
                (abs(other - y), j, of.tooltip) for other, j, of in column if j != i and abs(other - y) < _REACH
            )
            tooltip = "\n".join((at.tooltip, *(told for _, _, told in near)))
            marks[i].append(Mark(x, y, tooltip, at.hollow, x - reach, 2 * reach, upper, max(lower - upper, 0.0)))
    return marks


def _band(points: Sequence[At], x: Callable[[float], float], y: Callable[[float], float]) -> str:
    ends = [(x(at.x), y(at.low), y(at.high)) for at in points if at.low is not None and at.high is not None]
    if len(ends) == 1:  # a bar, where there is nothing to fill between
        ((x_place, low, high),) = ends
        ends = [(x_place - 2, low, high), (x_place + 2, low, high)]
    upper, lower = (
        [(x_place, high) for x_place, _, high in ends],
        [(x_place, low) for x_place, low, _ in reversed(ends)],
    )
    return _path([*upper, *lower]) + "Z" if ends else ""


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    if low == high:
        return lambda value: (start + end) / 2
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _ticks(low: float, high: float) -> list[float]:
    """About five round values from at most `low` to at least `high`: multiples of 1, 2 or 5 times a power of ten."""
    span = high - low or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / 5))
    step = next(power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= 6)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, max(last, first + 1) + 1)]


def _tick_label(value: float, ticks: Sequence[float]) -> str:
    places = max(0, -math.floor(math.log10(ticks[1] - ticks[0]) + 1e-9))
    return f"{value + 0.0:.{places}f}"  # + 0.0: no "-0.0"


def end_labels(names: Sequence[str]) -> list[str]:
    """Names cut to what fits beside a chart: in the middle, at the beginning or at the end, so that they stay distinct.

    Where no cut does that, they are numbered.
    """
    half = (_CHARACTERS - 1) // 2
    cuts: tuple[Callable[[str], str], ...] = (
        lambda name: f"{name[:half]}…{name[-half:]}",
        lambda name: f"…{name[1 - _CHARACTERS :]}",
        lambda name: f"{name[: _CHARACTERS - 1]}…",
    )
    for cut in cuts:
        labels = [name if len(name) <= _CHARACTERS else cut(name) for name in names]
        if len(set(labels)) == len(set(names)):
            return labels
    return [f"{i + 1}: {name[: _CHARACTERS - 6]}…" for i, name in enumerate(names)]


def _apart(ends: Sequence[tuple[float, int]], chart_height: float) -> dict[int, float]:
    """The height of each line's label: that of the line's end, or as near to it as possible without overlap."""
    order = sorted(ends)
    heights = [height for height, _ in order]
    for k in range(1, len(heights)):
        heights[k] = max(heights[k], heights[k - 1] + _LABEL_HEIGHT)
    bottom = chart_height - 6
    for k in range(len(heights) - 1, -1, -1):
        below = heights[k + 1] - _LABEL_HEIGHT if k + 1 < len(heights) else bottom
        heights[k] = min(heights[k], below)
    return {i: height for (_, i), height in zip(order, heights, strict=True)}
