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
