"""The drawer of charts, with matplotlib: for PNG, SVG and PDF, for notebooks, and for the page.

Files are written by `figure_files.save`. Lines have their names at their ends. All is laid out in inches, so nothing
has to be measured.
"""

import io
import itertools
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import numpy as np
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from nws.jobs.report.charts import BLACK, COLOURS, GREYS, Chart, ChartPoint, Series, Sheet
from nws.jobs.report.console import escape_controls
from nws.jobs.report.figure_files import FAMILIES, NotebookFigure, with_known_letters

MOST_WHISKERS = 5
"""Up to this many lines in a panel have intervals at every n. With more, only those at the last n are drawn."""
STYLE: dict[Any, Any] = {
    "text.parse_math": False,  # a "$" in a name is a dollar sign
    "font.family": FAMILIES,
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "legend.fontsize": 7.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.7,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
}
_PAPER_STYLE = STYLE | {"font.size": 8.0, "axes.titlesize": 8.5, "legend.fontsize": 7.0, "lines.markersize": 3.5}
_PAGE_STYLE = STYLE | {
    "font.size": 12.0,
    "lines.linewidth": 2.0,
    "lines.markersize": 6.5,
    "legend.fontsize": 12.0,
    "axes.grid.axis": "y",
    "axes.spines.left": False,
    "axes.labelpad": 9.0,
    "xtick.major.pad": 9.0,
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
}

PAGE_DPI = 72
"""Dots per inch of charts in the page, whose unit is the point."""
_PAGE_COLOURS = {
    **{colour.lower(): f"var(--c{i})" for i, colour in enumerate(COLOURS)},
    **{grey.lower(): "var(--control)" for grey in GREYS},
    **{BLACK: "var(--oracle)", "#ffffff": "var(--paper)", "#e6e6e6": "var(--rule)"},
}
"""Variables of the page's style sheet, which has a light and a dark value for each."""

# Inches: of a letter and a line of a label by its size in points; from a panel to the end of the line that leads to a
# label, and to the label; of the title, and a line of the footer.
_LETTER, _LINE = 0.0088, 0.0195
_LEADER, _LABEL = 0.08, 0.2
_TITLE, _FOOTER = 0.4, 0.13
_FOOTER_LETTERS = 18  # in an inch
_PHONE_LETTERS = 40  # a phone's letters are that part of a chart's width, as the page's style sheet says


@dataclass(frozen=True, slots=True)
class _Layout:
    """Inches of a panel and of what stands around it; `letters` is how long a line of a label may be.

    Attributes:
        right: beside a panel that has another one at its right.
        labels: beside the last panel of a row.
        digit: the width of a digit in the label of a tick.
    """

    width: float
    height: float
    left: float
    right: float
    labels: float
    above: float
    below: float
    letters: int
    digit: float = 0.08


def draw(sheet: Sheet, paper: float | None = None) -> NotebookFigure:
    """Draw a figure of charts. For a paper it is `paper` inches wide, and has neither title nor footer."""
    with mpl.rc_context(_PAPER_STYLE if paper else STYLE):
        layout = _layout(sheet, paper)
        rows, columns = len(sheet.rows), len(sheet.rows[0])
        width = columns * (layout.left + layout.width + layout.right) - layout.right + layout.labels
        head = 0.0 if paper else _TITLE
        footer = [] if paper else wrap(" · ".join(sheet.notes), int(width * _FOOTER_LETTERS))
        foot = _FOOTER * len(footer)
        height = head + rows * (layout.above + layout.height + layout.below) + foot
        figure = NotebookFigure(figsize=(width, height))
        figure.sheet = sheet
        for charts, panels in zip(sheet.rows, _panels(figure, layout, sheet, head, foot), strict=True):
            for chart, panel in zip(charts, panels, strict=True):
                _draw_chart(panel, chart, layout, has_labels=panel is panels[-1] or not sheet.is_shared)
                if columns > 1 or not paper:
                    _write_above(panel, chart)
        if not paper:
            figure.text(0.1 / width, 1 - 0.1 / height, sheet.title, va="top", fontsize=12, fontweight="bold")
            figure.text(0.1 / width, 0.05 / height, "\n".join(footer), fontsize=7, color="#666666")
        for text in figure.findobj(Text):
            text.set_text(with_known_letters(escape_controls(text.get_text())))
        return figure


