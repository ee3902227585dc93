"""Drivers of shards: processes on this machine, or jobs of a Ray cluster. Each claims shards until none is left."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cluster.job_api import Head
from jobs.drive.follow import ended_job, last_words
from jobs.drive.ship import options_of, ship_shard_driver
from jobs.installation import ROOT
from jobs.store import Store

NWS = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); from jobs.cli import main; main()"]
"""The command that is started as a driver."""
_LAST_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class ShardDriver:
    """A driver that was started.

    Attributes:
        name: such as `pid 123`.
        ended: None while it works, an empty text once it has ended in order, else how it died.
    """

    name: str
    ended: Callable[[], str | None]


StartDriver: TypeAlias = Callable[[int], ShardDriver]
"""Starts a driver, with the epoch of the sharded run. It may raise ClusterError."""


def drivers_here(
    store: Store, run_id: str, engine: str, accelerator: str | None = None, actors: int | None = None
) -> StartDriver:
    """Processes, which outlive this one. `accelerator` and `actors` replace the recipe's."""

    def start(epoch: int) -> ShardDriver:
        said = tempfile.TemporaryFile()  # noqa: SIM115  (it is closed when the process has ended)
        options = ["--epoch", str(epoch), "--engine", engine, *options_of(accelerator, actors)]
        process = subprocess.Popen(
            [*NWS, "drive", run_id, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=os.environ | {"NWS_STORE": store.url},  # with its password: arguments can be read
            start_new_session=True,  # Ctrl-C is for the parent process, which passes it on
        )

        def ended() -> str | None:
            code = process.poll()
            if code is None:
                return None
            with said:
                said.seek(0)
                words = said.read()[-_LAST_CHARACTERS:].decode(errors="replace").strip()
            return f"ended with code {code}: {words}" if code else ""

        return ShardDriver(f"pid {process.pid}", ended)

    return start


def drivers_there(
    store: Store, run_id: str, head: Head, accelerator: str | None = None, actors: int | None = None
) -> StartDriver:
    """Jobs of a cluster, which share its machines; each waits for its own as long as the cluster lets it."""
    run = store.run_info(run_id)

    def start(epoch: int) -> ShardDriver:
        name = ship_shard_driver(store, run, epoch, head, accelerator, actors)

        def ended() -> str | None:
            job = ended_job((head, name))
            if job is None:
                return None
            return "" if job.status == "SUCCEEDED" else f"is {job.status} {last_words(head, job)}"

        return ShardDriver(f"job {name}", ended)

    return start
