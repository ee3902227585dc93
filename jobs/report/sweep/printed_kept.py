"""How many words keep how much, in the terminal: after every sweep, and first in its report."""

from rich.console import Console

from core.analysis.content_kept import KEPT
from jobs.report.sweep import kept_answer
from jobs.report.sweep.kept import NOT_SCORED, KeptNumbers, kept_numbers
from jobs.store import RunInfo, Store
from jobs.store.kept import RunKept
from jobs.terminal.system_names import names_of
from jobs.terminal.table_style import print_line, print_sentence


def print_kept(numbers: KeptNumbers, datasets: tuple[str, ...], run: RunInfo, console: Console, where: str) -> None:
    """Print the answer of each dataset, in at most five lines. `where` is what `nws` needs to find the run."""
    if not numbers.is_scored:
        print_line(console, kept_answer.not_scored(run.id, where))
        return
    for i, dataset in enumerate(datasets):
        if i > 0:
            console.print()
        print_line(console, kept_answer.heading(numbers, dataset), style="bold underline")
        for name, sentence in kept_answer.sentences(numbers, dataset):
            more = (
                f" Articles needed for narrower intervals: nws plan {run.id}{where}" if name == kept_answer.NEXT else ""
            )
            print_sentence(console, name, sentence + more)


def print_kept_notes(numbers: KeptNumbers, console: Console) -> None:
    """Print how to read these answers."""
    if numbers.of_systems:
        console.print()
        shared = [f"Systems: {shared}." for shared in numbers.names.shared]
        for note in (*shared, kept_answer.HOW_SURE, kept_answer.WHAT_IT_IS):
            print_line(console, note, style="dim")


def print_kept_of_run(store: Store, run: RunInfo, found: RunKept | None, console: Console, where: str) -> None:
    """Print the answers of a run as its driver `found` them, or else from its summaries; nothing if there are none."""
    if run.summaries:
        numbers = NOT_SCORED
        if found is not None:
            systems = {*(kept.system for kept in found.of_systems), *(uncut.system for uncut in found.uncut)}
            names = names_of([run], sorted(systems))
            numbers = KeptNumbers(True, found.of_systems, found.uncut, found.vs_lead, found.all_pairs, names)
        elif KEPT in run.signatures:
            points = store.points(run.id, (KEPT,), texts=False)
            numbers = kept_numbers(points, names_of([run], points.systems))
        print_kept(numbers, numbers.datasets, run, console, where)
        console.print()
