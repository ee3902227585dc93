"""What all figures have in common: style, panels with a title and footer, files that repeat, letters that are drawn.

Where the figures' own font lacks letters, such as Korean ones, a font that has them is found, or Latin letters instead.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any

import matplotlib as mpl
from anyascii import anyascii
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

from core.whole_files import replacing
from jobs.terminal.console import written_out

_SHOWN_DPI = 100
FAMILY = "DejaVu Sans"
"""Comes with matplotlib."""
_NAMED = 3
_NO_GLYPHS = "Last Resort"
"""A font of matplotlib's that has a box for every character."""

PNG_DPI = 200
STYLE: dict[Any, Any] = {
    "pdf.fonttype": 42,  # TrueType, which publishers ask for
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
PAPER_WIDTHS = {"1col": 3.35, "2col": 6.9}
"""Inches of a column and of a page, in names of files."""
_PAPER_FONTS: dict[Any, Any] = {
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "legend.fontsize": 7.5,
    "lines.markersize": 3.5,
}
# Of a panel in a paper: its height by its width, the most inches that it is high, and those below it.
_PAPER_SHAPE, _PAPER_HIGHEST, _PAPER_BELOW = 0.6, 2.4, 0.45
_TITLE_FONT = FontProperties(family=FAMILY, size=12.0, weight="bold")


@dataclass(frozen=True, slots=True)
class Frame:
    """The panels of a figure, each of `panel` inches with the text around it, and a footer below them.

    Attributes:
        footer: what readers of the figure must know.
        made_by: what made it, for the metadata of its files.
        keys: a legend under the title, where a figure has no labels at its lines.
        least_height: inches that the labels of a panel need.
        paper: inches that the figure is wide; it has neither title nor footer then: a paper has a caption.
    """

    rows: int
    columns: int
    panel: tuple[float, float]
    title: str
    footer: str
    made_by: str
    keys: Sequence[Artist] = ()
    share_y: bool = False
    paper: float | None = None
    least_height: float = 0.0


class NotebookFigure(Figure):
    """A figure that a notebook shows where it is the value of a cell, with and without `%matplotlib`.

    Its files say what made it, in their metadata.
    """

    def savefig(self, fname: Any, **options: Any) -> None:
        """As matplotlib's; PNG, SVG and PDF get metadata."""
        kind = options.get("format") or (Path(fname).suffix[1:] if isinstance(fname, str | Path) else "") or "png"
        if kind.lower() in ("png", "svg", "pdf"):
            options.setdefault("metadata", metadata(self, kind.lower()))
        super().savefig(fname, **options)

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.savefig(picture, format="png", dpi=_SHOWN_DPI)
        return picture.getvalue()


def make_figure(frame: Frame) -> tuple[Figure, Any]:
    """A figure and its empty panels, an array of axes of shape (rows, columns). Columns share x."""
    width = frame.paper or max(_NARROWEST, frame.columns * frame.panel[0])
    footer = [] if frame.paper else wrap(frame.footer, int(width * _LETTERS_PER_INCH), break_on_hyphens=False)
    key_columns = max(1, int(width / (0.8 + 0.062 * max((len(str(key.get_label())) for key in frame.keys), default=1))))
    key_rows = -(-len(frame.keys) // key_columns)
    panel_height = frame.panel[1]
    if frame.paper:
        high = min(_PAPER_SHAPE * width / frame.columns, _PAPER_HIGHEST)
        panel_height = max(high, frame.least_height) + _PAPER_BELOW
    height = frame.rows * panel_height + _TITLE * (not frame.paper) + _KEY * key_rows + _LINE * len(footer)

    figure = NotebookFigure(figsize=(width, height), dpi=PNG_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    left = 0.1 / width
    if frame.keys:  # the title is that of the legend: the layout would put one on the other
        legend = figure.legend(
            handles=frame.keys, ncols=key_columns, loc="outside upper left", frameon=False, alignment="left"
        )
        if not frame.paper:
            legend.set_title(frame.title, prop=_TITLE_FONT)
    elif not frame.paper:
        figure.suptitle(frame.title, x=left, ha="left", fontproperties=_TITLE_FONT)
    if footer:
        figure.supxlabel("\n".join(footer), x=left, ha="left", fontsize=7, color="#666666")
    figure.set_label(f"{frame.title}\n{frame.footer}\n{frame.made_by}")  # nothing draws it: `metadata` reads it
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


def metadata(figure: Figure, kind: str) -> dict[str, Any]:
    """What a file of a kind (`png`, `svg`, `pdf`) says of a figure: its title, how to read it, and what made it."""
    title, _, about = written_out(str(figure.get_label())).partition("\n")
    about = about.replace("\n", "; ").replace(" · ", "; ")
    if kind == "pdf":
        return {"Title": title, "Subject": about, "CreationDate": None}
    return {"Title": title, "Description": about} | ({"Date": None} if kind == "svg" else {})


def save_pdf(drawn: Callable[[], tuple[Figure, str | None]], path: Path) -> str | None:
    """Draw a figure for a paper into a PDF; the same numbers and fonts give the same bytes.

    Returns:
        What the reader must be told of the letters in it, if anything.
    """
    with mpl.rc_context(STYLE | _PAPER_FONTS):
        figure, warning = drawn()
        with replacing(path) as unfinished:
            figure.savefig(unfinished, format="pdf", metadata=metadata(figure, "pdf"))
    return warning


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
        as_png.print_png(unfinished, metadata=metadata(figure, "png"))
    with replacing(svg) as unfinished:
        as_svg.print_svg(unfinished, metadata=metadata(figure, "svg"))


def give_glyphs(texts: Sequence[Text]) -> str | None:
    """Make each text drawable: in an installed font that has its letters, or else transliterated to Latin letters.

    Returns:
        A warning that names the transliterated texts; None if there are none.
    """
    lacking = {text: _lacking(text.get_text()) for text in texts}
    missing = frozenset().union(*lacking.values())
    if not missing:
        return None
    further = find_family(missing)
    replaced: dict[str, str] = {}
    for text, letters in lacking.items():
        if letters and further:
            text.set_fontfamily([FAMILY, further])
        elif letters:
            name = text.get_text()
            replaced[name] = in_latin(name)
            text.set_text(replaced[name])
    if not replaced:
        return None
    replacements = ", ".join(f"{text!r} as {latin!r}" for text, latin in list(replaced.items())[:_NAMED])
    return (
        f"No installed font has the letters of some names. The plots show {replacements}"
        f"{' and others' if len(replaced) > _NAMED else ''}. Install a font, such as Noto Sans CJK (fonts-noto-cjk)."
    )


def find_family(letters: frozenset[str]) -> str | None:
    """The first installed family, by name, with a glyph for every one of `letters`."""
    entries = sorted(font_manager.fontManager.ttflist, key=lambda entry: (entry.name, entry.weight, entry.fname))
    for entry in entries:
        if not entry.name.startswith(_NO_GLYPHS) and letters <= _glyphs(entry.fname, letters):
            return entry.name
    return None


def in_latin(text: str) -> str:
    """`text` with letters that the figures' font lacks transliterated by anyascii, or as code points if it cannot."""
    lacking = _lacking(text)
    return "".join(anyascii(letter) or f"U+{ord(letter):04X}" if letter in lacking else letter for letter in text)


def _lacking(text: str) -> frozenset[str]:
    letters = frozenset(text) - {"\n"}
    return letters - _glyphs(_own_font(), letters)


@cache
def _own_font() -> str:
    return font_manager.findfont(FontProperties(family=FAMILY))


def _glyphs(path: str, letters: frozenset[str]) -> frozenset[str]:
    """The `letters` that a font file has."""
    font = font_manager.get_font(path)
    return frozenset(letter for letter in letters if font.get_char_index(ord(letter)))
