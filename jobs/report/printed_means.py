"""What the terminal shows of sweeps and of trainings alike: answers, and cells and keys of tables of means."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from core.analysis import SystemScore
from jobs.report.numbers import RunNumbers, Score, SweepScore
from jobs.terminal.numerals import counted, decimals
from jobs.terminal.table_style import (
    UPPER_BOUND_NOTE,
    print_line,
    print_metric,
    print_sentence,
    print_shared,
    print_title,
    print_unit,
)

_APART = "°"


def print_run(numbers: RunNumbers[Score], seeds: str, console: Console, where: str) -> None:
    """Print which run it is, and in which metric. `where` is what `nws` needs to find the run."""
    run = numbers.run
    print_line(
        console, f"Run {run.id}: {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed, {seeds}"
    )
    print_unit(run.length_unit, console)
    print_metric(numbers.metric, numbers.signature, run.id, console, where)
    print_shared(numbers.names, console)


def print_answer(
    console: Console, title: str, headline: str, sentences: Iterable[tuple[str, str]], known: Iterable[str]
) -> None:
    """Print an answer: in one sentence, in one for each system, and what it rests on."""
    print_title(console, title)
    if headline:
        print_line(console, headline, style="bold")
    for system, sentence in sentences:
        print_sentence(console, system, sentence)
    for sentence in known:
        print_line(console, sentence, style="dim")


def mean_cell(
    score: SweepScore | SystemScore, best: float | None, places: int, *, width: int = 0, blank: str = ""
) -> Text:
    """A mean, with a star if it is the `best` at its n; `blank` stands where others have the star."""
    is_best = score.comparable and score.kind != "upper bound" and round(score.score.mean, places) == best
    mark = "*" if is_best else blank if score.comparable else _APART
    return Text(f"{decimals(score.score.mean, places):>{width}}{mark}", style="bold" if is_best else "")


def print_key(scores: Sequence[SweepScore | SystemScore], console: Console, *notes: str) -> None:
    """Print how to read marks and systems of a table of means, with further notes."""
    if any(not score.comparable for score in scores):
        print_line(
            console, f"{_APART} lacks articles that others have: this mean is not compared with theirs", style="dim"
        )
    for note in notes:
        print_line(console, note, style="dim")
    if any(score.kind == "upper bound" for score in scores):
        print_line(console, UPPER_BOUND_NOTE, style="dim")
