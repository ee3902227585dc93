"""The speed of a run and the time left: one estimate for the bar, the plain lines and `nws watch`."""

from collections import deque
from dataclasses import dataclass

_SPAN_SECONDS = 120.0
_SPAN_MARKS = 8
_BETWEEN_MARKS_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time that begins when some had just been finished, and how many were finished in it since then.

    It does not begin with the work: models are loaded before, and of what lands in bundles none would be there yet.
    """

    seconds: float
    finished: int

    def later(self, seconds: float) -> "Span":
        """The span extended by some seconds, in which nothing was finished."""
        return Span(self.seconds + seconds, self.finished)

    @property
    def rate(self) -> float | None:
        """How many were finished per second; None if nothing was finished in it."""
        return self.finished / self.seconds if self.finished > 0 and self.seconds > 0 else None

    def seconds_left(self, remaining: int) -> float | None:
        """What the remaining ones take at this rate; None while there is none.

        Since the span goes on while nothing lands, so does the estimate: it grows with a silence, and never says that
        all is nearly done because it should be.
        """
        rate = self.rate
        if remaining <= 0:
            return 0.0
        return None if rate is None else remaining / rate


class Marks:
    """The moments at which some were finished, as far back as is needed to tell how fast it goes of late.

    That is two minutes, and further where fewer than eight bundles landed in them.
    """

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()

    def add(self, now: float, finished: int) -> None:
        """`finished` in all had been finished at `now`, some of them just then."""
        if not self._marks or now - self._marks[-1][0] >= _BETWEEN_MARKS_SECONDS:
            self._marks.append((now, finished))
        while len(self._marks) > _SPAN_MARKS and now - self._marks[1][0] >= _SPAN_SECONDS:
            self._marks.popleft()

    def span(self, now: float, finished: int) -> Span:
        """The span that ends now, with `finished` in all."""
        if not self._marks:
            return Span(0.0, 0)
        at, before = self._marks[0]
        return Span(now - at, finished - before)


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
