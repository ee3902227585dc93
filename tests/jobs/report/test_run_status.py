"""How runs are listed, through the command line and a real store."""

import io
import itertools
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.cells import cell_len

from core.errors import StoreError
from jobs.report.console import PrintableConsole
from jobs.report.run_view import Viewer, print_facts, status_facts
from jobs.store import RunSpec, Store, open_store

REVISIONS = {"segmentation": "s", "encoders": {}, "bertscore": "b", "libraries": {}}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the time at which the store and the list of runs think they are, in minutes."""

    def set_to(minutes: int) -> None:
        class At(datetime):
            @classmethod
            def now(cls, tz: object = None) -> datetime:
                return datetime(2026, 11, 22, 12, tzinfo=UTC) + timedelta(minutes=minutes)

        clocks = ("store.runs", "store.lifecycle", "store.store", "report.run_status")
        for module in (f"jobs.{name}" for name in clocks):
            monkeypatch.setattr(f"{module}.datetime", At)

    return set_to


def test_the_time_of_a_run_is_that_of_its_work(nws: Callable[..., object], tmp_path: Path, clock) -> None:
    def time() -> str:
        return nws("ls").out.splitlines()[-1].split()[-1]

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
    assert "time         0:03:00 of work since 2026-11-22 12:00:00 UTC\n" in nws("status").out


def status(store: Store, run_id: str, width: int, **options: object) -> list[str]:
    file = io.StringIO()
    facts = status_facts(store, Viewer(store, run_id).glance())
    print_facts(facts, PrintableConsole(file=file, width=width, **options))
    return [line.rstrip() for line in file.getvalue().splitlines()]


@pytest.mark.parametrize("width", [20, 40, 80])
def test_on_a_terminal_long_facts_are_wrapped_below_each_other(tmp_path: Path, width: int) -> None:
    signature = "kept|model:all/MiniLM@1110a24|layer:6|汉字汉字汉字汉字汉字|" + "x" * 50
    libraries = {"libraries": {f"library-{i}": f"1.{i}" for i in range(20)}}
    spec = RunSpec("phase1", {}, "hash", 0, "v", REVISIONS | libraries, {"kept": signature}, 4)
    with open_store(f"sqlite:///{tmp_path / 'nws.db'}") as store:
        run = store.create_run(spec)
        lines = status(store, run, width, force_terminal=True, color_system=None)
        piped = status(store, run, width=500)
    assert max(cell_len(line) for line in lines) <= width
    begins = next(i for i, line in enumerate(lines) if line.startswith("kept"))
    wrapped = [lines[begins], *itertools.takewhile(lambda line: line.startswith(" " * 13), lines[begins + 1 :])]
    assert len(wrapped) > 1
    assert "".join(line[13:] for line in wrapped) == signature
    text = " ".join(line[13:] for line in lines)
    assert "library-3 1.3, library-4 1.4" in text or width == 20
    assert f"kept         {signature}" in piped


def test_a_run_has_a_name_and_a_note(nws: Callable[..., object], tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'nws.db'}") as store:
        store.create_run(RunSpec("phase1", {}, "hash", 0, "v", REVISIONS, {}, 4, name="first\nlook", note="half of it"))
        with pytest.raises(StoreError, match="cannot keep"):
            store.create_run(RunSpec("phase1", {}, "hash", 0, "v", REVISIONS, {}, 4, note="caf\udce9"))
    assert nws("ls").out.splitlines()[-1].endswith("  first\\nlook  half of it")
    assert "name         first\\nlook\nnote         half of it\n" in nws("status").out
    assert nws("status", "--json").json["note"] == "half of it"


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
