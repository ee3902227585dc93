"""How long calls of actors take, and how long a call may take before its actor counts as stuck."""

import statistics
from collections import deque

STUCK_SECONDS = 600.0
"""Seconds that any call may take, unless a recipe says otherwise."""

# A call may take so many times what is usual for its size, …
_TIMES_THE_USUAL = 20
# … which is the median of so many calls, …
_REMEMBERED = 200
# … and so many times the floor while none has come back: nobody knows yet how fast this machine is.
_TIMES_THE_FLOOR = 6


class Pace:
    """Decides whether a call is stuck or only takes long, by the time per size of other calls of its kind.

    Sizes are in characters of the articles that a call is about.

    Args:
        floor_seconds: Seconds that any call may take.
    """

    def __init__(self, floor_seconds: float) -> None:
        self._floor_seconds = floor_seconds
        self._seconds_for_one: deque[float] = deque(maxlen=_REMEMBERED)

    def came_back(self, size: int, seconds: float) -> None:
        """Note how many seconds a call took."""
        self._seconds_for_one.append(seconds / max(size, 1))

    def usual_seconds(self, size: int) -> float | None:
        """The seconds that such a call usually takes; None while none has come back."""
        return statistics.median(self._seconds_for_one) * max(size, 1) if self._seconds_for_one else None

    def is_stuck(self, size: int, seconds: float) -> bool:
        """Whether a call that has not come back for this many seconds is stuck."""
        if seconds <= self._floor_seconds:  # nearly always: nothing has to be computed
            return False
        usual = self.usual_seconds(size)
        return seconds > (_TIMES_THE_FLOOR * self._floor_seconds if usual is None else _TIMES_THE_USUAL * usual)