def _panels(figure: NotebookFigure, layout: _Layout, sheet: Sheet, head: float = 0.0, foot: float = 0.0) -> Any:
    """Make empty panels, an array of axes of shape (rows, columns), below `head` and above `foot` inches."""
    width, height = figure.get_size_inches()
    place = {
        "left": layout.left / width,
        "right": 1 - layout.labels / width,
        "top": 1 - (head + layout.above) / height,
        "bottom": (foot + layout.below) / height,
        "wspace": (layout.left + layout.right) / layout.width,
        "hspace": (layout.above + layout.below) / layout.height,
    }
    share_y: Any = "row" if sheet.is_shared else False
    rows, columns = len(sheet.rows), len(sheet.rows[0])
    return figure.subplots(rows, columns, squeeze=False, sharey=share_y, gridspec_kw=place)


def chart_svg(chart: Chart, width: float, height: float) -> Markup:
    """Draw the content of an SVG element whose viewBox is of this size, in points. Each x shows its values on hover.

    No two charts share an id. The page's style sheet sets letters and colours, and shows or hides the classes `band`,
    `leader`, `end` (the name of a line) and `up` (the label of the y axis).
    """
    figure = _page_figure(chart, width, height)
    (panel,) = figure.axes
    for patch in (figure.patch, panel.patch):
        patch.set_visible(False)
    for collection in panel.collections:
        collection.set_gid("band")
    panel.collections[-1].set_gid("leader")  # drawn last
    for name in panel.texts[len(chart.guides) :]:
        name.set_gid("end")
    panel.yaxis.label.set_gid("up")
    drawn = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": chart.id}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the reader's browser has other fonts
        figure.savefig(drawn, format="svg")
    svg = drawn.getvalue().partition("</defs>")[2].rpartition("</svg>")[0]
    svg = re.sub(r'style="([^"]*)"', lambda style: _page_style(style[1]), svg)
    svg = re.sub(r'<g id="([A-Za-z2]+)[^"]*"', r'<g class="\1"', svg)
    return Markup("\n".join((re.sub(r"\s*\n\s*", " ", svg), *_hover_areas(chart, panel, height))))


def _page_style(style: str) -> str:
    """Turn a style into attributes, without a font, in the page's colours: a policy may forbid `style`."""
    plain = re.sub(r"font-[^;]*; ", "", style)
    coloured = re.sub("#[0-9a-f]{6}", lambda colour: _PAGE_COLOURS.get(colour.group(), "var(--quiet)"), plain)
    return re.sub(r"([a-z-]+): ([^;]+)(?:; )?", r'\1="\2" ', coloured).rstrip()


def _hover_areas(chart: Chart, panel: Axes, height: float) -> Iterator[str]:
    """Yield for each x a rectangle whose title has the values there, the highest first."""
    xs = sorted({at.x for line in chart.series for at in line.points})
    places = panel.transData.transform([(x, 1.0) for x in xs])[:, 0]
    box = panel.get_window_extent()
    edges = [box.x0, *((a + b) / 2 for a, b in itertools.pairwise(places)), box.x1]
    for x, (left, right) in zip(xs, itertools.pairwise(edges), strict=True):
        values = [(-at.y, f"{line.name}: {at.text}") for line in chart.series for at in line.points if at.x == x]
        title = escape("\n".join((f"{chart.x_label}: {x:g}", *(line for _, line in sorted(values)))))
        place = f'x="{left:.1f}" y="{height - box.y1:.1f}" width="{right - left:.1f}" height="{box.height:.1f}"'
        yield f'<rect class="at" {place}><title>{title}</title></rect>'


