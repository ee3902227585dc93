"""How a run is getting on, on stderr: a bar with the time left on a terminal, a plain line now and then elsewhere."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
)
from rich.text import Text

from jobs.drive.time_left import Marks, duration

_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_NOTES = 60.0
_BAR_WIDTH = 20

# Called with the number of articles that have just been finished, and of those that have just failed.
Advance = Callable[[int, int], None]
# Called with what the fields of `jobs.store.Progress` of these names are now.
Show = Callable[..., None]


class _Tally:
    """How many are finished, of how many, and since when."""

    def __init__(self, total: int | None, already_done: int, unit: str, first: str) -> None:
        self._already_done = already_done
        self._first = first
        self.total = total
        self.finished = already_done
        self.failed = 0
        self.unit = unit
        self._marks = Marks(already_done)
        self._started = time.monotonic()

    def add(self, done: int, failures: int) -> None:
        self.finished += done + failures
        self.failed += failures
        if done + failures:
            self._marks.add(time.monotonic(), self.finished)

    def text(self) -> str:
        text = f"{self.finished}/{'?' if self.total is None else self.total} {self.unit}"
        return text + (f", {self.failed} failed" if self.failed else "")

    def left(self) -> str:
        """The time left, in words, or what is done before anything can be finished; empty where neither is known."""
        if self.total is None:
            return ""
        remaining = self.total - self.finished
        if remaining <= 0:
            return "done"
        if self.finished == self._already_done:
            return self._first
        seconds = self._marks.span(time.monotonic()).seconds_left(remaining)
        return "" if seconds is None else f"about {duration(seconds)} left"

    def line(self) -> str:
        return " · ".join(filter(None, (self.text(), duration(time.monotonic() - self._started), self.left())))

    def fields(self) -> dict[str, Any]:
        """Of `jobs.store.Progress`."""
        span = self._marks.span(time.monotonic())
        counts = {"finished": self.finished, "failed": self.failed, "total": self.total}
        return counts | {"span_seconds": span.seconds, "span_finished": span.finished}


@contextmanager
def run_progress(
    console: Console,
    total: int | None,
    already_done: int,
    note: Callable[[str], None],
    show: Show,
    unit: str = "articles",
    first: str = "",
) -> Iterator[Advance]:
    """Show progress while the block runs.

    Args:
        console: where to.
        total: articles of the run, or whatever is counted; None if unknown.
        already_done: those that an earlier driver finished.
        note: called with a line every minute, and at the end.
        show: called at once and whenever something was finished.
        unit: what is counted.
        first: what is done before any of them can be finished, such as "loading bert-base-uncased".
    """
    tally = _Tally(total, already_done, unit, first)
    noted = time.monotonic()
    show(unit=unit, actors=(), newest=None, **tally.fields())
    shown = _bar if sys.stderr.isatty() else _lines
    with shown(console, tally) as look:

        def advance(done: int, failures: int) -> None:
            nonlocal noted
            tally.add(done, failures)
            show(**tally.fields())
            look()
            if time.monotonic() - noted >= _SECONDS_BETWEEN_NOTES:
                noted = time.monotonic()
                note(tally.text())

        yield advance
    note(tally.text())


class _Line(ProgressColumn):
    """What the plain lines say. Rich's own time left counts down while nothing lands, and then stays at a second."""

    def __init__(self, tally: _Tally) -> None:
        super().__init__()
        self._tally = tally

    def render(self, task: Task) -> Text:
        """The line as it is now."""
        return Text(self._tally.line())


@contextmanager
def _bar(console: Console, tally: _Tally) -> Iterator[Callable[[], None]]:
    with Progress(BarColumn(bar_width=_BAR_WIDTH), _Line(tally), console=console, transient=False) as progress:
        task = progress.add_task("", total=tally.total, completed=tally.finished)
        yield lambda: progress.update(task, completed=tally.finished)


@contextmanager
def _lines(console: Console, tally: _Tally) -> Iterator[Callable[[], None]]:
    """A line every five seconds; while nothing changes ever fewer, so that a night of silence fills no log."""
    started = last = time.monotonic()
    told, printed = tally.text(), ""
    lock, ended = threading.Lock(), threading.Event()

    def look() -> None:
        nonlocal last, told, printed
        with lock:
            now, text = time.monotonic(), tally.text()
            silence = max(_SECONDS_BETWEEN_LINES, (now - started) / 10) if text == told else _SECONDS_BETWEEN_LINES
            if now - last >= silence:
                last, told, printed = now, text, tally.line()
                console.print(printed, highlight=False)

    def look_on() -> None:
        while not ended.wait(1.0):
            look()

    thread = threading.Thread(target=look_on, name="progress", daemon=True)
    thread.start()
    try:
        yield look
    finally:
        ended.set()
        thread.join()
    if tally.line() != printed:
        console.print(tally.line(), highlight=False)
