"""How a run is getting on, on stderr: a bar with the time left on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_NOTES = 60.0

# Called with the number of articles that have just been finished, and of those that have just failed.
Advance = Callable[[int, int], None]


@contextmanager
def run_progress(
    console: Console, total: int | None, already_done: int, note: Callable[[str], None], unit: str = "articles"
) -> Iterator[Advance]:
    """Show progress while the block runs.

    Args:
        console: where to.
        total: articles of the run, or whatever is counted; None if unknown.
        already_done: those that an earlier driver finished.
        note: called with a line every minute, and at the end.
        unit: what is counted.
    """
    at, failed, noted = already_done, 0, time.monotonic()

    def line() -> str:
        return f"{at}/{'?' if total is None else total} {unit}" + (f", {failed} failed" if failed else "")

    shown = _bar if sys.stderr.isatty() else _lines
    with shown(console, total, already_done, unit) as advance:

        def advance_and_note(done: int, failures: int) -> None:
            nonlocal at, failed, noted
            at, failed = at + done + failures, failed + failures
            advance(done, failures)
            if time.monotonic() - noted >= _SECONDS_BETWEEN_NOTES:
                noted = time.monotonic()
                note(line())

        yield advance_and_note
    note(line())


@contextmanager
def _bar(console: Console, total: int | None, already_done: int, unit: str) -> Iterator[Advance]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=False) as progress:
        task = progress.add_task(unit, total=total, completed=already_done)
        failed = 0

        def advance(done: int, failures: int) -> None:
            nonlocal failed
            failed += failures
            description = f"{unit} ({failed} failed)" if failed else unit
            progress.update(task, advance=done + failures, description=description)

        yield advance


@contextmanager
def _lines(console: Console, total: int | None, already_done: int, unit: str) -> Iterator[Advance]:
    started = last = time.monotonic()
    first: tuple[float, int] | None = None  # when the first articles landed, and how many: the models were loaded
    printed = ""
    done = failed = 0

    def line() -> str:
        at = already_done + done + failed
        text = f"{at}/{'?' if total is None else total} {unit}"
        text += f", {failed} failed" if failed else ""
        now = time.monotonic()
        text += f", {now - started:.0f} s"
        if total is not None and at < total and first is not None and done + failed > first[1]:
            text += f", about {(now - first[0]) / (done + failed - first[1]) * (total - at):.0f} s left"
        return text

    def advance(new_done: int, new_failures: int) -> None:
        nonlocal done, failed, last, first, printed
        done, failed = done + new_done, failed + new_failures
        now = time.monotonic()
        if first is None:
            first = now, done + failed
        if now - last >= _SECONDS_BETWEEN_LINES:
            last, printed = now, line()
            console.print(printed, highlight=False)

    yield advance
    if line() != printed:
        console.print(line(), highlight=False)
