"""How busy the actors of a run are, to be stored with its progress."""

import time
from collections import deque
from collections.abc import Sequence

from cluster.worker import Busy
from jobs.drive.run import Run
from jobs.store import ActorShare

_SPAN_SECONDS = 60.0
_BETWEEN_LOOKS_SECONDS = 1.0


class BusyShares:
    """Shows, with a run's progress, in which share of the last minute each of its actors had work."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._looks: deque[tuple[float, dict[int, float]]] = deque()

    def look(self, busy: Sequence[Busy]) -> None:
        """Called every few seconds, and as often as one likes, with what a pool says now."""
        now = time.monotonic()
        if self._looks and now - self._looks[-1][0] < _BETWEEN_LOOKS_SECONDS:
            return
        self._looks.append((now, {actor.number: actor.seconds for actor in busy}))
        while len(self._looks) > 2 and now - self._looks[1][0] >= _SPAN_SECONDS:
            self._looks.popleft()
        since, before = self._looks[0]
        shares = (
            ActorShare(
                actor.number,
                actor.worker.device,
                actor.worker.node,
                _share(actor.seconds, before.get(actor.number, 0.0), now - since),
            )
            for actor in busy
        )
        self._run.show(actors=tuple(shares))


def _share(seconds: float, before: float, span: float) -> float | None:
    """None in no time. An actor that had worked for longer before is another one now."""
    if span == 0:
        return None
    return min(1.0, (seconds - before if seconds >= before else seconds) / span)
