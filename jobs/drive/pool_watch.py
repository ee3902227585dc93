"""What a driver looks at while a pool works: its workers, how busy they are, and what they compute with."""

import time
from collections import deque
from collections.abc import Iterable, Sequence

from cluster.dispatcher import Actors
from cluster.worker_info import Busy, WorkerInfo
from core.provenance import Software, are_as_imported, differences, software
from core.types import ROWS_DEPEND
from jobs.drive.run import Run
from jobs.store import ActorShare

_SPAN_SECONDS = 60.0
_BETWEEN_LOOKS_SECONDS = 1.0
MIXED = "No other run copies rows of this one"


class PoolWatch:
    """Looks at the actors of one pool. `device` is what each of them pins, in words."""

    def __init__(self, run: Run, device: str | None) -> None:
        self._run = run
        self._device = device
        self._workers: tuple[WorkerInfo, ...] = ()
        self._equal: set[Software] = {(), software()}
        self._shares = BusyShares(run)

    def look(self, actors: Actors) -> None:
        """Called every few seconds, and as often as one likes.

        Raises:
            FencedError: the run is no longer this driver's.
        """
        self._shares.look(actors.busy)
        if actors.workers != self._workers:
            self._workers = actors.workers
            ways = sorted({worker.arithmetic for worker in self._workers if worker.arithmetic})
            note_arithmetic(self._run, f"{self._device}: {', '.join(dict.fromkeys(map(str, self._workers)))}", ways)
            self.compare(worker.software for worker in self._workers)

    def compare(self, reported: Iterable[Software]) -> None:
        """Compare what processes compute with to what this one does; to be called before their rows are stored.

        Raises:
            FencedError: the run is no longer this driver's.
        """
        for theirs in set(reported) - self._equal:
            self._equal.add(theirs)
            different = differences(theirs, software())
            if different and self._run.mix(different):
                self._run.say(
                    f"Warning: a process of this run computes with {', '.join(different)}, and its driver with "
                    f"something else: their numbers may differ. {MIXED}. Install the same on every machine."
                )


def note_arithmetic(run: Run, device: str, now: Sequence[str]) -> None:
    """Tell the store how a run's rows are multiplied from now on, and the user where that is another way than before.

    Raises:
        FencedError: the run is no longer this driver's.
    """
    before = run.store.run_info(run.id).arithmetic
    run.note_workers(device, now)
    for arithmetic in now:
        if ROWS_DEPEND in arithmetic and arithmetic not in before:
            run.say(
                f"Warning: {arithmetic}. Its scores agree to about 1e-6 only with those of another batch, and a "
                "training with another number of workers becomes another one."
            )
    every = list(dict.fromkeys([*before, *now]))
    if len(every) > 1 and every != before:
        run.say(
            f"Warning: workers of this run multiply in {len(every)} ways: {'; '.join(every)}. Its scores may "
            "differ in the seventh digit from those of one kind of machine. A training that is resumed here may "
            "draw other summaries than it would have drawn there."
        )


def look_at_sources(run: Run) -> None:
    """Mark a run as mixed whose sources were edited while it worked: what was imported late may be of the edited ones.

    Raises:
        FencedError: the run is no longer this driver's.
    """
    if not are_as_imported() and run.mix(["edited sources"]):
        run.say(f"Warning: NWS's sources were edited after this process had begun. {MIXED}.")


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
