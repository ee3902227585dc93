"""Two drivers of one run, really running at once: the second is refused, or it replaces the first."""

import re
import sqlite3
from pathlib import Path

import pytest
from nws_process import STUB, assert_equal, finish, rows, start, wait_for_rows

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

WHAT = ("--n", "1,7,13", "--engine", "inline", "--json")


def test_one_run_has_one_driver(tmp_path: Path) -> None:
    whole = finish(start(tmp_path, "submit", "phase1", *WHAT, "--store", "sqlite:///whole.db", program=STUB), 0)
    store = ("--store", "sqlite:///shared.db")
    # So slow that it cannot end before the others come.
    first = start(tmp_path, "submit", "phase1", *WHAT, *store, program=STUB, NWS_STUB_SECONDS="5")
    wait_for_rows(tmp_path / "shared.db", first)
    with sqlite3.connect(tmp_path / "shared.db") as connection:
        run_id, pid = connection.execute("select id, driver_pid from runs").fetchone()

    refused = start(tmp_path, "resume", run_id, "--engine", "inline", *store, program=STUB)
    _, err = refused.communicate(timeout=120)
    assert refused.returncode == 1
    assert re.search(rf"is being driven by pid {pid} on .*--take-over", err.replace("\n", " ")), err
    assert first.poll() is None

    second = start(tmp_path, "resume", run_id, "--take-over", "--engine", "inline", "--json", *store, program=STUB)
    _, err = first.communicate(timeout=200)
    assert first.returncode == 1
    assert "was taken over by pid" in err
    outcome = finish(second, 0)
    assert outcome == {**whole, "run_id": run_id}
    assert_equal(rows(tmp_path, "shared.db"), rows(tmp_path, "whole.db"))
    with sqlite3.connect(tmp_path / "shared.db") as connection:
        assert connection.execute("select state, driver_epoch from runs").fetchall() == [("done", 2)]