def _page_figure(chart: Chart, width: float, height: float) -> NotebookFigure:
    """Draw a chart alone, in points, with its intervals as bands. Its letters are those of the browser."""
    left, right, above, below = (points / PAGE_DPI for points in (68, 168, 14, 46))
    with mpl.rc_context(_PAGE_STYLE):
        figure = NotebookFigure(figsize=(width / PAGE_DPI, height / PAGE_DPI), dpi=PAGE_DPI)
        figure.sheet = Sheet(chart.title, ((chart,),), (), ())
        across, down = figure.get_size_inches() - (left + right, above + below)
        layout = _Layout(across, down, left, right, right, above, below, 22, _LETTER * width / _PHONE_LETTERS)
        bands = replace(chart, series=tuple(replace(line, is_band=True) for line in chart.series))
        _draw_chart(_panels(figure, layout, figure.sheet)[0, 0], bands, layout, has_labels=True)
        return figure


def _layout(sheet: Sheet, paper: float | None) -> _Layout:
    size, letters, columns = mpl.rcParams["legend.fontsize"], 18 if paper else 34, len(sheet.rows[0])
    charts = [chart for row in sheet.rows for chart in row]
    labels = ["\n".join(label_text(line.name, letters) for line in chart.series).split("\n") for chart in charts]
    beside = _LABEL + _LETTER * size * max(len(line) for lines in labels for line in lines)
    least_height = _LINE * size * max(map(len, labels))
    right = 0.15 if sheet.is_shared else beside
    if paper:
        left = 0.72
        # A figure of many datasets is wider than the paper, rather than too narrow to be read.
        width = max(0.8, (paper - beside - (columns - 1) * right) / columns - left)
        height = max(min(0.6 * paper / columns, 2.4), least_height)
        return _Layout(width, height, left, right, beside, above=0.25, below=0.42, letters=letters)
    width, height = (3.3, 2.5) if sheet.is_shared else (5.4, 3.6) if len(sheet.rows) == 1 else (4.7, 2.9)
    return _Layout(width, max(height, least_height), 0.8, right, beside, above=0.32, below=0.5, letters=letters)


def label_text(name: str, letters: int) -> str:
    """Break a name into as many lines as it needs: after a "|" or a space, or where a part alone is too long."""
    lines = wrap(name.replace("|", "| "), letters, break_on_hyphens=False)
    return "\n".join(line.replace("| ", "|") for line in lines)


def _draw_chart(panel: Axes, chart: Chart, layout: _Layout, *, has_labels: bool) -> None:
    panel.set_xlabel(chart.x_label)
    panel.set_ylabel(chart.y_label, labelpad=4)
    if not chart.series:
        panel.text(0.5, 0.5, chart.note, transform=panel.transAxes, ha="center", color="#666666")
        panel.set_yticks([])
        return
    if chart.zero is not None:
        panel.axhline(0, color=chart.zero.colour, linestyle=chart.zero.dashes, zorder=1.5)
    for height, name in chart.guides.items():
        panel.axhline(height, color="#888888", linestyle=(0, (1, 3)), linewidth=0.9, zorder=1.4)
        panel.annotate(name, (0.01, height), (0, 2), xycoords=("axes fraction", "data"), textcoords="offset points")
    xs = sorted({at.x for line in chart.series for at in line.points})
    for line in chart.series:
        _draw_line(panel, line, has_whiskers=len(chart.series) <= MOST_WHISKERS)
    _set_axes(panel, chart, xs, layout)
    if has_labels:
        _draw_labels(panel, chart.series, layout)


def _write_above(panel: Axes, chart: Chart) -> None:
    if chart.heading:
        panel.set_title(chart.heading, loc="left")
    elif chart.series:
        panel.set_title(chart.note, loc="left", fontsize=8, fontweight="normal", color="#444444")


