"""A sharded run that is disturbed: its parent process, its drivers and the database are killed, and it goes on."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from chaos.carry_out import OUTAGE_SECONDS, PATIENCE_SECONDS, POLL_SECONDS, wait_for_rows
from chaos.draw import DATABASES, Database
from chaos.surroundings import Surroundings
from nws_process import STUB, end, start
from stored_rows import difference, everything

from jobs.drive.driver import create_sharded_run
from jobs.store import Store, new_run_id, open_store

ShardedVictim = Literal["parent process", "driver", "both", "postgres"]

SHARDS = 6
AT_ONCE = 2
_PARTS = (0.02, 0.9)
# Each article of a bundle of four; two shards at once.
_STUB_SECONDS = {"NWS_STUB_SECONDS": "0.04"}


@dataclass(frozen=True, slots=True)
class ChaosShardedRun:
    """A sharded run and its kills: who, and how much of all that it stores is stored by then.

    The same seed draws the same. `both` are the parent process and a driver, in one moment.
    """

    seed: int
    database: Database
    kills: tuple[tuple[ShardedVictim, float], ...]


def draw_sharded_run(seed: int, kills: int) -> ChaosShardedRun:
    """A sharded run with so many kills, four at most."""
    draw = random.Random(seed)
    database = DATABASES[seed // 4 % len(DATABASES)]
    possible: list[ShardedVictim] = ["parent process", "driver", "both"]
    possible += ["postgres"] if database == "postgres" else ["driver"]
    victims = draw.sample(possible, kills)
    parts = sorted(draw.uniform(*_PARTS) for _ in victims)
    return ChaosShardedRun(seed, database, tuple(zip(victims, parts, strict=True)))


def carry_out_sharded_run(run: ChaosShardedRun, around: Surroundings, tell: Callable[[str], None]) -> None:
    """Drive a sharded run through its kills.

    Args:
        run: which.
        around: where.
        tell: is told a line for each kill, and one at the end.

    Raises:
        AssertionError: it stands still, its parent process ended that had no reason to, or a row is not what it should
            be.
    """
    prepared = around.prepared("phase1")
    url = around.server.url if run.database == "postgres" else f"sqlite:///{around.folder}/shards-{run.seed}.db"
    total = len(prepared.undisturbed["summaries"])
    title = f"seed {run.seed}, shards on {run.database}"
    draw = random.Random(run.seed)
    with open_store(url) as store, contextlib.ExitStack() as stack:
        name = new_run_id("phase1")
        create_sharded_run(store, name, prepared.plan, prepared.plan.run_spec(), AT_ONCE, SHARDS, None)
        stack.callback(end_drivers, store, name)
        parent, parents = begin(around, stack, name, url), 1
        for victim, part in run.kills:
            at = wait_for_rows(store, name, parent, round(part * total))
            if victim in ("driver", "both"):
                kill_driver(store, name, parent, draw)
            if victim in ("parent process", "both"):
                end(parent)
                parent, parents = begin(around, stack, name, url), parents + 1
            if victim == "postgres":
                around.server.kill()
                time.sleep(draw.uniform(*OUTAGE_SECONDS))
                around.server.start_again()
            tell(f"{title}: {victim} killed at {at} of {total} rows")
        _, said = parent.communicate(timeout=PATIENCE_SECONDS)
        assert parent.returncode == 0, said
        info = store.run_info(name)
        assert (info.state, info.failures) == ("done", 0), info
        found = difference(everything(store, name), prepared.undisturbed)
        assert found is None, found
        tell(f"{title}: done with {parents} parent processes, all {total} rows of {SHARDS} shards are those of one run")


def begin(around: Surroundings, stack: contextlib.ExitStack, name: str, url: str) -> "subprocess.Popen[str]":
    """Start a parent process."""
    parent = start(around.folder, "resume", name, "--engine", "inline", "--store", url, program=STUB, **_STUB_SECONDS)
    stack.callback(parent.kill)
    return parent


def kill_driver(store: Store, name: str, parent: "subprocess.Popen[str]", draw: random.Random) -> None:
    """Kill a driver that has a shard."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        pids = _pids(store, name)
        with contextlib.suppress(IndexError, ProcessLookupError):  # it may have ended just now
            os.kill(draw.choice(pids), signal.SIGKILL)
            return
        assert parent.poll() is None, parent.communicate()
        assert time.monotonic() < deadline, "no shard is driven"
        time.sleep(POLL_SECONDS)


def _pids(store: Store, name: str) -> list[int]:
    """Of the drivers that have shards, each a process of this machine."""
    here = (shard for shard in store.shards(name) if shard.driver_host == socket.gethostname())
    return [shard.driver_pid for shard in here if shard.state == "running" and shard.driver_pid]


def end_drivers(store: Store, name: str) -> None:
    """Kill the drivers that have shards; the others end, since nothing can be claimed any more."""
    store.cancel_run(name, socket.gethostname())
    for pid in _pids(store, name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
