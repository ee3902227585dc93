"""The speed of a run and the time left: one estimate for the bar, the plain lines and `nws status`."""

import itertools
from collections import deque
from dataclasses import dataclass

_SPAN_SECONDS = 240.0
_SPAN_MARKS = 8
_BETWEEN_MARKS_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time that begins when some had just been finished, and how many were finished in it since then.

    It does not begin with the work: models are loaded before, and of what lands in bundles none would be there yet. It
    ends when some were finished last. `gap` is the longest time between two landings in it.
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
        rate = self.rate
        if remaining <= 0:
            return 0.0
        return None if rate is None else remaining / rate


@dataclass(slots=True)
class _Mark:
    """A second in which some were finished, since actors may land at once.

    `before` had been finished before it, `first` with the first landing at `began`, and `finished` with the last one at
    `ended`.
    """

    began: float
    before: int
    first: int
    ended: float
    finished: int


class Marks:
    """The moments at which some were finished, as far back as is needed to tell how fast it goes of late.

    That is four minutes, and further where fewer than eight bundles landed in them.
    """

    def __init__(self, finished: int = 0) -> None:
        self._finished = finished  # by an earlier driver
        self._marks: deque[_Mark] = deque()

    def add(self, now: float, finished: int) -> None:
        """`finished` in all had been finished at `now`, some of them just then."""
        last = self._marks[-1] if self._marks else None
        if last is not None and now - last.began < _BETWEEN_MARKS_SECONDS:
            last.ended, last.finished = now, finished
        else:
            self._marks.append(_Mark(now, last.finished if last else self._finished, finished, now, finished))
        while len(self._marks) > _SPAN_MARKS and now - self._marks[1].began >= _SPAN_SECONDS:
            self._marks.popleft()

    def span(self, now: float) -> Span:
        """The span up to now.

        It goes from the beginning of one landing to that of another, with what the first of them brought: then it does
        not matter whether several actors land together, and whether all of them have.
        """
        if not self._marks:
            return Span(0.0, 0)
        first, last = self._marks[0], self._marks[-1]
        if first is last:
            return Span(last.ended - first.began, last.finished - first.first).later(now - last.ended)
        seconds = last.began - first.began
        gap = max(after.began - before.began for before, after in itertools.pairwise(self._marks))
        return Span(seconds, last.before - first.before, gap).later(now - last.ended)


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
