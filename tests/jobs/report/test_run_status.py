"""How runs are listed, through the command line and a real store."""

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nws.jobs.store import RunSpec, open_store

REVISIONS = {"segmentation": "s", "encoders": {}, "bertscore": "b", "libraries": {}}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the time at which the store and the list of runs think they are, in minutes."""

    def set_to(minutes: int) -> None:
        class At(datetime):
            @classmethod
            def now(cls, tz: object = None) -> datetime:
                return datetime(2026, 11, 22, 12, tzinfo=UTC) + timedelta(minutes=minutes)

        clocks = ("store.runs", "store.lifecycle", "store.run_writer", "report.run_status")
        for module in (f"nws.jobs.{name}" for name in clocks):
            monkeypatch.setattr(f"{module}.datetime", At)

    return set_to


def test_the_time_of_a_run_is_that_of_its_work(nws: Callable[..., object], tmp_path: Path, clock) -> None:
    def time() -> str:
        return nws("ls").out.splitlines()[-1].split()[-2]

    with open_store(f"sqlite:///{tmp_path / 'nws.db'}") as store:
        run_id = store.create_run(RunSpec("phase1", {}, "hash", 0, "v", REVISIONS, {}, 4))
        assert time() == "-"
        clock(0)
        first = store.claim_run(run_id, "host", 1)
        clock(2)
        store.writer(run_id, first).heartbeat()
        assert time() == "0:02:00"
        clock(60)  # it died at some time
        assert time() == "0:02:00"
        second = store.claim_run(run_id, "host", 2)
        clock(61)
        assert time() == "0:03:00"
        store.writer(run_id, second).finish("interrupted")
        clock(900)
        assert time() == "0:03:00"
        store.writer(run_id, store.claim_run(run_id, "host", 3)).finish("done")
        assert time() == "0:03:00"
    assert "time         0:03:00 of work, started 2026-11-22 12:00:00 UTC\n" in nws("status").out


def test_a_run_whose_driver_is_dead_is_stale(nws: Callable[..., object], tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    url = f"sqlite:///{tmp_path / 'my runs.db'}"
    with open_store(url) as store:
        for run_id, pid in (("a-dead", gone.pid), ("b-alive", os.getpid())):
            store.create_run(RunSpec("phase1", {}, "hash", 0, "v", REVISIONS, {}, 4), run_id)
            store.claim_run(run_id, socket.gethostname(), pid)
    lines = {line.split()[0]: line.split()[1] for line in nws("ls", "--store", url).out.splitlines()[2:]}
    assert lines == {"a-dead": "stale", "b-alive": "running"}
    assert {run["id"]: (run["state"], run["stale"]) for run in nws("ls", "--store", url, "--json").json} == {
        "a-dead": ("running", True),
        "b-alive": ("running", False),
    }
    shown = nws("status", "a-dead", "--store", url).out
    hint = shown[shown.index("nws resume") :].splitlines()[0]
    assert shlex.split(hint) == ["nws", "resume", "a-dead", "--store", url]
    assert "stale" not in nws("status", "b-alive", "--store", url).out
