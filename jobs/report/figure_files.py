"""Figures as files that repeat, and their fonts."""

import functools
import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.figure import Figure

from nws.core.whole_files import replacing
from nws.jobs.report.charts import Sheet
from nws.jobs.report.console import ERR, escape_controls

_SHOWN_DPI = 100
_KOREAN_FAMILIES = ("Noto Sans CJK KR", "NanumGothic", "Malgun Gothic", "AppleGothic")
FAMILIES = ["DejaVu Sans", *(name for name in _KOREAN_FAMILIES if name in font_manager.get_font_names())]
"""Matplotlib's own font, and behind it those that are installed and have Korean letters."""

PNG_DPI = 200
PAPER_WIDTHS = {"1col": 3.35, "2col": 6.9}
"""Inches of a column and of a page, in names of files."""
_FILES: dict[Any, Any] = {
    "pdf.fonttype": 42,  # TrueType, which publishers ask for
    "svg.hashsalt": "nws",  # without it the ids in an SVG are random
}


def with_known_letters(text: str) -> str:
    """Replace each letter that no font of plots has by ?, since it would be a box. Warn of that once."""
    fonts = [font_manager.get_font(font_manager.findfont(name)) for name in FAMILIES]
    unknown = {letter for letter in set(text) - {"\n"} if not any(font.get_char_index(ord(letter)) for font in fonts)}
    if unknown:
        _warn_of_unknown_letters()
    return text.translate(dict.fromkeys(map(ord, unknown), "?"))


@functools.cache
def _warn_of_unknown_letters() -> None:
    korean = ", ".join(_KOREAN_FAMILIES)
    ERR.print(f"Plots show ? for letters that no installed font has. For Korean, install one of {korean}.")


class NotebookFigure(Figure):
    """A figure that a notebook shows where it is the value of a cell, with and without `%matplotlib`.

    Its files say what made it, in their metadata.

    Attributes:
        sheet: the charts that it shows.
    """

    sheet: Sheet

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
    """Return the metadata of a figure's file (`png`, `svg`, `pdf`): its title, how to read it, and its origin."""
    about = escape_controls("; ".join((*sheet.notes, *sheet.made_by)))
    if kind == "pdf":
        return {"Title": sheet.title, "Subject": about, "CreationDate": None}
    return {"Title": sheet.title, "Description": about} | ({"Date": None} if kind == "svg" else {})


def save(figure: NotebookFigure, *paths: Path) -> None:
    """Write a figure as PNG (200 dpi), SVG or PDF, by its suffix; the same numbers and fonts give the same bytes."""
    with mpl.rc_context(_FILES):
        for path in paths:
            with replacing(path) as unfinished:
                figure.savefig(unfinished, format=path.suffix[1:], dpi=PNG_DPI)
