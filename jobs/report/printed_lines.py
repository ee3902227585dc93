"""How tables of results look in a terminal: titles, lines and names of systems."""

from rich.console import Console
from rich.text import Text

from nws.core.metrics.specs import Metric
from nws.core.text.length import LengthUnit
from nws.core.types import SystemKind
from nws.jobs.report.metric_names import metric_name, short_signature
from nws.jobs.report.system_names import SystemNames

WIDTH = 80
"""Columns of a terminal that every table is made for."""


def print_line(console: Console, text: str, style: str = "") -> None:
    # Text, not str: a system or dataset name may hold [brackets], which rich would read as markup.
    console.print(Text(text, style=style))


def print_sentence(console: Console, name: str, sentence: str) -> None:
    """Print a sentence about a system behind its name."""
    console.print(Text(name, style="bold").append(f": {sentence}", style="not bold"))


def print_signature(metric: Metric, signature: str, run: str, console: Console, where: str) -> None:
    """Print the shortened signature of the metric of a report. `where` is what `nws` needs to find the run."""
    line = f"Signature of {metric_name(metric)}, shortened: {short_signature(signature)}"
    print_line(console, f"{line}. In full: nws status {run}{where}", style="dim")


def print_unit(unit: LengthUnit, console: Console) -> None:
    """Print what n counts, unless it is words, as nearly always."""
    if unit != "words":
        print_line(console, f"n counts {unit}: a summary has at most n {unit}, and no word is cut.")


def print_shortened(names: SystemNames, console: Console) -> None:
    """Print what the names of systems leave out."""
    for note in names.shortened:
        print_line(console, f"{note}.", style="dim")


def print_title(console: Console, text: str) -> None:
    console.print()
    print_line(console, text, style="bold underline")


def role(kind: SystemKind) -> str:
    """Return the role to show behind a system's name: " (control)", " (oracle)", or nothing."""
    return {"system": "", "control": " (control)", "oracle": " (oracle)"}[kind]


ROLES = {"control": "control: a floor for systems", "oracle": "oracle: it saw the reference, so it is no system"}
"""What the roles behind names mean."""
ORACLE_NOTE = "An oracle saw the reference, so it cannot be used in practice. Other texts may score even higher."
