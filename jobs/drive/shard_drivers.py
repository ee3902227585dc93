"""Where the drivers of a study's shards run: processes on this machine, or jobs of a Ray cluster."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Protocol

from cluster.job_api import Head
from core.errors import ClusterError
from jobs.drive.follow import ended_job, never_driven
from jobs.drive.ship import give_up, options_of, ship_shard, stop_jobs
from jobs.installation import ROOT
from jobs.store import RunInfo, Store
from jobs.store.runs import is_driven

NWS = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); from jobs.cli import main; main()"]
"""The command that is started for a shard."""
NEVER_BEGAN = "its driver ended with code"
"""What the error of a shard says whose process ended before it drove it, such as while the store was away."""
_LAST_CHARACTERS = 2_000


class ShardDrivers(Protocol):
    """Starts and ends the drivers of shards."""

    def start(self, shard: RunInfo, hand_out: Callable[[str | None], int]) -> str:
        """Start a driver for a shard that has none; says in words where it is.

        `hand_out` gives the shard to a driver at an address, see `Store.hand_out`. What it raises is passed on.
        """

    def works_on(self, shard: RunInfo) -> bool:
        """Whether a shard, as it is now, has a driver, or one that was started here and has not begun yet."""

    def stop(self, shard: RunInfo) -> None:
        """Ask the driver of a shard to end, which takes it some seconds. One that is pending ends at once."""


@dataclass(frozen=True, slots=True)
class _Started:
    process: "subprocess.Popen[bytes]"
    epoch: int
    said: IO[bytes]


@dataclass(slots=True)
class LocalDrivers:
    """A process for each driver. It outlives the study's own driver, should that be killed.

    Attributes:
        store: where the study is.
        engine: `ray` or `inline`.
        accelerator, actors: of each driver, where they are not the recipe's.
    """

    store: Store
    engine: str
    accelerator: str | None = None
    actors: int | None = None
    _started: dict[str, _Started] = field(default_factory=dict)

    def start(self, shard: RunInfo, hand_out: Callable[[str | None], int]) -> str:
        """See `ShardDrivers`. The store's URL, with its password, goes in the environment: arguments can be read."""
        epoch = hand_out(None)
        said = tempfile.TemporaryFile()  # noqa: SIM115  (it is closed when the process has ended)
        options = ["--epoch", str(epoch), "--engine", self.engine, *options_of(self.accelerator, self.actors)]
        process = subprocess.Popen(
            [*NWS, "drive", shard.id, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=os.environ | {"NWS_STORE": self.store.url},
            start_new_session=True,  # Ctrl-C is for the study's driver, which passes it on
        )
        self._started[shard.id] = _Started(process, epoch, said)
        return f"pid {process.pid}"

    def works_on(self, shard: RunInfo) -> bool:
        """See `ShardDrivers`. A process that ended before it drove its shard leaves a failed run, and not a pending."""
        started = self._started.get(shard.id)
        if started is None:
            return is_driven(shard, socket.gethostname(), datetime.now(UTC))
        if started.process.poll() is None:
            return True
        del self._started[shard.id]
        with started.said as said:
            said.seek(0)
            end = said.read()[-_LAST_CHARACTERS:].decode(errors="replace").strip()
        code = started.process.returncode
        if code == -signal.SIGTERM:  # before it could end in order
            self.store.cancel_run(shard.id, socket.gethostname())
            return False
        give_up(self.store, shard.id, started.epoch, ClusterError(f"{NEVER_BEGAN} {code}: {end}"))
        return False

    def stop(self, shard: RunInfo) -> None:
        """See `ShardDrivers`."""
        started = self._started.get(shard.id)
        if started is not None and started.process.poll() is None:
            started.process.send_signal(signal.SIGTERM)
        else:
            self.store.cancel_run(shard.id, socket.gethostname())


@dataclass(slots=True)
class RayDrivers:
    """A job of a Ray cluster for each driver; they share its machines.

    Attributes:
        store: where the study is.
        head: of the cluster.
        accelerator, actors: of each driver, where they are not the recipe's.
    """

    store: Store
    head: Head
    accelerator: str | None = None
    actors: int | None = None
    _jobs: dict[str, tuple[str, int]] = field(default_factory=dict)

    def start(self, shard: RunInfo, hand_out: Callable[[str | None], int]) -> str:
        """See `ShardDrivers`."""

        def give() -> int:
            return hand_out(self.head.address)

        job, epoch = ship_shard(self.store, self.store.url, shard, self.head, self.accelerator, self.actors, give)
        self._jobs[shard.id] = (job, epoch)
        return f"job {job}"

    def works_on(self, shard: RunInfo) -> bool:
        """See `ShardDrivers`. A job waits for its machines for as long as the cluster lets it."""
        job, epoch = self._jobs.get(shard.id, (None, 0))
        if job is None or shard.driver_epoch > epoch:  # it was claimed
            return is_driven(shard, socket.gethostname(), datetime.now(UTC))
        ended = ended_job((self.head, job))
        if ended is not None:
            del self._jobs[shard.id]
            never_driven(self.store, shard.id, epoch, self.head, ended)
        return ended is None

    def stop(self, shard: RunInfo) -> None:
        """See `ShardDrivers`."""
        if not self.store.cancel_run(shard.id, socket.gethostname()):
            stop_jobs(self.head, shard.id)
