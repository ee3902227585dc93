"""A sharded run in work: its parent process starts drivers, each of which claims shards until none is left.

Each shard is an ordinary run, and the drivers find it in the store. So the parent process computes nothing, and drivers
go on without it. They are processes on this machine, or jobs of a Ray cluster.
"""

import functools
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from rich.console import Console

from nws.cluster.job_api import Head
from nws.core.errors import CancelledError, ClusterError, FencedError, NwsError, StoreError, StoreUnavailableError
from nws.jobs.drive.run import Outcome, Run, held, take_run
from nws.jobs.drive.ship import death_of, options_of, ship_job
from nws.jobs.installation import python_command
from nws.jobs.store import RunInfo, Store, has_lost_driver, is_driven

NWS = python_command("nws.jobs.cli")
"""The command line of a driver."""
_WAIT_SECONDS = 2.0
_LAST_CHARACTERS = 2_000
MOST_STARTS = 3
"""The starts of each driver, on average: another one is started for one that has died."""
_PAUSE_SECONDS = 0.5
_STOP_SECONDS = 60.0


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


def drive_sharded_run(
    store: Store,
    run_id: str,
    start: StartDriver,
    drivers: int,
    console: Console,
    address: str | None = None,
    take_over: bool = False,
) -> Outcome:
    """Start so many drivers, and see to it that they drive what is not done of a sharded run. It may be resumed so.

    An interruption stops them, too, and is in the outcome. A parent process that is replaced leaves them alone: each
    ends the shard that it is at, and the new one waits for that.

    Args:
        store: where the run is.
        run_id: which.
        start: starts a driver.
        drivers: how many are at work at once.
        console: where the progress is shown.
        address: of the cluster where they run; None for this machine.
        take_over: replace a parent process that seems to be alive.

    Raises:
        StoreError: another process has it, or there is no such run.
        ClusterError: shards are not done; what they have is stored.
    """
    work = functools.partial(_see_to_shards, start=start, drivers=drivers, address=address)
    return take_run(store, run_id, console, work, take_over)


def _see_to_shards(run: Run, start: StartDriver, drivers: int, address: str | None) -> None:
    run.store.open_shards(run.id, run.epoch, drivers, address)
    shards = run.store.shards(run.id)
    run.say(f"Run {run.id} in {run.store.shown_url}: {len(shards)} shards, {drivers} at a time")
    finished, failed = _counts(shards)
    total = run.store.run_info(run.id).total_articles
    deaths: list[str] = []
    with _stopped_with(run), run.progress(f"{len(shards)} shards", total, finished) as advance:
        for shards in _rounds(run, start, drivers, deaths):
            before = finished, failed
            finished, failed = _counts(shards)
            new = max(0, failed - before[1])
            advance(max(0, finished - before[0] - new), new)
            reports = run.store.progress_of([shard.id for shard in shards if shard.state == "running"]).values()
            run.show(newest=max((report.newest for report in reports if report.newest), default=None))
    _require_done(run, shards, deaths)


def _counts(shards: Sequence[RunInfo]) -> tuple[int, int]:
    """The number of articles that are done or failed, and of those that failed."""
    failed = sum(shard.failures for shard in shards)
    return sum(shard.articles_done for shard in shards) + failed, failed


def _rounds(run: Run, start: StartDriver, at_once: int, deaths: list[str]) -> Iterator[list[RunInfo]]:
    """Start drivers, and others for those that die, until none is at work any more; the shards at each look.

    `deaths` gets how each of them died.
    """
    shards = run.store.shards(run.id)
    reported = {(shard.id, shard.driver_epoch) for shard in shards if shard.finished_at is not None}
    warned = set[str]()
    wanted = min(at_once, sum(shard.state != "done" for shard in shards))
    starts = 0
    drivers: list[ShardDriver] = []
    while True:
        run.check()
        ended = [(driver, driver.ended()) for driver in drivers]
        shards = run.store.shards(run.id)
        yield shards
        for shard in shards:
            if shard.finished_at is not None and (shard.id, shard.driver_epoch) not in reported:
                reported.add((shard.id, shard.driver_epoch))
                run.say(_how_it_ended(shard))
                _pass_on_warnings(run, shard, warned)
        drivers = [driver for driver, death in ended if death is None]
        for driver, death in ended:
            if death:
                run.say(f"A driver of shards, {driver.name}, {death}")
                deaths.append(death)
        if not drivers and any(map(is_driven_now, shards)):  # by drivers of an earlier parent process
            time.sleep(_PAUSE_SECONDS)
            continue
        may_start = wanted + min(len(deaths), (MOST_STARTS - 1) * wanted) if any(map(_is_to_do, shards)) else 0
        if not drivers and starts >= may_start:
            return
        while starts < may_start:
            starts += 1
            try:
                drivers.append(start(run.epoch))
            except ClusterError as error:
                run.say(f"A driver of shards cannot be started: {error}")
                deaths.append(str(error))
                break
            run.say(f"A driver of shards: {drivers[-1].name}")
        time.sleep(_PAUSE_SECONDS)


def _is_to_do(shard: RunInfo) -> bool:
    is_lost = has_lost_driver(shard, socket.gethostname(), datetime.now(UTC))
    return shard.state in ("pending", "running") or is_lost


def _how_it_ended(shard: RunInfo) -> str:
    done = f"{shard.articles_done}/{shard.total_articles} articles, {shard.failures} failed"
    return f"Shard {shard.shard}, {shard.id}, is {shard.state}: {done}{f' ({shard.error})' if shard.error else ''}"


def _pass_on_warnings(run: Run, shard: RunInfo, warned: set[str]) -> None:
    """Say what the drivers of a shard warn of or cannot copy, each once: who follows a sharded run reads its log."""
    for _, line in run.store.log(shard.id):
        if line.text.startswith(("Warning: ", "Nothing ")) and line.text not in warned:
            warned.add(line.text)
            run.say(f"Shard {shard.shard}: {line.text}")


@contextmanager
def _stopped_with(run: Run) -> Iterator[None]:
    """An end that nobody waited for stops the drivers, too, unless the run has another parent process now."""
    try:
        yield
    finally:
        if (error := sys.exception()) and not isinstance(error, StoreError | GeneratorExit):
            run.say("Stopping the shards that are in work …")
            run.store.cancel_run(run.id, socket.gethostname())
            deadline = time.monotonic() + _STOP_SECONDS
            while any(map(is_driven_now, run.store.shards(run.id))) and time.monotonic() < deadline:
                time.sleep(_PAUSE_SECONDS)


def _require_done(run: Run, shards: Sequence[RunInfo], deaths: Sequence[str]) -> None:
    """Refuse to end a run as done while one of its shards is not.

    Raises:
        ClusterError: names some of them, and why.
        CancelledError: somebody has asked for an end.
    """
    undone = [shard for shard in shards if shard.state != "done"]
    if undone:
        run.store.close_shards(run.id, run.epoch)
        if run.store.run_info(run.id).cancel_requested_at is not None:  # drivers may see it before this process does
            raise CancelledError(f"run {run.id} was cancelled")
        why = [f"the last driver: {death}" for death in deaths[-1:]]
        why += [f"{shard.id}: {shard.error}" for shard in undone if shard.error]
        raise ClusterError(
            f"Of the {len(shards)} shards of {run.id}, {len(undone)} are not done ({'; '.join(why[:3])}). "
            f"Resume it with: nws resume {run.id}"
        )
