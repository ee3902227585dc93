"""Whether the driver of a run still sends heartbeats, for processes that watch it."""

import time
from datetime import datetime

from core.errors import ClusterError
from jobs.store import RunInfo
from jobs.store.runs import SILENT_SECONDS


class HeartbeatMonitor:
    """The heartbeat of a run's driver.

    It is measured by its changes, not by clocks: those of two machines may differ, and after an outage the last beat is
    old.
    """

    def __init__(self) -> None:
        self._beat: datetime | None = None
        self._heard = time.monotonic()

    def check(self, run: RunInfo) -> float:
        """For how many seconds there has been no beat; called with the run as it is now.

        Raises:
            ClusterError: too many: the driver is gone, and the run has not ended.
        """
        if run.heartbeat_at != self._beat:
            self._beat, self._heard = run.heartbeat_at, time.monotonic()
        silent = time.monotonic() - self._heard
        if run.state == "running" and silent > SILENT_SECONDS:
            raise ClusterError(
                f"The driver of run {run.id} (pid {run.driver_pid} on {run.driver_host}) is gone, and the run has "
                f"not ended. What it stored is there; resume it with: nws resume {run.id}"
            )
        return silent
