"""Sharded runs as people drive them: real processes, which die."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from chaos.carry_out import OUTAGE_SECONDS, PATIENCE_SECONDS, POLL_SECONDS, wait_for_rows
from chaos.surroundings import Surroundings
from nws_process import STUB, end, finish, start
from nws_process import wait_for_rows as wait_for_first_row
from stored_rows import difference, everything

from bench.stub_work import write_articles
from nws.jobs.drive.driver import create_sharded_run
from nws.jobs.store import Store, new_run_id, open_store

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1200)]


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_drivers_that_die_change_no_row(tmp_path: Path, database: str) -> None:
    """Who is killed, by how much of all rows is stored by then."""
    kills = {0.1: ("driver",), 0.3: ("parent process",), 0.6: ("driver", "parent process")}
    draw = random.Random(1)
    with Surroundings(tmp_path) as around, contextlib.ExitStack() as stack:
        url = f"sqlite:///{tmp_path}/shards.db"
        if database == "postgres":
            url = around.server.url
            kills[0.8] = ("postgres",)
        prepared = around.prepared("phase1")
        store = stack.enter_context(open_store(url))
        name = new_run_id("phase1")
        create_sharded_run(store, name, prepared.plan, prepared.plan.run_spec(), 2, 6, None)
        stack.callback(end_drivers, store, name)
        parent = begin(tmp_path, stack, name, url)
        for part, victims in kills.items():
            wait_for_rows(store, name, parent, round(part * len(prepared.undisturbed["summaries"])))
            if "driver" in victims:
                kill_driver(store, name, parent, draw)
            if "parent process" in victims:
                end(parent)
                parent = begin(tmp_path, stack, name, url)
            if "postgres" in victims:
                around.server.kill()
                time.sleep(draw.uniform(*OUTAGE_SECONDS))
                around.server.start_again()
        _, said = parent.communicate(timeout=PATIENCE_SECONDS)
        assert parent.returncode == 0, said
        info = store.run_info(name)
        assert (info.state, info.failures) == ("done", 0), info
        assert difference(everything(store, name), prepared.undisturbed) is None


def begin(folder: Path, stack: contextlib.ExitStack, name: str, url: str) -> "subprocess.Popen[str]":
    """Start a parent process. With 0.04 s an article, two shards at once take as long as the kills need."""
    words = ("resume", name, "--engine", "inline", "--store", url)
    parent = start(folder, *words, program=STUB, NWS_STUB_SECONDS="0.04")
    stack.callback(parent.kill)
    return parent


def kill_driver(store: Store, name: str, parent: "subprocess.Popen[str]", draw: random.Random) -> None:
    """Kill a driver that has a shard."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        pids = driver_pids(store, name)
        with contextlib.suppress(IndexError, ProcessLookupError):  # it may have ended just now
            os.kill(draw.choice(pids), signal.SIGKILL)
            return
        assert parent.poll() is None, parent.communicate()
        assert time.monotonic() < deadline, "no shard is driven"
        time.sleep(POLL_SECONDS)


def driver_pids(store: Store, name: str) -> list[int]:
    """Of the drivers that have shards, each a process of this machine."""
    here = (shard for shard in store.shards(name) if shard.driver_host == socket.gethostname())
    return [shard.driver_pid for shard in here if shard.state == "running" and shard.driver_pid]


def end_drivers(store: Store, name: str) -> None:
    """Kill the drivers that have shards; the others end, since nothing can be claimed any more."""
    store.cancel_run(name, socket.gethostname())
    for pid in driver_pids(store, name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_ctrl_c_ends_the_shards_and_resume_does_the_rest(tmp_path: Path) -> None:
    write_articles(tmp_path / "news.jsonl", 200)
    store = ("--store", "sqlite:///a.db", "--json")
    asked = ("submit", "phase1", "--dataset", "news.jsonl", "--n", "3,7", "--engine", "inline", *store)
    parent = start(tmp_path, *asked, "--shards", "3", "--drivers", "2", program=STUB, NWS_STUB_SECONDS="0.05")
    try:
        wait_for_first_row(tmp_path / "a.db", parent)
        parent.send_signal(signal.SIGINT)
        out, err = parent.communicate(timeout=120)
        assert parent.returncode == 130, err
        told = json.loads(out.splitlines()[-1])
        assert told["state"] == "interrupted"
        status = finish(start(tmp_path, "status", told["run_id"], *store, program=STUB), 0)
        states = {shard["state"] for shard in status["shards"]}
        assert "interrupted" in states <= {"interrupted", "done"}
        outcome = finish(start(tmp_path, "resume", told["run_id"], "--engine", "inline", *store, program=STUB), 0)
        assert (outcome["run_id"], outcome["state"], outcome["failures"]) == (told["run_id"], "done", 0)
        assert (outcome["articles"], outcome["summaries"]) == (200, 200 * 14)
    finally:
        end(parent)
