"""The parent process of a sharded run: it starts drivers, each of which claims shards until none is left.

Each shard is an ordinary run, which drivers find in the store. So the parent process computes nothing, and drivers go
on without it. They are processes on this machine, or jobs of a Ray cluster.
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
from nws.jobs.drive.ship import actor_options, death_of, ship_job
from nws.jobs.installation import python_command
from nws.jobs.store import RunInfo, Store, has_lost_driver, is_driven

NWS = python_command("nws.jobs.cli")
"""The command line of a driver."""
_WAIT_SECONDS = 2.0
_LAST_CHARACTERS = 2_000
MOST_STARTS = 3
"""The most starts for each driver, on average: a driver that has died is replaced."""
_PAUSE_SECONDS = 0.5
_STOP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ShardDriver:
    """A driver that was started.

    Attributes:
        name: its name, such as `pid 123`.
        ended: a function that returns None while the driver works, "" after a regular end, or how it died.
    """

    name: str
    ended: Callable[[], str | None]


StartDriver: TypeAlias = Callable[[int], ShardDriver]
"""A function that starts a driver with the epoch of the sharded run. It may raise ClusterError."""


def local_drivers(
    store: Store, run_id: str, engine: str, accelerator: str | None = None, actors: int | None = None
) -> StartDriver:
    """Return a function that starts drivers as processes, which outlive this one.

    `accelerator` and `actors` replace those of the recipe.
    """

    def start(epoch: int) -> ShardDriver:
        said = tempfile.TemporaryFile()  # noqa: SIM115  (it is closed when the process has ended)
        options = ["--epoch", str(epoch), "--engine", engine, *actor_options(accelerator, actors)]
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


def cluster_drivers(
    store: Store, run_id: str, head: Head, accelerator: str | None = None, actors: int | None = None
) -> StartDriver:
    """Return a function that starts drivers as jobs of a cluster, where each waits for its share of the machines."""
    run = store.run_info(run_id)

    def start(epoch: int) -> ShardDriver:
        name = ship_job(store, head, run, epoch, actor_options(accelerator, actors))
        return ShardDriver(f"job {name}", functools.partial(death_of, head, name))

    return start


def is_driven_now(run: RunInfo) -> bool:
    """Return whether a run has a driver that seems to be alive, as seen from this machine."""
    return is_driven(run, socket.gethostname(), datetime.now(UTC))


def drive_shards(
    store: Store, run_id: str, epoch: int, drive: Callable[[Store, str, int], Outcome], console: Console
) -> Outcome | None:
    """Drive shards of a run, one after the other, until all have ended.

    The driver waits for the shards of other drivers, and takes them over if these die. If the parent process is gone,
    a driver also ends the sharded run.

    Args:
        store: the store of the run.
        run_id: the sharded run.
        epoch: the epoch of the parent process that has started this one.
        drive: a function that drives a claimed shard, by store, id and epoch. Its store waits for the database.
        console: the console that shows errors of shards.

    Returns:
        The outcome of the shard at which this driver was interrupted; None if it was not interrupted.

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
        except NwsError as error:  # the shard has failed, and its error is stored
            console.print(f"{shard.id}: {error}", markup=False)
            continue
        if outcome.state == "interrupted" and patient.run_info(shard.id).cancel_requested_at is None:
            return outcome  # by a signal
    _end_run(patient, run_id, epoch, console)
    return None


def _end_run(store: Store, run_id: str, epoch: int, console: Console) -> None:
    """End a run whose shards are all done, if its parent process has died."""
    if not is_driven_now(store.run_info(run_id)) and all(shard.state == "done" for shard in store.shards(run_id)):
        with suppress(FencedError):  # another driver has ended it
            take_run(store, run_id, console, lambda run: run.say("A driver of its shards ended the run"), epoch=epoch)


def drive_sharded_run(
    store: Store,
    run_id: str,
    start: StartDriver,
    drivers: int,
    console: Console,
    address: str | None = None,
    take_over: bool = False,
) -> Outcome:
    """Start or resume a sharded run: start that many drivers, and watch them until all its shards have ended.

    An interruption also stops the drivers, and is in the outcome. When another parent process takes the run over, this
    one leaves its drivers alone: each ends its present shard, and the new parent process waits for that.

    Args:
        store: the store of the run.
        run_id: the sharded run.
        start: a function that starts a driver.
        drivers: the number of drivers at a time.
        console: the console that shows the progress.
        address: the address of the cluster where the drivers run; None for this machine.
        take_over: whether to replace a parent process that seems to be alive.

    Raises:
        StoreError: another process has the run, or there is no such run.
        ClusterError: some shards are not done. Their results so far are stored.
    """
    work = functools.partial(_run_shards, start=start, drivers=drivers, address=address)
    return take_run(store, run_id, console, work, take_over)


def _run_shards(run: Run, start: StartDriver, drivers: int, address: str | None) -> None:
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
    """Count the articles that are done or failed, and those that failed."""
    failed = sum(shard.failures for shard in shards)
    return sum(shard.articles_done for shard in shards) + failed, failed


def _rounds(run: Run, start: StartDriver, at_once: int, deaths: list[str]) -> Iterator[list[RunInfo]]:
    """Start drivers, and replace those that die, until none works any more. Yields the shards as they are each time.

    `deaths` gets a text for each driver that died.
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
                run.say(f"The driver {driver.name} {death}")
                deaths.append(death)
        if not drivers and any(map(is_driven_now, shards)):  # drivers of an earlier parent process work
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
                run.say(f"A driver cannot be started: {error}")
                deaths.append(str(error))
                break
            run.say(f"Started a driver: {drivers[-1].name}")
        time.sleep(_PAUSE_SECONDS)


def _is_to_do(shard: RunInfo) -> bool:
    is_lost = has_lost_driver(shard, socket.gethostname(), datetime.now(UTC))
    return shard.state in ("pending", "running") or is_lost


def _how_it_ended(shard: RunInfo) -> str:
    done = f"{shard.articles_done}/{shard.total_articles} articles, {shard.failures} failed"
    return f"Shard {shard.shard}, {shard.id}, is {shard.state}: {done}{f' ({shard.error})' if shard.error else ''}"


def _pass_on_warnings(run: Run, shard: RunInfo, warned: set[str]) -> None:
    """Repeat the warnings of a shard in the log of the sharded run, each once, since people follow that log."""
    for _, line in run.store.log(shard.id):
        if line.text.startswith(("Warning: ", "Nothing ")) and line.text not in warned:
            warned.add(line.text)
            run.say(f"Shard {shard.shard}: {line.text}")


@contextmanager
def _stopped_with(run: Run) -> Iterator[None]:
    """Stop the drivers if the block ends with an error, unless the run has another parent process by then."""
    try:
        yield
    finally:
        if (error := sys.exception()) and not isinstance(error, StoreError | GeneratorExit):
            run.say("Stopping the running shards …")
            run.store.cancel_run(run.id, socket.gethostname())
            deadline = time.monotonic() + _STOP_SECONDS
            while any(map(is_driven_now, run.store.shards(run.id))) and time.monotonic() < deadline:
                time.sleep(_PAUSE_SECONDS)


def _require_done(run: Run, shards: Sequence[RunInfo], deaths: Sequence[str]) -> None:
    """Refuse to end a run as done while one of its shards is not done.

    Raises:
        ClusterError: names some of these shards, with their errors.
        CancelledError: somebody cancelled the run.
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
