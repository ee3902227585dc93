"""Correlations in the terminal: a table a level, and one of the differences between metrics. Made for 80 columns."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from core.analysis.coefficients import COEFFICIENTS
from core.analysis.correlation import LEVELS, Correlation, Level
from core.analysis.paired import ALPHA
from core.analysis.perm_both import Difference
from jobs.correlate.compute import RESAMPLES, FileCorrelation
from jobs.terminal.table_style import decimals, make_table, print_line, print_title

_LEVELS = {"system": "System level: mean scores of systems", "summary": "Summary level: mean over documents"}
_FEW_SYSTEMS = 30
_NAMED = 5


def print_correlation(found: FileCorrelation, console: Console) -> None:
    """Print every correlation with its interval, every difference with its p, and how to read them."""
    table = found.table
    size = f"{len(table.systems)} systems, {len(table.documents)} documents"
    print_line(console, f"Correlation with {found.human}: {size}, seed {found.seed}")
    for level in LEVELS:
        print_title(console, _LEVELS[level])
        _print_values(found, level, console)
    for level in LEVELS if found.differences else ():
        print_title(console, f"A − B at the {level} level")
        _print_differences(found, level, console)
    console.print()
    for note in _notes(found):
        print_line(console, note, style="yellow")
    for line in _how_to_read(found):
        print_line(console, line, style="dim")


def _print_values(found: FileCorrelation, level: Level, console: Console) -> None:
    table = make_table(gap=2)
    table.add_column("\nmetric", overflow="fold")
    for coefficient in COEFFICIENTS:
        table.add_column(f"{coefficient.capitalize()}\n95 % interval", justify="right", no_wrap=True)
    for metric in dict.fromkeys(one.metric for one in found.correlations):
        of_metric = {one.coefficient: one for one in found.correlations if (one.metric, one.level) == (metric, level)}
        table.add_row(Text(metric), *(Text(_value(of_metric[coefficient])) for coefficient in COEFFICIENTS))
    console.print(table)


def _value(one: Correlation) -> str:
    if one.value is None or one.low is None or one.high is None:
        return "undefined"
    return f"{decimals(one.value)}  {decimals(one.low)} to {decimals(one.high)}"


def _print_differences(found: FileCorrelation, level: Level, console: Console) -> None:
    table = make_table(gap=2)
    table.add_column("A − B", overflow="fold")
    for coefficient in COEFFICIENTS:
        table.add_column(coefficient.capitalize(), justify="right", no_wrap=True)
        table.add_column("Holm p", justify="right", no_wrap=True)
    for pair in dict.fromkeys((one.a, one.b) for one in found.differences):
        of_pair = {one.coefficient: one for one in found.differences if (one.a, one.b, one.level) == (*pair, level)}
        cells = (cell for coefficient in COEFFICIENTS for cell in _difference_cells(of_pair[coefficient]))
        table.add_row(Text(f"{pair[0]} − {pair[1]}"), *map(Text, cells))
    console.print(table)


def _difference_cells(one: Difference) -> tuple[str, str]:
    if one.difference is None or one.p_holm is None:
        return "undefined", ""
    value = decimals(one.difference)
    sign = "" if value.startswith("-") or float(value) == 0 else "+"
    # The star is there without colour, too; a blank keeps the digits of other rows in line.
    return sign + value, decimals(one.p_holm) + ("*" if one.p_holm < ALPHA else "\N{NO-BREAK SPACE}")


def _notes(found: FileCorrelation) -> Iterator[str]:
    """What the reader must know of these scores."""
    lacking = found.table.lacking
    for document, systems in list(lacking.items())[:_NAMED]:
        yield f"Left out: document {document}, which {', '.join(systems)} lacks."
    if len(lacking) > _NAMED:
        yield f"Left out: {len(lacking) - _NAMED} more documents that a system lacks; --json names them."
    left_out = {one.metric: one.documents_left_out for one in found.correlations if one.documents_left_out}
    for metric, documents in left_out.items():
        yield (
            f"{metric}: {documents} of {len(found.table.documents)} documents have no correlation, since every system "
            "has the same score there. The summary level leaves them out."
        )
    if len(found.table.systems) < _FEW_SYSTEMS:
        yield f"Few systems ({len(found.table.systems)}): the intervals of the system level are too narrow."


def _how_to_read(found: FileCorrelation) -> Iterator[str]:
    yield f"Intervals: systems and documents resampled {RESAMPLES:,} times (Boot-Both)."
    if found.differences:
        yield f"* significant: Holm p below {decimals(ALPHA, 2)}. Above 0, A agrees better; below 0, B does."
        yield f"p: {RESAMPLES:,} exchanges of systems and documents (Perm-Both)."
        yield "Holm p: corrected over all pairs at one level, for one coefficient. Choose these before looking."
