"""What all figures have in common: their style, panels with a title and footer, and files that repeat."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

from core.whole_files import replacing
from jobs.report.fonts import FAMILY, give_glyphs
from jobs.terminal.console import written_out

PNG_DPI = 200
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "nws",  # without it the ids in an SVG are random
    "text.parse_math": False,  # a "$" in a name is a dollar sign
    "font.family": FAMILY,
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "lines.markersize": 4.5,
    "legend.columnspacing": 1.5,
    "legend.fontsize": 8.5,
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

# Inches.
_NARROWEST = 7.0
_LINE, _TITLE, _KEY = 0.13, 0.4, 0.2
_LETTERS_PER_INCH = 18
_TITLE_FONT = FontProperties(family=FAMILY, size=12.0, weight="bold")


@dataclass(frozen=True, slots=True)
class Frame:
    """The panels of a figure, each of `panel` inches with the text around it, and a footer below them.

    `keys` make a legend under the title, where a figure has no labels at its lines.
    """

    rows: int
    columns: int
    panel: tuple[float, float]
    title: str
    footer: str
    keys: Sequence[Artist] = ()
    share_y: bool = False


def make_figure(frame: Frame) -> tuple[Figure, Any]:
    """A figure and its empty panels, an array of axes of shape (rows, columns). Columns share x."""
    width = max(_NARROWEST, frame.columns * frame.panel[0])
    footer = wrap(frame.footer, int(width * _LETTERS_PER_INCH), break_on_hyphens=False)
    key_columns = max(1, int(width / (0.8 + 0.062 * max((len(str(key.get_label())) for key in frame.keys), default=1))))
    key_rows = -(-len(frame.keys) // key_columns)
    height = frame.rows * frame.panel[1] + _TITLE + _KEY * key_rows + _LINE * len(footer)

    figure = Figure(figsize=(width, height), dpi=PNG_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    left = 0.1 / width
    if frame.keys:  # the title is that of the legend: the layout would put one on the other
        legend = figure.legend(
            handles=frame.keys, ncols=key_columns, loc="outside upper left", frameon=False, alignment="left"
        )
        legend.set_title(frame.title, prop=_TITLE_FONT)
    else:
        figure.suptitle(frame.title, x=left, ha="left", fontproperties=_TITLE_FONT)
    figure.supxlabel("\n".join(footer), x=left, ha="left", fontsize=7, color="#666666")
    panels = figure.subplots(
        frame.rows, frame.columns, squeeze=False, sharex="col", sharey="row" if frame.share_y else False
    )
    return figure, panels


def prepare_text(figure: Figure) -> str | None:
    """Make every text drawable. Returns a warning if one had to be changed.

    Call it before anything that needs the size of texts, such as a layout.
    """
    texts = figure.findobj(Text)
    for text in texts:  # no font has control characters, and the warning would print them
        text.set_text(written_out(text.get_text()))
    return give_glyphs(texts)


def save(drawn: Callable[[], tuple[Figure, str | None]], png: Path, svg: Path) -> str | None:
    """Draw a figure into a PNG (200 dpi) and an SVG; the same numbers and fonts give the same bytes.

    Returns:
        What the reader must be told of the letters in it, if anything.
    """
    with mpl.rc_context(STYLE):
        figure, warning = drawn()
        _save(figure, png, svg)
    return warning


def _save(figure: Figure, png: Path, svg: Path) -> None:
    # One layout for both files. Each `savefig` would draw twice and lay the figure out twice.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    as_png: Any = FigureCanvasAgg(figure)
    as_svg: Any = FigureCanvasSVG(figure)
    with replacing(png) as unfinished:
        as_png.print_png(unfinished)
    with replacing(svg) as unfinished:
        as_svg.print_svg(unfinished, metadata={"Date": None})
