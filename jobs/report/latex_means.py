"""Means by n as tables in LaTeX: what the reports of sweeps and of trained policies share."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from core.analysis import Metric
from core.analysis.intervals import Interval
from core.types import SystemKind
from jobs.report.latex_table import cell, tabular
from jobs.store import RunInfo
from jobs.terminal.caution import NOT_EQUAL
from jobs.terminal.console import printable
from jobs.terminal.metrics import metric_name, metric_signature
from jobs.terminal.numerals import decimals
from jobs.terminal.table_style import role

# Of a system its name, its kind, and by n its mean and whether that may be held against those of others.
Row: TypeAlias = tuple[str, SystemKind, Mapping[int, tuple[Interval, bool]]]


def comments(run: RunInfo, metric: Metric, *notes: str) -> str:
    """Comments that say what made the numbers, and how to read them."""
    lines = [
        f"Run {run.id}, {run.state}, seed {run.seed}, code {run.code_version}.",
        f"{metric_name(metric)}: {metric_signature(run, metric)}",
        r"Needs \usepackage{booktabs}. Subscripts: half of the 95 % interval.",
        "Bold: the highest at that n, upper bounds aside.",
        "A degree sign: the system lacks articles that others have, so its mean is not compared with theirs.",
        *notes,
    ]
    return "".join(f"% {printable(line)}\n" for line in lines)


def lengths_comment(other_lengths: Mapping[str, Mapping[int, float]]) -> str:
    """Who wrote how many words instead of n, and what that means; "" if all wrote n.

    Args:
        other_lengths: by system and n the mean number of words.
    """
    told = [
        f"{system} wrote {', '.join(f'{words:.1f} words at n = {n}' for n, words in by_n.items() if words != n)}."
        for system, by_n in other_lengths.items()
    ]
    return " ".join((*told, NOT_EQUAL)) if told else ""


def means_table(heading: str, rows: Sequence[Row], best: Mapping[int, float], places: int) -> str:
    """A table of systems by n below a comment: means with half of their 95 % intervals.

    Args:
        heading: the comment.
        rows: the systems.
        best: the highest mean at each n, in bold where a system has it that is no upper bound.
        places: decimals of the means.
    """
    lengths = sorted({n for _, _, by_n in rows for n in by_n})
    lines = []
    for system, kind, by_n in rows:
        highest = {} if kind == "upper bound" else best
        lines.append([cell(system + role(kind)), *(_cell(by_n.get(n), highest.get(n), places) for n in lengths)])
    table = tabular("l" + "r" * len(lengths), ["$n$", *map(str, lengths)], lines)
    return f"\n% {printable(heading)}\n{table}"


def _cell(at: tuple[Interval, bool] | None, best: float | None, places: int) -> str:
    if at is None:
        return "--"
    mean, is_comparable = at
    shown = decimals(mean.mean, places).replace("-", "$-$")
    if not is_comparable:
        shown += r"$^{\circ}$"
    elif round(mean.mean, places) == best:
        shown = rf"\textbf{{{shown}}}"
    half = "" if mean.half_width is None else rf"$_{{\pm{decimals(mean.half_width, places)}}}$"
    return shown + half
