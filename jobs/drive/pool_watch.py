"""What a driver looks at while a pool works: its workers, how busy they are, and what software they compute with."""

import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from cluster.dispatcher import Actors
from cluster.worker_info import Busy, WorkerInfo
from core.errors import HubError, ModelError, NwsError, SegmentationError
from core.models import ModelRef, model_folder
from core.precision import ROWS_DEPEND
from core.provenance import Software, differences, software
from core.text.language_data import require_same_data
from jobs.drive.run import Run
from jobs.store import ActorShare

_SPAN_SECONDS = 60.0
_BETWEEN_LOOKS_SECONDS = 1.0
_CURE = (
    "Do not edit NWS or a library, or change NWS's commit, while a run starts; install the same on every machine; "
    "delete the folder __pycache__ of a library with unknown files; and submit the run again if it matters."
)


class PoolWatch:
    """Looks at the actors of one pool. `device` is what each of them pins, in words."""

    def __init__(self, run: Run, device: str | None, software_watch: "SoftwareWatch") -> None:
        self._workers = WorkerWatch(run, device)
        self._shares = BusyShares(run)
        self._software = software_watch

    def look(self, actors: Actors) -> None:
        """Called every few seconds, and as often as one likes.

        Raises:
            FencedError: the run is no longer this driver's.
        """
        workers = actors.workers
        self._workers.look(workers)
        self._shares.look(actors.busy)
        self._software.look(worker.software for worker in workers)


class WorkerWatch:
    """Tells the store of the workers of a pool whenever they change. `device` is what each of them pins, in words."""

    def __init__(self, run: Run, device: str | None) -> None:
        self._run = run
        self._device = device
        self._known: tuple[WorkerInfo, ...] = ()

    def look(self, workers: tuple[WorkerInfo, ...]) -> None:
        """Check the workers that the pool has now.

        Raises:
            FencedError: the run is no longer this driver's.
        """
        if workers == self._known:
            return
        self._known = workers
        now = sorted({worker.arithmetic for worker in workers if worker.arithmetic})
        note_arithmetic(self._run, f"{self._device}: {', '.join(dict.fromkeys(map(str, workers)))}", now)


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


class SoftwareWatch:
    """Compares what computes a stage with what its driver began with. `systems` are those of the stage.

    Their work tells what the driver had. So where another process has something else, or the driver itself by now,
    they lose it before its rows are stored: no other run copies them.

    Args:
        run: is told.
        systems: of the stage.
        libraries: with versions, as the run has recorded them; those of plugins count for nothing here.
    """

    def __init__(self, run: Run, systems: Sequence[str], libraries: Mapping[str, str]) -> None:
        self._run = run
        self._systems = systems
        code, *now = software()
        recorded = [
            f"{name} {libraries.get(name, version)}" for name, _, version in (one.partition(" ") for one in now)
        ]
        self._own = (code, *recorded)
        self._known: set[Software] = set()

    def look(self, reported: Iterable[Software]) -> None:
        """Check what processes have reported; an empty report says nothing.

        Raises:
            FencedError: the run is no longer this driver's.
        """
        for theirs in set(reported) - self._known:
            self._known.add(theirs)
            if theirs and (different := differences(theirs, self._own)):
                self._run.disown(self._systems, different)
                self._run.say(
                    f"Warning: a process of this run computes with {', '.join(different)}; its driver began with "
                    f"{self._own[0]} and the libraries that `nws status` names. Numbers may differ between them, and "
                    f"no other run copies those of {', '.join(self._systems) or 'this training'}. {_CURE}"
                )

    def look_at_driver(self) -> None:
        """Check this process: what it has imported meanwhile may have been written to."""
        self.look([software()])

    def look_at_files(self, models: Iterable[ModelRef], language_data: Iterable[tuple[str, str]]) -> None:
        """Check that models, pipelines and dictionaries are, on this machine, what they were when the run began.

        Args:
            models: resolved.
            language_data: see `core.text.language_data`.
        """
        for ref in dict.fromkeys(models):
            try:
                model_folder(ref)
            except (HubError, ModelError) as error:
                self._disown_changed(ref.name, error)
        for name, data in language_data:
            try:
                require_same_data({name: data})
            except SegmentationError as error:
                self._disown_changed(name, error)

    def _disown_changed(self, name: str, error: NwsError) -> None:
        self._run.disown(self._systems, [f"other files of {name}"])
        self._run.say(
            f"Warning: {error} They were changed while the run worked: nobody can tell with which of them a "
            f"row was made, and no other run copies those of {', '.join(self._systems)}."
        )
