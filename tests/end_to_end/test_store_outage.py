"""A database that is killed in the middle of a run, and comes back half a minute later, costs nothing but that time."""

import time
from pathlib import Path

import pytest
from hostile_server import eventually
from nws_process import STUB, finish, start
from postgres_server import postgres_server

from jobs.store import open_store, upgrade_schema

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

OUTAGE_SECONDS = 30.0


def test_postgres_is_killed_and_comes_back(tmp_path: Path) -> None:
    with postgres_server() as server:
        upgrade_schema(server.url)
        process = start(
            tmp_path,
            *("submit", "phase1", "--engine", "inline", "--n", "1,7", "--json", "--store", server.url),
            program=STUB,
            NWS_STUB_SECONDS="0.5",
        )
        with open_store(server.url, read_only=True) as store:
            assert eventually(lambda: any(run.summaries >= 4 for run in store.list_runs()), seconds=120)
        server.kill()
        time.sleep(OUTAGE_SECONDS)
        assert process.poll() is None, process.communicate()
        server.start_again()
        outcome = finish(process, 0)
        assert (outcome["state"], outcome["articles"], outcome["failures"]) == ("done", 24, 0)
        with open_store(server.url, read_only=True) as store:
            said = [line.text for _, line in store.log(str(outcome["run_id"]))]
            assert store.run_info(str(outcome["run_id"])).summaries == outcome["summaries"] == 24 * 7 * 2
    assert any(text.startswith("Waiting for the store") for text in said)
    assert "The store is back." in said
