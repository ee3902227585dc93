"""The progress of a run: its speed, the time left, and the bar or lines on stderr."""

import itertools
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task
from rich.text import Text

_SPAN_SECONDS = 240.0
_SPAN_MARKS = 8
_BETWEEN_MARKS_SECONDS = 1.0
_SECONDS_BETWEEN_LINES = 60.0
_BAR_WIDTH = 20

# Called with the number of articles that have just been finished, and of those that have just failed.
Advance = Callable[[int, int], None]
# Called with what the fields of `jobs.store.Progress` of these names are now.
Show = Callable[..., None]


def duration(seconds: float) -> str:
    """In words, rounded: `40 s`, `12 min`, `3 h 5 min`, `2 d 4 h`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // (24 * 60)} d {minutes % (24 * 60) // 60} h"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time between two landings, and how many were finished in it.

    It does not begin with the work: models are loaded before. `gap` is the longest time between two landings in it.
    """

    seconds: float
    finished: int
    gap: float = 0.0

    def later(self, seconds: float) -> "Span":
        """The span after some seconds in which nothing was finished; those of a gap are no silence."""
        return Span(self.seconds + max(0.0, seconds - self.gap), self.finished, max(0.0, self.gap - seconds))

    @property
    def rate(self) -> float | None:
        """How many were finished per second; None if nothing was finished in it."""
        return self.finished / self.seconds if self.finished > 0 and self.seconds > 0 else None

    def seconds_left(self, remaining: int) -> float | None:
        """What the remaining ones take at this rate; None while there is none.

        Since the span goes on while nothing lands for longer than usual, so does the estimate: it grows with a silence,
        and never says that all is nearly done because it should be.
        """
        if remaining <= 0:
            return 0.0
        return None if self.rate is None else remaining / self.rate


class Pace:
    """How fast it goes of late: in the last four minutes, and further back where fewer than eight bundles landed then.

    A mark is the beginning of a second in which some were finished, since actors may land together, and how many had
    been finished before it. So a span has what its first landing brought, and not what its last one is bringing.
    """

    def __init__(self, finished: int = 0) -> None:
        self._finished = finished  # by an earlier driver
        self._marks: deque[tuple[float, int]] = deque()

    def add(self, now: float, finished: int) -> None:
        """`finished` in all had been finished at `now`, some of them just then."""
        if not self._marks or now - self._marks[-1][0] >= _BETWEEN_MARKS_SECONDS:
            self._marks.append((now, self._finished))
        self._finished = finished
        while len(self._marks) > _SPAN_MARKS and now - self._marks[1][0] >= _SPAN_SECONDS:
            self._marks.popleft()

    def span(self, now: float) -> Span:
        """The span up to now."""
        if len(self._marks) < 2:
            return Span(0.0, 0)
        (began, before), (ended, finished) = self._marks[0], self._marks[-1]
        gap = max(after - earlier for (earlier, _), (after, _) in itertools.pairwise(self._marks))
        return Span(ended - began, finished - before, gap).later(now - ended)


