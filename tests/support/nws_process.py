"""`nws` as a person runs it, in a process of its own, and what it stored."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


NWS = (sys.executable, "-m", "nws.jobs.cli")
STUB = (sys.executable, str(Path(__file__).parent / "stub_work.py"))
"""The same with work that costs next to nothing."""


def start(
    folder: Path, *arguments: str, program: tuple[str, ...] = NWS, out: int = subprocess.PIPE, **environment: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*program, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{Path(__file__).parent}", **environment},
        stdout=out,
        stderr=out,
        text=True,
        start_new_session=True,
    )


def end(process: subprocess.Popen[str]) -> None:
    """Whatever it is doing."""
    process.kill()
    process.communicate()


def finish(process: subprocess.Popen[str], code: int) -> dict[str, object]:
    """What it said of its run, but for the seconds that it took, which are others each time."""
    out, err = process.communicate(timeout=400)
    assert process.returncode == code, err
    assert "Traceback" not in err
    found = json.loads(out.splitlines()[-1])
    assert isinstance(found, dict)
    found.pop("seconds", None)
    return found


Rows = dict[tuple[object, ...], tuple[object, ...]]


def rows(folder: Path, store: str) -> Rows:
    """Every summary by article, system and n."""
    with sqlite3.connect(folder / store) as connection:
        cursor = connection.execute("select * from summaries")
        names = [column[0] for column in cursor.description]
        found = [dict(zip(names, row, strict=True)) for row in cursor]
    keys = ("article_id", "system", "n")
    drop = {*keys, "run_id", "seconds"}
    by_key = {tuple(row[key] for key in keys): tuple(row[name] for name in names if name not in drop) for row in found}
    assert len(by_key) == len(found)
    return by_key


def assert_equal(one: Rows, other: Rows) -> None:
    """Same keys, texts equal byte for byte, metrics to 1e-6."""
    assert one.keys() == other.keys()
    for key, values in one.items():
        for mine, theirs in zip(values, other[key], strict=True):
            assert mine == (pytest.approx(theirs, abs=1e-6) if isinstance(theirs, float) else theirs), key


def wait_for_rows(store: Path, process: subprocess.Popen[str], system: str = "%") -> None:
    """Wait until the run has stored something by `system`."""
    wait_for(store, process, "select 1 from summaries where system like ?", system)


def wait_for(store: Path, process: subprocess.Popen[str], sql: str, *parameters: object) -> None:
    """Wait until the store has a row that a query asks for."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None:
        if store.exists():
            with sqlite3.connect(store) as connection:
                try:
                    if connection.execute(sql, parameters).fetchone():
                        return
                except sqlite3.OperationalError:  # no tables yet
                    pass
        time.sleep(0.02)
    raise AssertionError(f"no row was stored: {process.poll()}")
