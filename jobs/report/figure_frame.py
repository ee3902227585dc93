"""What all figures have in common: their style, panels with a title, legend and footer, and files that repeat."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from jobs.terminal.console import written_out

PNG_DPI = 200
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "nws",  # without it the ids in an SVG are random
    "text.parse_math": False,  # a "$" in a name is a dollar sign
    "font.family": "DejaVu Sans",
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

# Inches: a figure is laid out by hand, so that neither legend nor footer can run into a panel.
_NARROWEST = 7.0
_LEFT, _RIGHT, _TOP, _BETWEEN = 0.85, 0.2, 0.8, 0.45
_KEY_HEIGHT = 0.185


@dataclass(frozen=True, slots=True)
class Frame:
    """The panels of a figure (`gap` inches between columns, each at least `panel` inches) and what is around them."""

    rows: int
    columns: int
    panel: tuple[float, float]
    title: str
    keys: Sequence[Artist]
    footer: str
    gap: float = _LEFT
    share_y: bool = False


def make_figure(frame: Frame) -> tuple[Figure, Any]:
    """A figure and its empty panels, an array of axes of shape (rows, columns). Columns share x."""
    least_width, panel_height = frame.panel
    margins = _LEFT + _RIGHT + (frame.columns - 1) * frame.gap
    width = max(_NARROWEST, frame.columns * least_width + margins)
    key_width = 0.8 + 0.062 * max(len(str(key.get_label())) for key in frame.keys)
    key_columns = max(1, int((width - _LEFT) / key_width))
    footer = wrap(frame.footer, int(width * 17))
    legend_top = 0.12 + 0.15 * len(footer) + _KEY_HEIGHT * -(-len(frame.keys) // key_columns)
    below = legend_top + 0.6
    height = _TOP + frame.rows * panel_height + (frame.rows - 1) * _BETWEEN + below

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    panels = figure.subplots(
        frame.rows, frame.columns, squeeze=False, sharex="col", sharey="row" if frame.share_y else False
    )
    figure.subplots_adjust(
        left=_LEFT / width,
        right=1 - _RIGHT / width,
        top=1 - _TOP / height,
        bottom=below / height,
        wspace=frame.gap / ((width - margins) / frame.columns),
        hspace=_BETWEEN / panel_height,
    )
    left = _LEFT / width
    figure.text(left, 1 - 0.3 / height, frame.title, fontsize=12.5, fontweight="bold", va="center")
    figure.legend(
        handles=frame.keys,
        ncols=key_columns,
        loc="upper left",
        bbox_to_anchor=(left, legend_top / height),
        frameon=False,
        borderaxespad=0,
        borderpad=0,
    )
    figure.text(left, 0.12 / height, "\n".join(footer), fontsize=7, color="#666666", va="bottom")
    return figure, panels


def save(figure: Figure, png: Path, svg: Path) -> None:
    """As PNG and SVG; an equal figure gives the same bytes."""
    for text in figure.findobj(Text):  # no font has control characters, and the warning would print them
        text.set_text(written_out(text.get_text()))
    figure.savefig(png, dpi=PNG_DPI)
    figure.savefig(svg, metadata={"Date": None})