class Minutes:
    """Says once a minute that it is time for another line."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def is_due(self) -> bool:
        """Whether a minute has passed since the last time that this was so, or since the beginning."""
        if time.monotonic() - self._last < _SECONDS_BETWEEN_LINES:
            return False
        self._last = time.monotonic()
        return True


class _Tally:
    """The count of a stage: finished, failed, total, and the speed. `stage` is its number, and how many there are."""

    def __init__(self, total: int | None, done: int, unit: str, stage: tuple[int, int]) -> None:
        self.total = total
        self.finished = done
        self.failed = 0
        self.unit = unit
        self._stage, self._stages = stage
        self._pace = Pace(done)
        self._started = time.monotonic()

    def add(self, done: int, failures: int) -> None:
        self.finished += done + failures
        self.failed += failures
        if done + failures:
            self._pace.add(time.monotonic(), self.finished)

    def text(self) -> str:
        text = f"{self.finished}/{'?' if self.total is None else self.total} {self.unit}"
        return text + (f", {self.failed} failed" if self.failed else "")

    def left(self, stages: int = 1) -> str:
        """The time left of this stage and those behind it, `stages` in all, in words; empty where it is not known."""
        if self.total is None:
            return ""
        remaining = stages * self.total - self.finished
        if remaining <= 0:
            return "done"
        seconds = self._pace.span(time.monotonic()).seconds_left(remaining)
        return "" if seconds is None else f"about {duration(seconds)} left"

    @property
    def is_whole(self) -> bool:
        """Whether the last stage has come to its end, as far as that is known."""
        return self._stage == self._stages - 1 and (self.total is None or self.finished >= self.total)

    def whole_line(self) -> str:
        """All stages together in few characters: `138/300 · 2.3/s · about 70 s left`."""
        before = self._stage * (self.total or 0)
        counts = f"{before + self.finished}/{'?' if self.total is None else self._stages * self.total}"
        counts += "" if self.unit == "articles" else f" {self.unit}"
        failed = f", {self.failed} failed" if self.failed else ""
        rate = self._pace.span(time.monotonic()).rate
        speed = "" if rate is None else f"{rate:.2g}/s" if rate >= 0.1 else f"{60 * rate:.2g}/min"
        return " · ".join(filter(None, (counts + failed, speed, self.left(self._stages - self._stage))))

    def line(self) -> str:
        left = self.left()
        # What a stage took is no news at its end: the run says there what it took as a whole.
        spent = "" if left == "done" else duration(time.monotonic() - self._started)
        return " · ".join(filter(None, (self.text(), spent, left)))

    def fields(self) -> dict[str, Any]:
        """Of `jobs.store.Progress`."""
        span = self._pace.span(time.monotonic())
        counts = {"finished": self.finished, "failed": self.failed, "total": self.total}
        return counts | {"span_seconds": span.seconds, "span_finished": span.finished}


def _ignore(*lines: object, **fields: object) -> None:
    """Show nothing."""


@contextmanager
def run_progress(
    console: Console,
    total: int | None,
    done: int = 0,
    note: Callable[[str], None] = _ignore,
    show: Show = _ignore,
    unit: str = "articles",
    stage: tuple[int, int] = (0, 1),
    minutes: Minutes | None = None,
) -> Iterator[Advance]:
    """Show progress while the block runs: a bar on a terminal, elsewhere a line a minute.

    The bar is about one stage, since the next may be faster or slower by far; a line is about all of them.

    Args:
        console: where to.
        total: articles of the run, or whatever is counted; None if unknown.
        done: those that an earlier driver finished.
        note: called with a line every minute, and at the end.
        show: called at once and whenever something was finished.
        unit: what is counted.
        stage: the number of the stage, from 0, and how many there are, each with so many articles.
        minutes: when the lines of a run are due, whichever of its stages they come from.
    """
    tally, notes = _Tally(total, done, unit, stage), Minutes()
    show(unit=unit, actors=(), newest=None, **tally.fields())
    shown = _bar(console, tally) if sys.stderr.isatty() else _lines(console, tally, minutes or Minutes())
    with shown as look:

        def advance(done: int, failures: int) -> None:
            tally.add(done, failures)
            show(**tally.fields())
            look()
            if notes.is_due():
                note(tally.text())

        yield advance
    note(tally.text())


class _Line(ProgressColumn):
    """The text behind the bar. Rich's own time left counts down while nothing lands, and then stays at a second."""

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
def _lines(console: Console, tally: _Tally, minutes: Minutes) -> Iterator[Callable[[], None]]:
    """A line a minute at most, and one at the end of all stages."""
    printed = ""

    def look() -> None:
        nonlocal printed
        if minutes.is_due():
            printed = tally.whole_line()
            console.print(printed, highlight=False)

    yield look
    if tally.is_whole and tally.whole_line() != printed:
        console.print(tally.whole_line(), highlight=False)
