"""How long calls of actors take, and how long one may take before its actor is taken for stuck."""

import statistics
from collections import deque

STUCK_SECONDS = 600.0
"""What any call may take, unless a recipe says otherwise."""

# A call may take so many times what is usual for its size, …
_TIMES_THE_USUAL = 20
# … which is the median of so many calls, …
_REMEMBERED = 200
# … and so many times the floor while none has come back: nobody knows yet how fast this machine is.
_TIMES_THE_FLOOR = 6


class Pace:
    """Tells a call that is stuck from one that only takes long, by what others of its kind took for their size.

    Sizes are in characters of the articles that a call is about.

    Args:
        floor_seconds: What any call may take.
    """

    def __init__(self, floor_seconds: float) -> None:
        self._floor_seconds = floor_seconds
        self._seconds_for_one: deque[float] = deque(maxlen=_REMEMBERED)

    def came_back(self, size: int, seconds: float) -> None:
        """A call took so many seconds."""
        self._seconds_for_one.append(seconds / max(size, 1))

    def usual_seconds(self, size: int) -> float | None:
        """What such a call usually takes; None while none has come back."""
        return statistics.median(self._seconds_for_one) * max(size, 1) if self._seconds_for_one else None

    def is_stuck(self, size: int, seconds: float) -> bool:
        """Whether a call that has not come back for so many seconds has had all its time."""
        if seconds <= self._floor_seconds:  # nearly always: nothing has to be computed
            return False
        usual = self.usual_seconds(size)
        return seconds > (_TIMES_THE_FLOOR * self._floor_seconds if usual is None else _TIMES_THE_USUAL * usual)
