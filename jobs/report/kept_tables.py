"""Content kept by n as rows of a file, and as tables in LaTeX for papers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.analysis import Interval
from core.analysis.content_kept import KEPT, ContentKept, Share
from jobs.report.formats import latex_cell, tabular
from jobs.report.numbers import interval_columns
from jobs.report.sweep.kept_answer import basis
from jobs.report.sweep.numbers import Numbers
from jobs.store import RunInfo
from jobs.terminal.columns import ColumnSpec
from jobs.terminal.console import printable
from jobs.terminal.metrics import metric_signature
from jobs.terminal.table_style import role

_HALF = 0.5


@dataclass(frozen=True, slots=True)
class ShareRow:
    """What a system keeps of a ceiling at n words."""

    kept: ContentKept
    at: Share


def share_rows(numbers: Numbers) -> list[ShareRow]:
    """A row for each dataset, system, ceiling and n."""
    return [ShareRow(kept, at) for kept in numbers.kept.of_systems for at in kept.lengths]


def share_columns(run: RunInfo) -> tuple[ColumnSpec[ShareRow], ...]:
    """The columns of these rows in a file."""
    return (
        ColumnSpec("run", lambda row: run.id),
        ColumnSpec("metric", lambda row: KEPT),
        ColumnSpec("signature", lambda row: metric_signature(run, KEPT)),
        ColumnSpec("dataset", lambda row: row.kept.dataset),
        ColumnSpec("system", lambda row: row.kept.system),
        ColumnSpec("is_control", lambda row: int(row.kept.kind == "control")),
        ColumnSpec("is_upper_bound", lambda row: int(row.kept.kind == "upper bound")),
        ColumnSpec("of", lambda row: row.kept.of),
        ColumnSpec("n", lambda row: row.at.n),
        ColumnSpec("articles", lambda row: row.at.articles),
        *interval_columns("", lambda row: row.at.share),
    )


def kept_latex(numbers: Numbers) -> str:
    """A table for each dataset: systems by n, their shares in per cent, and from which n on half is kept.

    Comments say what made the numbers. It needs the package booktabs.
    """
    run = numbers.run
    notes = (
        f"Run {run.id}, {run.state}, seed {run.seed}, code {run.code_version}.",
        f"content kept: {metric_signature(run, KEPT)}",
        "Per cent of the reference's content. Subscripts: half of the 95 % interval.",
        r"Needs \usepackage{booktabs}. half: the smallest n from which on half is kept, and its 95 % interval.",
        *(f"Systems: {shared}." for shared in numbers.names.shared),
    )
    tables = (_table(numbers, dataset) for dataset in numbers.kept.datasets)
    return "".join(f"% {printable(note)}\n" for note in notes) + "".join(tables)


def _table(numbers: Numbers, dataset: str) -> str:
    of_reference = [held["reference"] for held in numbers.kept.of(dataset).values()]
    lengths = sorted({at.n for kept in of_reference for at in kept.lengths})
    names = numbers.names
    lines = [[latex_cell(names[kept.system] + role(kept.kind)), *_cells(kept, lengths)] for kept in of_reference]
    heading = printable(f"{dataset}: content kept by n, {basis(numbers.kept, dataset)}")
    return f"\n% {heading}\n{tabular('l' + 'r' * (len(lengths) + 1), ['$n$', *map(str, lengths), 'half'], lines)}"


def _cells(kept: ContentKept, lengths: Sequence[int]) -> Iterator[str]:
    by_n = {at.n: at.share for at in kept.lengths}
    yield from (_share_cell(by_n.get(n)) for n in lengths)
    half = kept.by_share[_HALF]
    low, high = (f"$>${kept.longest}" if end is None else str(end) for end in (half.low, half.high))
    yield f"$>${kept.longest}" if half.n is None else f"{half.n} ({low}--{high})"


def _share_cell(share: Interval | None) -> str:
    if share is None:
        return "--"
    mean = f"{100 * share.mean + 0.0:.0f}".replace("-", "$-$")
    return mean if share.half_width is None else rf"{mean}$_{{\pm{100 * share.half_width:.0f}}}$"
