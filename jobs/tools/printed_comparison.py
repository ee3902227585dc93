"""Comparisons in the terminal, a table for each dataset and pair. Made for any width, with or without colour."""

from collections.abc import Iterator, Mapping

from rich.console import Console

from core.analysis import Comparison
from core.analysis.paired import ALPHA
from core.text.length import LengthUnit
from core.types import SystemKind
from jobs.report.metric_names import SKEWED, few, not_equal
from jobs.report.numerals import counted, decimals
from jobs.report.printed_lines import print_line, print_metric, print_shared, print_title, print_unit, role
from jobs.report.result_tables import comparison_table
from jobs.store import RunInfo
from jobs.tools.comparison import RunComparison, joined

_PLACES = 4
_WORTH_SAYING = 0.01
"""The least share of equal texts."""


def print_comparison(result: RunComparison, console: Console, where: str = "") -> None:
    """Print what was compared, a table for each dataset and pair, and how to read them.

    `where` is appended to the commands it names, so that they find the runs: such as ` --store URL`.
    """
    for run in (result.a, result.b) if result.two_runs else (result.a,):
        print_line(
            console, f"Run {run.id}: {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed"
        )
    print_unit(result.a.length_unit, console)
    print_metric(result.metric, result.signatures[0], result.a.id, console, where)  # two runs have the same
    print_shared(result.names, console)
    for comparison in result.comparisons:
        _print_pair(result, comparison, console)
    _print_how_to_read(result, console)


def _print_pair(result: RunComparison, comparison: Comparison, console: Console) -> None:
    print_title(console, f"{comparison.dataset}: A − B")
    for side, system, run in (("A", comparison.a, result.a), ("B", comparison.b, result.b)):
        print_line(console, f"{side}  {_describe(result, system, run)}")
    # Titled above: A and B are said there.
    comparison_table(comparison, "A", "B", "", _PLACES).print(console)
    for note in _notes(comparison, result.kinds, result.a.length_unit):
        print_line(console, note, style="yellow")


def _describe(result: RunComparison, system: str, run: RunInfo) -> str:
    return result.names[system] + role(result.kinds[system]) + (f", run {run.id}" if result.two_runs else "")


def _notes(comparison: Comparison, kinds: Mapping[str, SystemKind], unit: LengthUnit) -> Iterator[str]:
    """What the reader must know about these systems and articles."""
    for side, system in (("A", comparison.a), ("B", comparison.b)):
        if kinds[system] == "upper bound":
            yield (
                f"{side} is an upper bound: it saw the reference, so it cannot be chosen. "
                "Another way of writing may score higher."
            )
    if unit != "words" or not all(at.at_equal_length for at in comparison.lengths):
        yield not_equal(unit)
    only_a, only_b = (max(getattr(at, side) for at in comparison.lengths) for side in ("only_a", "only_b"))
    if only_a or only_b:
        yield f"Left out: at most {counted(only_a, 'article')} only A has, {counted(only_b, 'article')} only B has."
    if comparison.left_out:
        yield f"Left out, since no article of enough words has a summary by both: n = {joined(comparison.left_out)}."
    if comparison.short:
        counts = ", ".join(f"{many} at n = {n}" for n, many in comparison.short.items())
        why = "having fewer than n words" if unit == "words" else f"fitting whole into n {unit}"
        yield f"Left out for {why}: {counts}."
    same = [(at.same_text, at.articles) for at in comparison.lengths if at.same_text is not None]
    share = sum(equal for equal, _ in same) / max(1, sum(articles for _, articles in same))
    if share >= _WORTH_SAYING:
        yield f"A and B wrote the same text in {100 * share:.0f} % of the summaries."
    yield from _too_few(comparison)


def _too_few(comparison: Comparison) -> Iterator[str]:
    most, tested = max(at.articles for at in comparison.lengths), len(comparison.lengths)
    smallest = tested * 2 / 2**most
    without_p = [at.n for at in comparison.lengths if 2 / 2**at.articles >= ALPHA]
    if smallest >= ALPHA:
        least = decimals(min(1, smallest), _PLACES)
        yield f"{counted(most, 'article')}, {tested} n: Holm p cannot fall below {least}, nothing can be significant."
    elif without_p:
        yield f"Too few articles for a p below {decimals(ALPHA, 2)} at n = {joined(without_p)}."
    elif caution := few(min(at.articles for at in comparison.lengths)):
        yield caution
    if skewed := [at.n for at in comparison.lengths if at.significant and at.too_skewed]:
        yield f"{SKEWED}: n = {joined(skewed)}."


def _print_how_to_read(result: RunComparison, console: Console) -> None:
    console.print()
    for (system_a, system_b), why in result.not_compared.items():
        print_line(
            console, f"Not compared: {result.names[system_a]} and {result.names[system_b]}: {why}.", style="yellow"
        )
    lines = (
        f"* significant: Holm p below {decimals(ALPHA, 2)}. Above 0, A is better; below 0, B is.",
        "Holm p: corrected over the n of one pair on one dataset. Intervals are not corrected.",
        "p: sign-flip test on per-article differences, over all patterns of signs. No seed.",
        "Intervals: Student's t of the per-article differences.",
    )
    for line in lines:
        print_line(console, line, style="dim")
