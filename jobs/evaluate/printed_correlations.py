"""Correlations in the terminal: a table a level, and one of the differences between metrics. Made for any width."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from core.analysis.coefficients import COEFFICIENTS, Coefficient
from core.analysis.correlation import LEVELS, Correlation, Level
from core.analysis.paired import ALPHA
from core.analysis.perm_systems import COUNTED, Difference
from jobs.evaluate.correlate import RESAMPLES, FileCorrelation
from jobs.terminal.columns import Column, print_table
from jobs.terminal.numerals import counted, decimals, p_text, signed
from jobs.terminal.table_style import names_column, print_line, print_title

_LEVELS = {"system": "System level: mean scores of systems", "summary": "Summary level: mean over documents"}
_FEW_SYSTEMS = 30
_NAMED = 5


def print_correlation(result: FileCorrelation, console: Console) -> None:
    """Print every correlation with its interval, every difference with its p, and how to read them."""
    table = result.table
    size = f"{len(table.systems)} systems, {len(table.documents)} documents"
    print_line(console, f"Correlation with {result.human}: {size}, seed {result.seed}")
    for level in LEVELS:
        print_title(console, _LEVELS[level])
        _print_values(result, level, console)
    for level in LEVELS if result.differences else ():
        print_title(console, f"A − B at the {level} level")
        _print_differences(result, level, console)
    console.print()
    for note in _notes(result):
        print_line(console, note, style="yellow")
    for line in _how_to_read(result):
        print_line(console, line, style="dim")


def _print_values(result: FileCorrelation, level: Level, console: Console) -> None:
    by_metric: dict[str, dict[Coefficient, Correlation]] = {}
    for correlation in result.correlations:
        if correlation.level == level:
            by_metric.setdefault(correlation.metric, {})[correlation.coefficient] = correlation
    columns = [
        Column(
            f"{name.capitalize()}\n95 % interval",
            [Text(_value(correlations[name])) for correlations in by_metric.values()],
        )
        for name in COEFFICIENTS
    ]
    print_table(names_column("\nmetric", list(map(Text, by_metric))), columns, console, gap=2)


def _value(correlation: Correlation) -> str:
    if correlation.value is None or correlation.low is None or correlation.high is None:
        return "undefined"
    return f"{decimals(correlation.value)}  {decimals(correlation.low)} to {decimals(correlation.high)}"


def _print_differences(result: FileCorrelation, level: Level, console: Console) -> None:
    by_pair: dict[str, dict[Coefficient, Difference]] = {}
    for difference in result.differences:
        if difference.level == level:
            by_pair.setdefault(f"{difference.a} − {difference.b}", {})[difference.coefficient] = difference
    columns = []
    for name in COEFFICIENTS:
        cells = [_difference_cells(differences[name]) for differences in by_pair.values()]
        columns.append(Column(f"{name.capitalize()}\n95 % interval", [Text(shown) for shown, _ in cells]))
        columns.append(Column("\nHolm p", [Text(p) for _, p in cells]))
    print_table(names_column("\nA − B", list(map(Text, by_pair))), columns, console, gap=2)


def _difference_cells(difference: Difference) -> tuple[str, str]:
    low, high = difference.low, difference.high
    if difference.difference is None or difference.p_holm is None or low is None or high is None:
        return "undefined", ""
    ends = f"{signed(low)} to {signed(high)}"
    # The marks are there without colour, too; a blank keeps the digits of other rows in line.
    mark = "*" if difference.significant else "?" if difference.near else "\N{NO-BREAK SPACE}"
    return f"{signed(difference.difference)}  {ends}", p_text(difference.p_holm, 3) + mark


def _notes(result: FileCorrelation) -> Iterator[str]:
    """What the reader must know of these scores."""
    lacking = result.table.lacking
    for document, systems in list(lacking.items())[:_NAMED]:
        yield f"Left out: document {document}, which {', '.join(systems)} lacks."
    if len(lacking) > _NAMED:
        yield f"Left out: {counted(len(lacking) - _NAMED, 'more document')} that a system lacks; --json names them."
    left_out = {
        correlation.metric: correlation.documents_left_out
        for correlation in result.correlations
        if correlation.documents_left_out
    }
    for metric, documents in left_out.items():
        yield (
            f"{metric}: {documents} of {len(result.table.documents)} documents have no correlation, since every system "
            "has the same score there. The summary level leaves them out."
        )
    count, pairs = len(result.table.systems), len({(one.a, one.b) for one in result.differences})
    smallest = 2.0 * pairs / 2.0**count
    if pairs and smallest >= ALPHA:
        yield (
            f"{count} systems, {counted(pairs, 'pair')} of metrics: Holm p cannot fall below "
            f"{decimals(min(1, smallest))}, no difference can be significant."
        )
    if any(one.near for one in result.differences):
        yield f"? undecided: Holm p is so near to {decimals(ALPHA, 2)} that another seed may be on the other side."
    if len(result.table.systems) < _FEW_SYSTEMS:
        yield f"With {len(result.table.systems)} systems the intervals of the system level are too narrow."


def _how_to_read(result: FileCorrelation) -> Iterator[str]:
    yield f"Intervals: systems and documents resampled {RESAMPLES:,} times (Boot-Both). Not corrected."
    if result.differences:
        yield f"* significant: Holm p below {decimals(ALPHA, 2)}. Above 0, A agrees better; below 0, B does."
        yield f"p: {_exchanges(result)} (Perm-Systems)."
        yield "Holm p: corrected over all pairs at one level, for one coefficient. Choose them beforehand."


def _exchanges(result: FileCorrelation) -> str:
    systems = len(result.table.systems)
    if systems <= COUNTED:
        return f"all {2**systems:,} exchanges of systems"
    drawn = sorted({one.exchanges - 1 for one in result.differences if one.p is not None})
    numbers = f"{drawn[0]:,}" if len(drawn) == 1 else f"{drawn[0]:,} to {drawn[-1]:,}" if drawn else "no"
    return f"{numbers} exchanges of systems"