def _set_axes(panel: Axes, chart: Chart, xs: list[float], layout: _Layout) -> None:
    """Set the axes, with a tick at each x whose label is clear of the one before."""
    if all(x == int(x) for x in xs):
        # The gap between two labels is as wide as a digit.
        least = (len(f"{xs[-1]:.0f}") + 1) * layout.digit / layout.width * (xs[-1] - xs[0])
        ticks = xs[:1]
        for x in xs:
            if x - ticks[-1] >= least:
                ticks.append(x)
        panel.set_xticks(ticks)
    else:
        panel.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    if len(xs) == 1:
        panel.set_xlim(xs[0] - 1, xs[0] + 1)
    if chart.top is not None:
        low, high = panel.get_ylim()
        panel.set_ylim(min(0.0, low), max(chart.top, high))


def _draw_line(panel: Axes, line: Series, *, has_whiskers: bool) -> None:
    look, points = line.look, line.points
    sure = [(at.x, at.low, at.high) for at in points if at.low is not None and at.high is not None]
    if line.is_band and len(points) > 1:
        x, low, high = np.reshape(sure, (-1, 3)).T
        panel.fill_between(x, low, high, color=look.colour, alpha=0.13, linewidth=0)
    else:
        shown = sure if has_whiskers or line.is_band else [at for at in sure if at[0] == points[-1].x]
        x, low, high = np.reshape(shown, (-1, 3)).T
        panel.vlines(x, low, high, color=look.colour, linewidth=0.8, alpha=0.55)
        panel.scatter([*x, *x], [*low, *high], marker="_", s=36, color=look.colour, linewidths=0.8)
    dashes = look.dashes if len(points) > 1 else ""
    panel.plot([at.x for at in points], [at.y for at in points], color=look.colour, linestyle=dashes)
    marker = look.marker or ("_" if len(points) == 1 else "")
    _draw_markers(panel, [at for at in points if not at.hollow], color=look.colour, marker=marker)
    _draw_markers(panel, [at for at in points if at.hollow], color=look.colour, marker=look.marker or "o", mfc="white")
    _draw_markers(panel, [at for at in points if at.ringed], color=look.colour, marker="o", mfc="none", ms=10, mew=1.1)


def _draw_markers(panel: Axes, points: Sequence[ChartPoint], **style: Any) -> None:
    if points and style["marker"]:
        panel.plot([at.x for at in points], [at.y for at in points], linestyle="", **style)


def _draw_labels(panel: Axes, lines: Sequence[Series], layout: _Layout) -> None:
    """Draw the name of each line beside its end, and a thin line from one to the other."""
    panel.autoscale_view()
    to_panel = panel.transData + panel.transAxes.inverted()
    ends = to_panel.transform([(line.points[-1].x, line.points[-1].y) for line in lines])
    names = [label_text(line.name, layout.letters) for line in lines]
    size = mpl.rcParams["legend.fontsize"]
    line = _LINE * size / layout.height
    heights = spread_labels(ends[:, 1], np.array([line * (1 + name.count("\n")) for name in names]))
    near, beside = 1 + _LEADER / layout.width, 1 + _LABEL / layout.width
    leaders = [[end, (near, y)] for end, y in zip(ends, heights, strict=True)]
    colours = [line.look.colour for line in lines]
    style: dict[str, Any] = {"transform": panel.transAxes, "clip_on": False}
    panel.add_collection(LineCollection(leaders, colors=colours, linewidths=0.5, alpha=0.6, **style), autolim=False)
    for name, y, colour in zip(names, heights, colours, strict=True):
        panel.text(beside, y, name, color=colour, va="center", fontsize=size, **style)


def spread_labels(wanted: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Place labels of these heights without overlap, between 0 and 1, as near to `wanted` as possible.

    They minimise the sum of squared distances (isotonic regression). Labels whose heights add up to more than 1 begin
    at 0 and go beyond 1.

    Args:
        wanted: float64 of shape (labels,), the middle of each.
        heights: float64 of shape (labels,).
    """
    order = np.argsort(wanted, kind="stable")
    sizes = heights[order]
    below = np.cumsum(sizes) - sizes  # of all labels under each one
    bottoms = isotonic_regression(wanted[order] - sizes / 2 - below).x
    placed = np.empty_like(wanted)
    placed[order] = np.clip(bottoms, 0, max(0.0, 1 - sizes.sum())) + below + sizes / 2
    return placed
