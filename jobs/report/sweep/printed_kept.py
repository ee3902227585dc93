"""How many words keep how much, in the terminal: after every sweep, and first in its report."""

from rich.console import Console

from core.analysis.answer import Answer
from jobs.report.sweep import kept_answer
from jobs.store import RunInfo, Store
from jobs.terminal.system_names import FULL_NAMES, SystemNames, names_of
from jobs.terminal.table_style import print_line, print_sentence


def print_kept(
    answer: Answer,
    datasets: tuple[str, ...],
    run: RunInfo,
    console: Console,
    where: str,
    names: SystemNames = FULL_NAMES,
) -> None:
    """Print the answer of each dataset, in at most five lines. `where` is what `nws` needs to find the run."""
    if not answer.is_scored:
        print_line(console, kept_answer.not_scored(run.id, where))
        return
    for i, dataset in enumerate(datasets):
        if i > 0:
            console.print()
        print_line(console, kept_answer.heading(answer, dataset), style="bold underline")
        for name, sentence in kept_answer.sentences(answer, dataset, names):
            more = (
                f" Articles needed for narrower intervals: nws plan {run.id}{where}" if name == kept_answer.NEXT else ""
            )
            print_sentence(console, name, sentence + more)


def print_kept_notes(answer: Answer, console: Console, names: SystemNames = FULL_NAMES) -> None:
    """Print how to read these answers."""
    if answer.of_systems:
        console.print()
        shared = [f"Systems: {shared}." for shared in names.shared]
        for note in (*shared, kept_answer.HOW_SURE, kept_answer.WHAT_IT_IS):
            print_line(console, note, style="dim")


def print_kept_of_run(store: Store, run: RunInfo, console: Console, where: str) -> None:
    """Print the answers of a run; nothing if it has no summaries."""
    if run.summaries:
        answer = store.answer(run.id)
        print_kept(answer, answer.datasets, run, console, where, names_of([run], answer.systems))
        console.print()
