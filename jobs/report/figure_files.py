"""Figures as files that repeat, and their fonts."""

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.figure import Figure

from core.whole_files import replacing

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
_UNDATED: dict[str, dict[Any, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


class NotebookFigure(Figure):
    """A figure that a notebook shows where it is the value of a cell, with and without `%matplotlib`."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.savefig(picture, format="png", dpi=_SHOWN_DPI)
        return picture.getvalue()


def save(figure: NotebookFigure, *paths: Path) -> None:
    """Write a figure as PNG (200 dpi), SVG or PDF, by its suffix; the same numbers and fonts give the same bytes."""
    with mpl.rc_context(_FILES):
        for path in paths:
            with replacing(path) as unfinished:
                kind = path.suffix[1:]
                figure.savefig(unfinished, format=kind, dpi=PNG_DPI, metadata=_UNDATED.get(kind))
