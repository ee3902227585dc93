"""A driver's heart: it tells the store every few seconds that the driver lives, and tells the driver when to stop.

What keeps two drivers from writing at once is the fence: `jobs.store.lifecycle`.
"""

import math
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Self

from rich.console import Console

from core.errors import CancelledError, ClusterError, StoreError, StoreUnavailableError
from jobs.store import LogLine, Progress, RunInfo, Store
from jobs.store.runs import SILENT_SECONDS

BEAT_SECONDS = 5.0


class Heart:
    """Sends heartbeats from a thread of its own while its `with` block runs.

    What is said goes to the console at once and to the store with the next beat. A store that cannot be reached is no
    reason to stop: the lines are kept for a later beat.

    A thread of its own beats on while the driver hangs. So it pauses while the driver has not `moved` for `stuck_after`
    seconds: the run can then be resumed elsewhere.
    """

    def __init__(self, store: Store, run_id: str, epoch: int, console: Console, stuck_after: float = math.inf) -> None:
        self._store = store
        self._run_id = run_id
        self._epoch = epoch
        self._console = console
        self._lines: list[LogLine] = []
        self._at: Progress | None = None
        self._noted: Progress | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._reason: StoreError | CancelledError | None = None
        self._stuck_after = stuck_after
        self._moved_at = time.monotonic()
        self._paused = False
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def say(self, text: str) -> None:
        """Print a line, and have it stored."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)
        self.note(text)

    def note(self, text: str) -> None:
        """Have a line stored that the console need not show."""
        with self._lock:
            self._lines.append(LogLine(datetime.now(UTC), text))

    def show(self, changes: Mapping[str, Any]) -> None:
        """Store the driver's progress with the next beat: fields of `jobs.store.Progress` that have changed."""
        now = datetime.now(UTC)
        self._at = replace(self._at or Progress(now, stage=""), noted_at=now, **changes)

    def check(self) -> None:
        """Called by the driver now and then, as a sign that it moves.

        Raises:
            StoreError: another driver took the run over (`FencedError`), or the store refuses.
            CancelledError: somebody asked for an end.
        """
        self.moved()
        if self._reason is not None:
            raise self._reason

    def moved(self) -> None:
        """Note that the driver does not hang."""
        self._moved_at = time.monotonic()

    def _run(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            seconds = time.monotonic() - self._moved_at
            hangs = seconds > self._stuck_after
            if hangs and not self._paused:
                self.say(
                    f"The driver has not moved for {seconds:.0f} s. Until it does, it is not heard of any more, and "
                    "the run may be resumed elsewhere. Where work takes so long, raise stuck_after in the recipe."
                )
            if not (hangs and self._paused):
                self._beat()  # the first time once more, so that the silence has a reason
            self._paused = hangs

    def _beat(self) -> None:
        lines, at = self._taken(), self._at
        try:
            news = at if at is not self._noted else None
            if self._store.writer(self._run_id, self._epoch).heartbeat(lines, news):
                self._reason = CancelledError(f"run {self._run_id} was cancelled")
            self._noted = at
        except StoreUnavailableError:
            self._put_back(lines)
        except StoreError as error:  # fenced off, or a store that refuses
            self._reason = error

    def _taken(self) -> list[LogLine]:
        with self._lock:
            lines, self._lines = self._lines, []
        return lines

    def _put_back(self, lines: Sequence[LogLine]) -> None:
        with self._lock:
            self._lines = [*lines, *self._lines]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._ended.set()
        self._thread.join()
        if not isinstance(self._reason, StoreError):
            self._beat()


class HeartbeatMonitor:
    """The heartbeat of a run's driver.

    It is measured by its changes, not by clocks: those of two machines may differ, and after an outage the last beat is
    old.
    """

    def __init__(self) -> None:
        self._beat: datetime | None = None
        self._heard = time.monotonic()

    def silent_seconds(self, run: RunInfo) -> float:
        """For how many seconds there has been no beat; called with the run as it is now."""
        if run.heartbeat_at != self._beat:
            self._beat, self._heard = run.heartbeat_at, time.monotonic()
        return time.monotonic() - self._heard

    def require(self, run: RunInfo) -> None:
        """Refuse a silence that is too long; called with the run as it is now.

        Raises:
            ClusterError: the driver is gone, and the run has not ended.
        """
        if run.state == "running" and self.silent_seconds(run) > SILENT_SECONDS:
            raise ClusterError(
                f"The driver of run {run.id} (pid {run.driver_pid} on {run.driver_host}) is gone, and the run has "
                f"not ended. What it stored is there; resume it with: nws resume {run.id}"
            )
