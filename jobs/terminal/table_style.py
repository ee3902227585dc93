"""How tables of results look in a terminal: titles, lines and names of systems."""

import re
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from core.analysis import Metric
from core.types import SystemKind
from jobs.terminal.columns import Column
from jobs.terminal.metrics import metric_label
from jobs.terminal.system_names import SystemNames

WIDTH = 80
"""Columns of a terminal that every table is made for."""
NAME_WIDTH = 24
"""Columns for a system's name, which leaves eleven n of five columns each on a line of 80."""


def print_line(console: Console, text: str, style: str = "") -> None:
    # Text, not str: a system or dataset name may hold [brackets], which rich would read as markup.
    console.print(Text(text, style=style))


def print_sentence(console: Console, name: str, sentence: str) -> None:
    """Print a sentence about a system behind its name."""
    console.print(Text(name, style="bold").append(f": {sentence}", style="not bold"))


def print_metric(metric: Metric, signature: str, run: str, console: Console, where: str) -> None:
    """Print the metric of a report and its shortened signature. `where` is what `nws` needs to find the run."""
    label = metric_label(metric, signature)
    print_line(console, f"Metric: {label}. In full: nws status {run}{where}", style="dim")


def print_shared(names: SystemNames, console: Console) -> None:
    """Print what the names of systems leave out."""
    for shared in names.shared:
        print_line(console, f"Systems: {shared}", style="dim")


def print_title(console: Console, text: str) -> None:
    console.print()
    print_line(console, text, style="bold underline")


def names_column(heading: str, names: Sequence[Text], width: int = NAME_WIDTH) -> Column:
    """Names to the left, folded at `width`."""
    column = Column(heading, names)
    return Column(heading, names, min(width, column.wide), "left")


def role(kind: SystemKind) -> str:
    """The role to show behind a system's name: " (control)", " (upper bound)", or nothing."""
    return "" if kind == "system" else f" ({kind})"


UPPER_BOUND_NOTE = "An upper bound saw the reference: it cannot be chosen. Another way of writing may score higher."


def system_name(system: str, kind: SystemKind, width: int = NAME_WIDTH) -> Text:
    """The name and role, broken after a "|" where it is too long for a column, and after "-" or "/" where a part is."""
    lines = [""]
    for part in re.findall(r"[^|]*\|?", system):
        for piece in [part] if len(part) <= width else re.findall(r"[^/-]*[/-]?", part):
            if lines[-1] and len(lines[-1]) + len(piece) > width:
                lines.append(" ")
            lines[-1] += piece
    suffix = role(kind)
    if suffix and len(lines[-1]) + len(suffix) > width:
        suffix = "\n" + suffix
    return Text("\n".join(lines)).append(suffix, style="dim")
