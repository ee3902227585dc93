"""Figures as files that repeat, and letters that are drawn.

Where the figures' own font lacks letters, such as Korean ones, a font that has them is found, or Latin letters instead.
"""

import io
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from anyascii import anyascii
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

from core.whole_files import replacing
from jobs.report.charts import Sheet
from jobs.report.console import written_out

_SHOWN_DPI = 100
FAMILY = "DejaVu Sans"
"""Comes with matplotlib."""
_NO_GLYPHS = "Last Resort"
"""A font of matplotlib's that has a box for every character."""

PNG_DPI = 200
PAPER_WIDTHS = {"1col": 3.35, "2col": 6.9}
"""Inches of a column and of a page, in names of files."""
_FILES: dict[Any, Any] = {
    "pdf.fonttype": 42,  # TrueType, which publishers ask for
    "svg.hashsalt": "nws",  # without it the ids in an SVG are random
}


class NotebookFigure(Figure):
    """A figure that a notebook shows where it is the value of a cell, with and without `%matplotlib`.

    Its files say what made it, in their metadata.

    Attributes:
        sheet: what it shows.
        warning: what its reader must be told of the letters in it, if anything.
    """

    sheet: Sheet
    warning: str | None = None

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure as matplotlib does, and add metadata to PNG, SVG and PDF."""
        kind = options.get("format") or (Path(fname).suffix[1:] if isinstance(fname, str | Path) else "") or "png"
        if kind.lower() in ("png", "svg", "pdf"):
            options.setdefault("metadata", metadata(self.sheet, kind.lower()))
        super().savefig(fname, **options)

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.savefig(picture, format="png", dpi=_SHOWN_DPI)
        return picture.getvalue()


def metadata(sheet: Sheet, kind: str) -> dict[str, Any]:
    """The metadata of a figure's file (`png`, `svg`, `pdf`): its title, how to read it, and its origin."""
    about = written_out("; ".join((*sheet.notes, *sheet.made_by)))
    if kind == "pdf":
        return {"Title": sheet.title, "Subject": about, "CreationDate": None}
    return {"Title": sheet.title, "Description": about} | ({"Date": None} if kind == "svg" else {})


def save(figure: NotebookFigure, *paths: Path) -> None:
    """Write a figure as PNG (200 dpi), SVG or PDF, by its suffix; the same numbers and fonts give the same bytes."""
    with mpl.rc_context(_FILES):
        for path in paths:
            with replacing(path) as unfinished:
                figure.savefig(unfinished, format=path.suffix[1:], dpi=PNG_DPI)


def fit_letters(figure: Figure) -> str | None:
    """Make every text drawable: in an installed font that has its letters, or else transliterated to Latin letters.

    Returns:
        A warning if one was transliterated.
    """
    texts = figure.findobj(Text)
    for text in texts:  # no font has control characters, and the warning would print them
        text.set_text(written_out(text.get_text()))
    lacking = [text for text in texts if _lacking(text.get_text())]
    if not lacking:
        return None
    further = find_family(_lacking("".join(text.get_text() for text in lacking)))
    for text in lacking:
        if further:
            text.set_fontfamily([FAMILY, further])
        else:
            text.set_text(in_latin(text.get_text()))
    if further:
        return None
    return (
        "No installed font has the letters of some names, so the plots show Latin ones, such as "
        f"{lacking[0].get_text()!r}. Install a font, such as Noto Sans CJK (fonts-noto-cjk)."
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
