"""How tables of results look in a terminal: titles, names of systems and numbers."""

import re

from rich.console import Console
from rich.table import Table
from rich.text import Text

from core.analysis import Interval
from core.types import SystemKind

WIDTH = 80
"""Columns of a terminal that every table is made for."""
NAME_WIDTH = 24
"""Columns for a system's name, which leaves eleven n of five columns each on a line of 80."""


def print_line(console: Console, text: str, style: str = "") -> None:
    # Text, not str: a system or dataset name may hold [brackets], which rich would read as markup.
    console.print(Text(text, style=style))


def print_title(console: Console, text: str) -> None:
    console.print()
    print_line(console, text, style="bold underline")


def make_table(gap: int = 0) -> Table:
    """A table without lines, `gap` blanks between its columns."""
    return Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")


def decimals(value: float, places: int = 3) -> str:
    """Without the leading zero: ".432"; no "-.000"."""
    text = f"{value:.{places}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


def interval_text(interval: Interval, places: int = 3) -> str:
    """Its ends: ".012 to .345"; "no interval" where there is none."""
    if interval.low is None or interval.high is None:
        return "no interval"
    return f"{decimals(interval.low, places)} to {decimals(interval.high, places)}"


def role(kind: SystemKind) -> str:
    """What a reader must know of a system: " (control)", " (upper bound)", or nothing."""
    return "" if kind == "system" else f" ({kind})"


UPPER_BOUND_NOTE = "An upper bound saw the reference: no choice. What writes in another way may be above it."


def system_name(system: str, kind: SystemKind) -> Text:
    """The name and role, broken after a "|" where it is too long for a column, and after "-" or "/" where a part is."""
    lines = [""]
    for part in re.findall(r"[^|]*\|?", system):
        for piece in [part] if len(part) < NAME_WIDTH else re.findall(r"[^/-]*[/-]?", part):
            if lines[-1] and len(lines[-1]) + len(piece) >= NAME_WIDTH:
                lines.append(" ")
            lines[-1] += piece
    told = role(kind)
    if told and len(lines[-1]) + len(told) > NAME_WIDTH:
        told = "\n" + told
    return Text("\n".join(lines)).append(told, style="dim")
