"""A chaos run: driven, struck, resumed as a person would, and compared with what an undisturbed run stores."""

import contextlib
import itertools
import random
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chaos.draw import ChaosRun, Kill
from chaos.strike import driver_waiting, strike
from chaos.surroundings import Prepared, Surroundings, stored_rows
from nws_process import end, start
from stored_rows import difference, everything

from nws.jobs.store import Store, open_store

PATIENCE_SECONDS = 400.0
POLL_SECONDS = 0.05
_ACTORS = (2, 3)
OUTAGE_SECONDS = (0.5, 3.0)

Driver = subprocess.Popen[str]


@dataclass(frozen=True, slots=True)
class _Subject:
    """A run in the store, and where it is driven."""

    run: ChaosRun
    id: str
    url: str
    store: Store
    prepared: Prepared
    around: Surroundings
    draw: random.Random
    stack: contextlib.ExitStack

    @property
    def rows(self) -> int:
        return stored_rows(self.store, self.id)


def carry_out(run: ChaosRun, around: Surroundings, tell: Callable[[str], None]) -> None:
    """Drive a run through its kills.

    Args:
        run: which.
        around: where.
        tell: is told a line for each kill, and one at the end of the run.

    Raises:
        AssertionError: the run stands still, a driver ended that had no reason to, or a row is not what it should be.
    """
    prepared, url = around.prepared(run.job), around.store_url(run)
    total = sum(len(prepared.undisturbed[table]) for table in ("updates", "summaries"))
    title = f"seed {run.seed}, {run.job} on {run.database}"
    with open_store(url) as store, contextlib.ExitStack() as stack:
        run_id = store.create_run(prepared.plan.run_spec())
        subject = _Subject(run, run_id, url, store, prepared, around, random.Random(run.seed), stack)
        driver, drivers, seen = _begin(subject), 1, 0
        for part, together in itertools.groupby(run.kills, key=lambda kill: kill.part):
            kills = tuple(together)
            wait_for_rows(store, run_id, driver, min(max(round(part * total), seen + 1), total))
            at = _strike(subject, driver, kills)
            code = _ending(subject, driver, kills)
            seen = subject.rows
            if code is not None:
                driver, drivers = _begin(subject), drivers + 1
            wait_for_rows(store, run_id, driver, min(seen + 1, total))
            outcome = "it went on" if code is None else f"its driver ended with {code}, driver {drivers} went on"
            when = "before a transaction" if kills[0].waiting else "at work"
            for kill in kills:
                tell(f"{title}: {kill.victim} killed at {at} of {total} rows, {when}; {outcome}")
        _, said = driver.communicate(timeout=PATIENCE_SECONDS)
        assert driver.returncode == 0, said
        info = store.run_info(run_id)
        # The first driver takes an epoch to hold the pending run, and one to drive it.
        assert (info.state, info.driver_epoch, info.failures) == ("done", drivers + 1, 0), info
        found = difference(everything(store, run_id), prepared.undisturbed)
        assert found is None, found
        tell(f"{title}: done by {drivers} drivers, all {total} rows are those of an undisturbed run")


def _begin(subject: _Subject) -> Driver:
    """A driver for the run: `nws drive` is what the job of `nws submit` and `nws resume` runs on a cluster."""
    subject.around.mend()
    driver = start(
        subject.around.folder,
        *("drive", subject.id, "--store", subject.url, "--actors", str(subject.draw.choice(_ACTORS))),
        program=subject.prepared.program,
        **subject.around.cluster.environment | subject.prepared.environment,
    )
    subject.stack.callback(end, driver)
    return driver


def wait_for_rows(store: Store, run_id: str, driver: Driver, rows: int) -> int:
    """How many rows a run has when it has these."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (stored := stored_rows(store, run_id)) < rows:
        assert driver.poll() is None, driver.communicate()
        assert time.monotonic() < deadline, f"the run stands still: {store.log(run_id)}"
        time.sleep(POLL_SECONDS)
    return stored


def _strike(subject: _Subject, driver: Driver, kills: Sequence[Kill]) -> int:
    """Kill all of one moment; how many rows were stored then."""
    cluster = subject.around.cluster
    server = subject.around.server if subject.run.database == "postgres" else None
    waiting = driver_waiting(subject.url, subject.id, cluster) if kills[0].waiting else contextlib.nullcontext()
    with waiting:
        assert driver.poll() is None, driver.communicate()
        rows = subject.rows
        strike(kills, cluster, driver, server, subject.draw)
    return rows


def _ending(subject: _Subject, driver: Driver, kills: Sequence[Kill]) -> int | None:
    """Bring the database back; the exit code of a driver that ends, because it was killed or its cluster was."""
    victims = {kill.victim for kill in kills}
    if "postgres" in victims:
        time.sleep(subject.draw.uniform(*OUTAGE_SECONDS))
        subject.around.server.start_again()
    if not victims & {"driver", "head", "gcs"}:
        subject.around.mend()
        return None
    code = driver.wait(timeout=PATIENCE_SECONDS)
    assert code == -signal.SIGKILL if "driver" in victims else code != 0, driver.communicate()
    return code
