"""Drivers of shards: processes on this machine, or jobs of a Ray cluster. Each claims shards until none is left."""

import functools
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from rich.console import Console

from cluster.job_api import Head
from core.errors import FencedError, NwsError, StoreUnavailableError
from jobs.drive.run import Outcome, held, take_run
from jobs.drive.ship import death_of, options_of, ship_job
from jobs.installation import ROOT
from jobs.store import RunInfo, Store, is_driven

NWS = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); from jobs.cli import main; main()"]
"""The command line of a driver."""
_WAIT_SECONDS = 2.0
_LAST_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class ShardDriver:
    """A driver that was started.

    Attributes:
        name: e.g. `pid 123`.
        ended: returns None while it works, an empty text after it has ended in order, else how it died.
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
        name = ship_job(store, head, run, epoch, options_of(accelerator, actors))
        return ShardDriver(f"job {name}", functools.partial(death_of, head, name))

    return start


def is_driven_now(run: RunInfo) -> bool:
    """Whether a run has a driver that seems to be alive, as seen from this machine."""
    return is_driven(run, socket.gethostname(), datetime.now(UTC))


def drive_shards(
    store: Store, run_id: str, epoch: int, drive: Callable[[Store, str, int], Outcome], console: Console
) -> Outcome | None:
    """Drive shards of a run, one after the other, until none is left to claim and no other driver may lose its own.

    If nobody else does, the driver that has waited for the last of them ends the run, too.

    Args:
        store: where the run is.
        run_id: the parent of the shards.
        epoch: of the process that has started this one.
        drive: drives a shard that was claimed with this epoch, in a store that waits for its database.
        console: where errors of shards are printed.

    Returns:
        The outcome of the shard with which this driver was interrupted; None if it was not.

    Raises:
        StoreUnavailableError: the store did not come back.
    """
    host, pid = socket.gethostname(), os.getpid()
    patient = store.waiting(functools.partial(console.print, markup=False))
    is_waiting = True
    while is_waiting:
        shard, is_waiting = patient.claim_shard(run_id, epoch, host, pid)
        if shard is None:
            time.sleep(_WAIT_SECONDS if is_waiting else 0)
            continue
        try:
            with held(store, shard.id, shard.driver_epoch, console):
                outcome = drive(patient, shard.id, shard.driver_epoch)
        except StoreUnavailableError:
            raise
        except NwsError as error:  # of this shard: it is stored
            console.print(f"{shard.id}: {error}", markup=False)
            continue
        if outcome.state == "interrupted" and patient.run_info(shard.id).cancel_requested_at is None:
            return outcome  # by a signal
    _end_run(patient, run_id, epoch, console)
    return None


def _end_run(store: Store, run_id: str, epoch: int, console: Console) -> None:
    """End a run whose shards are all done, unless its parent process does: it may have died."""
    if not is_driven_now(store.run_info(run_id)) and all(shard.state == "done" for shard in store.shards(run_id)):
        with suppress(FencedError):  # another driver has ended it
            take_run(store, run_id, console, lambda run: run.say("Ended by a driver of its shards"), epoch=epoch)
