"""The progress of a run: its speed, the time left, and the bar or lines on stderr."""

import itertools
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, RenderableColumn
from rich.text import Text

_SPAN_SECONDS = 240.0
_SPAN_MARKS = 8
_BETWEEN_MARKS_SECONDS = 1.0
_SECONDS_BETWEEN_LINES = 60.0
_BAR_WIDTH = 20

# Called with the number of articles that have just been finished, and of those that have just failed.
Advance = Callable[[int, int], None]
# Called with what the fields of `nws.jobs.store.Progress` of these names are now.
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
    """The count of a run: finished, failed, total, and the speed; each of its stages has the same total.

    `stage` is the number of the one that is counted, and how many there are.
    """

    def __init__(self, total: int | None, done: int, unit: str, stage: tuple[int, int]) -> None:
        self._total = total  # of the stage
        self._finished = done
        self._failed = 0
        self._unit = "" if unit == "articles" else f" {unit}"
        number, stages = stage
        self._before = number * (total or 0)
        self.of_run = None if total is None else stages * total
        self._pace = Pace(done)

    def add(self, done: int, failures: int) -> None:
        self._finished += done + failures
        self._failed += failures
        if done + failures:
            self._pace.add(time.monotonic(), self._finished)

    @property
    def finished(self) -> int:
        """In this stage and those before it."""
        return self._before + self._finished

    def line(self) -> str:
        """All stages together in few characters: `138/300 · 2.3/s · about 70 s left`."""
        counts = f"{self.finished}/{'?' if self.of_run is None else self.of_run}{self._unit}"
        failed = f", {self._failed} failed" if self._failed else ""
        span, left = self._pace.span(time.monotonic()), ""
        speed = "" if span.rate is None else f"{span.rate:.2g}/s" if span.rate >= 0.1 else f"{60 * span.rate:.2g}/min"
        if self.of_run is not None:
            seconds = span.seconds_left(self.of_run - self.finished)
            left = "done" if seconds == 0 else "" if seconds is None else f"about {duration(seconds)} left"
        return " · ".join(filter(None, (counts + failed, speed, left)))

    def __rich__(self) -> Text:
        return Text(self.line())

    def fields(self) -> dict[str, Any]:
        """Of `nws.jobs.store.Progress`: of the stage."""
        span = self._pace.span(time.monotonic())
        counts = {"finished": self._finished, "failed": self._failed, "total": self._total}
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
    """Show progress while the block runs: a bar on a terminal, elsewhere a line a minute, and one at the end of all.

    Args:
        console: where to.
        total: articles of the run, or whatever is counted; None if unknown.
        done: those that an earlier driver finished.
        note: called with the line of every minute, and with one at the end of the stage.
        show: called at once and whenever something was finished.
        unit: what is counted.
        stage: the number of the stage, from 0, and how many there are, each with so many articles.
        minutes: when the lines of a run are due, whichever of its stages they come from.
    """
    tally = _Tally(total, done, unit, stage)
    minutes = minutes or Minutes()
    is_terminal, printed = sys.stderr.isatty(), ""
    show(unit=unit, newest=None, **tally.fields())
    with _bar(console, tally) if is_terminal else nullcontext(lambda: None) as look:

        def advance(done: int, failures: int) -> None:
            nonlocal printed
            tally.add(done, failures)
            show(**tally.fields())
            look()
            if minutes.is_due():
                printed = tally.line()
                note(printed)
                if not is_terminal:
                    console.print(printed, highlight=False)

        yield advance
    if tally.line() != printed:
        note(tally.line())
        if not is_terminal and (tally.of_run is None or tally.finished >= tally.of_run):
            console.print(tally.line(), highlight=False)


@contextmanager
def _bar(console: Console, tally: _Tally) -> Iterator[Callable[[], None]]:
    # Rich's own time left counts down while nothing lands, and then stays at a second.
    with Progress(BarColumn(bar_width=_BAR_WIDTH), RenderableColumn(tally), console=console) as progress:
        task = progress.add_task("", total=tally.of_run, completed=tally.finished)
        yield lambda: progress.update(task, completed=tally.finished)
