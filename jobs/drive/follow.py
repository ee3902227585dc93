"""Watching a run from outside: what its driver says, from the store, until the run ends."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from cluster.job_api import Head, RayJob
from core.errors import ClusterError
from jobs.drive.ship import give_up
from jobs.store import LogLine, RunInfo, Store
from jobs.store.runs import SILENT_SECONDS

_PAUSE_SECONDS = 1.0
_LAST_LINES = 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stood before somebody began to watch: its driver, and how many lines had been said."""

    epoch: int
    line: int


START = Place(epoch=-1, line=0)


def last_line(store: Store, run_id: str) -> int:
    """The number of the last line that the drivers of a run logged; 0 if there is none."""
    lines = store.log(run_id)
    return lines[-1][0] if lines else 0


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


def follow_run(
    store: Store, run_id: str, since: Place, say: Callable[[LogLine], None], job: tuple[Head, str] | None = None
) -> RunInfo:
    """Pass on the driver's log until the run ends. Returns the run as it is then.

    Args:
        store: where the run is.
        run_id: which.
        since: an end before this place is not the one that is waited for, nor are lines before it handed on.
        say: called with every line.
        job: the Ray job that is to drive the run, where this process can reach its head.

    Raises:
        ClusterError: the job ended without its driver taking the run, or the driver is gone.
    """
    patient = store.waiting()  # the driver itself says in its log that it waits
    line = since.line
    heartbeats = HeartbeatMonitor()
    while True:
        # In this order: the job ends last.
        ended = ended_job(job) if job else None
        run = patient.run_info(run_id)
        lines = patient.log(run_id, line)
        for _, text in lines:
            say(text)
        line = lines[-1][0] if lines else line
        if run.driver_epoch > since.epoch:
            if job and run.state == "pending":
                raise ClusterError(
                    f"Run {run_id} was submitted again meanwhile, and another job drives it. "
                    f"Follow it with: nws logs {run_id} --follow"
                )
            if run.state not in ("pending", "running"):
                return run
            heartbeats.require(run)
        elif job and ended:
            raise never_driven(store, run_id, since.epoch, job[0], ended)
        time.sleep(_PAUSE_SECONDS)


def wait_for_end(store: Store, run_id: str, seconds: float) -> bool:
    """Whether drivers have ended a run and its shards, after so many seconds at most."""
    deadline = time.monotonic() + seconds
    while any(run.state == "running" for run in (store.run_info(run_id), *store.shards(run_id))):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE_SECONDS / 2)
    return True


def ended_job(job: tuple[Head, str]) -> RayJob | None:
    """The job, if it has ended. A head that does not answer says nothing about the run, which is in the store."""
    with contextlib.suppress(ClusterError):
        info = job[0].job(job[1])
        return info if info.has_ended else None
    return None


def never_driven(store: Store, run_id: str, epoch: int, head: Head, job: RayJob) -> ClusterError:
    """The error of a run whose job has ended before it drove it. The run is 'failed' with it."""
    text = f"The Ray job {job.submission_id} is {job.status} before it drove run {run_id} {last_words(head, job)}"
    give_up(store, run_id, epoch, ClusterError(text))
    return ClusterError(text)


def last_words(head: Head, job: RayJob) -> str:
    """What Ray says of a job that has ended, and the end of its log, where the head still answers."""
    text = f"({job.message.strip()})."
    with contextlib.suppress(ClusterError):
        lines = head.log(job.submission_id).strip().splitlines()[-_LAST_LINES:]
        text += " The end of its log:\n" + "\n".join(lines)
    return text
