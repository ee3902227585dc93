"""A study that is disturbed: its driver, those of its shards and the database are killed, and `nws resume` goes on."""

import contextlib
import io
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from chaos.draw import DATABASES, Database
from chaos.surroundings import Surroundings
from nws_process import STUB, end, start
from rich.console import Console
from stored_rows import Stored, difference, everything

from jobs.drive.study import create_study
from jobs.store import Store, StudySettings, new_run_id, open_store

StudyVictim = Literal["driver of the study", "driver of a shard", "both", "postgres"]

SHARDS = 6
AT_ONCE = 2
_PARTS = (0.02, 0.9)
_PATIENCE_SECONDS = 400.0
_POLL_SECONDS = 0.05
_OUTAGE_SECONDS = (0.5, 3.0)
# Each article of a bundle of four; two shards at once.
_STUB_SECONDS = {"NWS_STUB_SECONDS": "0.04"}


@dataclass(frozen=True, slots=True)
class ChaosStudy:
    """A study and its kills: who, and how much of all that it stores is stored by then. The same seed draws the same.

    `both` are the driver of the study and one of a shard, in one moment.
    """

    seed: int
    database: Database
    kills: tuple[tuple[StudyVictim, float], ...]


def draw_study(seed: int, kills: int) -> ChaosStudy:
    """A study with so many kills, four at most."""
    draw = random.Random(seed)
    database = DATABASES[seed // 4 % len(DATABASES)]
    possible: list[StudyVictim] = ["driver of the study", "driver of a shard", "both"]
    possible += ["postgres"] if database == "postgres" else ["driver of a shard"]
    victims = draw.sample(possible, kills)
    parts = sorted(draw.uniform(*_PARTS) for _ in victims)
    return ChaosStudy(seed, database, tuple(zip(victims, parts, strict=True)))


def carry_out_study(study: ChaosStudy, around: Surroundings, tell: Callable[[str], None]) -> None:
    """Drive a study through its kills.

    Args:
        study: which.
        around: where.
        tell: is told a line for each kill, and one at the end.

    Raises:
        AssertionError: the study stands still, its driver ended that had no reason to, or a row is not what it should
            be.
    """
    prepared = around.prepared("phase1")
    url = around.server.url if study.database == "postgres" else f"sqlite:///{around.folder}/study-{study.seed}.db"
    total = len(prepared.undisturbed["summaries"])
    title = f"seed {study.seed}, study on {study.database}"
    draw = random.Random(study.seed)
    with open_store(url) as store, contextlib.ExitStack() as stack:
        name = new_run_id("phase1")
        quiet = Console(file=io.StringIO())
        create_study(store, name, prepared.pinned, StudySettings(AT_ONCE, "inline"), SHARDS, None, quiet)
        stack.callback(end_shards, store, name)
        driver, drivers = begin(around, stack, name, url), 1
        for victim, part in study.kills:
            at = wait_for_rows(store, name, driver, round(part * total))
            if victim in ("driver of a shard", "both"):
                kill_shard(store, name, driver, draw)
            if victim in ("driver of the study", "both"):
                end(driver)
                driver, drivers = begin(around, stack, name, url), drivers + 1
            if victim == "postgres":
                around.server.kill()
                time.sleep(draw.uniform(*_OUTAGE_SECONDS))
                around.server.start_again()
            tell(f"{title}: {victim} killed at {at} of {total} rows")
        _, said = driver.communicate(timeout=_PATIENCE_SECONDS)
        assert driver.returncode == 0, said
        info = store.run_info(name)
        assert (info.state, info.driver_epoch, info.failures) == ("done", drivers, 0), info
        found = difference(_everything(store, name), prepared.undisturbed)
        assert found is None, found
        tell(f"{title}: done by {drivers} drivers, all {total} rows of {SHARDS} shards are those of one run")


def begin(
    around: Surroundings, stack: contextlib.ExitStack, name: str, url: str, work: Mapping[str, str] = _STUB_SECONDS
) -> "subprocess.Popen[str]":
    """Start a driver of a study, whose stub work takes as long as `work` says."""
    driver = start(around.folder, "resume", name, "--store", url, program=STUB, **work)
    stack.callback(driver.kill)
    return driver


def wait_for_rows(store: Store, name: str, driver: "subprocess.Popen[str]", rows: int) -> int:
    """How many rows a study has when it has these."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (stored := store.run_info(name).summaries) < rows:
        assert driver.poll() is None, driver.communicate()
        assert time.monotonic() < deadline, f"the study stands still: {store.log(name)}"
        time.sleep(_POLL_SECONDS)
    return stored


def kill_shard(store: Store, name: str, driver: "subprocess.Popen[str]", draw: random.Random) -> None:
    """Kill the driver of one of the shards that are in work."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        pids = _pids(store, name)
        with contextlib.suppress(IndexError, ProcessLookupError):  # it may have ended just now
            os.kill(draw.choice(pids), signal.SIGKILL)
            return
        assert driver.poll() is None, driver.communicate()
        assert time.monotonic() < deadline, "no shard is driven"
        time.sleep(_POLL_SECONDS)


def _pids(store: Store, name: str) -> list[int]:
    """Of the drivers of shards in work, each a process of this study on this machine."""
    here = (shard for shard in store.shards(name) if shard.driver_host == socket.gethostname())
    return [shard.driver_pid for shard in here if shard.state == "running" and shard.driver_pid]


def end_shards(store: Store, name: str) -> None:
    """Kill the drivers of all shards that are in work."""
    for pid in _pids(store, name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _everything(store: Store, name: str) -> Stored:
    """What all shards have stored, with no key in two of them but their systems."""
    together: Stored = {}
    for shard in store.shards(name):
        for table, rows in everything(store, shard.id).items():
            known = together.setdefault(table, {})
            assert table == "systems" or not known.keys() & rows.keys()
            known |= rows
    return together
