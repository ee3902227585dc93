"""The workers of a run: they are stored as they start, with a warning if they multiply differently."""

from cluster.worker import Worker
from core.precision import ROWS_DEPEND
from jobs.drive.run import Run


class WorkerWatch:
    """Tells the store of the workers of a pool whenever they change. `device` is what each of them pins, in words."""

    def __init__(self, run: Run, device: str | None) -> None:
        self._run = run
        self._device = device
        self._known: tuple[Worker, ...] = ()

    def look(self, workers: tuple[Worker, ...]) -> None:
        """Check the workers that the pool has now.

        Raises:
            FencedError: the run is no longer this driver's.
        """
        if workers == self._known:
            return
        self._known = workers
        before = self._run.store.run_info(self._run.id).arithmetic
        now = sorted({worker.arithmetic for worker in workers if worker.arithmetic})
        self._run.note_workers(f"{self._device}: {', '.join(dict.fromkeys(map(str, workers)))}", now)
        for arithmetic in now:
            if ROWS_DEPEND in arithmetic and arithmetic not in before:
                self._run.say(
                    f"Warning: {arithmetic}. Its scores agree to about 1e-6 only with those of another batch, and a "
                    "training with another number of workers becomes another one."
                )
        every = list(dict.fromkeys([*before, *now]))
        if len(every) > 1 and every != before:
            self._run.say(
                f"Warning: workers of this run multiply in {len(every)} ways: {'; '.join(every)}. Its scores may "
                "differ in the seventh digit from those of one kind of machine. A training that goes on here may draw "
                "other summaries than it would have drawn there."
            )
