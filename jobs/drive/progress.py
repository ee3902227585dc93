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

# Called with the number of articles that were finished since the last call, and the number of those that failed.
Advance = Callable[[int, int], None]
# Called with the new values of fields of `nws.jobs.store.Progress`.
Show = Callable[..., None]


def duration(seconds: float) -> str:
    """Format a time in words, rounded: `40 s`, `12 min`, `3 h 5 min`, `2 d 4 h`."""
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
    """A stretch of time between two landings of results, and the number of articles finished in it.

    It does not begin with the work, since models are loaded first. `gap` is the longest time between two landings.
    """

    seconds: float
    finished: int
    gap: float = 0.0

    def later(self, seconds: float) -> "Span":
        """Extend the span by seconds in which nothing was finished. Only seconds beyond its longest gap count."""
        return Span(self.seconds + max(0.0, seconds - self.gap), self.finished, max(0.0, self.gap - seconds))

    @property
    def rate(self) -> float | None:
        """The number finished per second; None if nothing was finished."""
        return self.finished / self.seconds if self.finished > 0 and self.seconds > 0 else None

    def seconds_left(self, remaining: int) -> float | None:
        """Return the seconds that the remaining ones take at this rate; None while the rate is unknown.

        The span, and so the estimate, grows while nothing lands for longer than usual. So the estimate never claims
        that the work is nearly done only because it was expected to be.
        """
        if remaining <= 0:
            return 0.0
        return None if self.rate is None else remaining / self.rate


class Pace:
    """The recent speed: over the last four minutes, or longer where fewer than eight bundles landed in them.

    A mark is the beginning of a second in which results landed, since several actors may land together, with the number
    finished before it. So a span counts what its first landing brought, and not what its last one brings.
    """

    def __init__(self, finished: int = 0) -> None:
        self._finished = finished  # by an earlier driver
        self._marks: deque[tuple[float, int]] = deque()

    def add(self, now: float, finished: int) -> None:
        """Note that `finished` in all are finished at the time `now`, some of them just then."""
        if not self._marks or now - self._marks[-1][0] >= _BETWEEN_MARKS_SECONDS:
            self._marks.append((now, self._finished))
        self._finished = finished
        while len(self._marks) > _SPAN_MARKS and now - self._marks[1][0] >= _SPAN_SECONDS:
            self._marks.popleft()

    def span(self, now: float) -> Span:
        """Return the span up to now."""
        if len(self._marks) < 2:
            return Span(0.0, 0)
        (began, before), (ended, finished) = self._marks[0], self._marks[-1]
        gap = max(after - earlier for (earlier, _), (after, _) in itertools.pairwise(self._marks))
        return Span(ended - began, finished - before, gap).later(now - ended)


class MinuteTimer:
    """A timer that says once a minute that another line is due."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def is_due(self) -> bool:
        """Return whether a minute has passed since this last returned True, or since the beginning."""
        if time.monotonic() - self._last < _SECONDS_BETWEEN_LINES:
            return False
        self._last = time.monotonic()
        return True


class _Tally:
    """The counts of a run: finished, failed and total, and the speed. Each of its stages has the same total.

    `stage` is the number of the counted stage, from 0, and the number of stages.
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
        """The number finished in this stage and those before it."""
        return self._before + self._finished

    def line(self) -> str:
        """Describe all stages together in few characters: `138/300 · 2.3/s · about 70 s left`."""
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
        """Return the fields of `nws.jobs.store.Progress` for this stage."""
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
    minutes: MinuteTimer | None = None,
) -> Iterator[Advance]:
    """Show progress while the block runs: a bar on a terminal; elsewhere a line a minute, and one after the last stage.

    Args:
        console: the console that shows it.
        total: the articles of the run, or whatever is counted; None if unknown.
        done: the number that an earlier driver finished.
        note: a function that gets a line every minute, and one at the end of the stage.
        show: a function that gets the counts at once and whenever something was finished.
        unit: the name of what is counted.
        stage: the number of the stage, from 0, and the number of stages, each with `total` articles.
        minutes: the timer of the lines, which all stages of a run share.
    """
    tally = _Tally(total, done, unit, stage)
    minutes = minutes or MinuteTimer()
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
    # Not Rich's own estimate: it counts down while nothing lands, and then stays at one second.
    with Progress(BarColumn(bar_width=_BAR_WIDTH), RenderableColumn(tally), console=console) as progress:
        task = progress.add_task("", total=tally.of_run, completed=tally.finished)
        yield lambda: progress.update(task, completed=tally.finished)
