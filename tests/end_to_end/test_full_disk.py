"""A disk that is really full under the store: the driver says so, waits, and goes on once there is room."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from nws_process import STUB, end, finish, start
from postgres_server import postgres_server
from small_disk import fill, small_disk
from stored_rows import difference, everything
from undisturbed import STUB_WORK, undisturbed

from nws.jobs.recipes.job import plan_job
from nws.jobs.store import open_store, upgrade_schema

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

MEGABYTES = {"sqlite": 4, "postgres": 120}
SAYS = {"sqlite": "database or disk is full", "postgres": "No space left on device"}


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_a_run_waits_for_room_on_a_full_disk(database: str, tmp_path: Path) -> None:
    plan = plan_job("phase1", "sample", {"n": [1, 7]})
    expected = undisturbed(plan, tmp_path, STUB_WORK)
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(tmp_path / "disk", MEGABYTES[database]))
        url = f"sqlite:///{disk}/nws.db" if database == "sqlite" else stack.enter_context(postgres_server(disk)).url
        upgrade_schema(url)
        ballast = fill(disk)
        submit = ("submit", "phase1", "--n", "1,7", "--engine", "inline", "--json", "--store", url)
        ballast.write_bytes(bytes(ballast.stat().st_size - 256 * 1024))  # so little is left that the run can begin
        process = start(tmp_path, *submit, program=STUB, NWS_STUB_SECONDS="0.1")
        stack.callback(end, process)
        assert process.stderr is not None
        said = ""
        while "Waiting for the store" not in said:
            line = process.stderr.readline()
            assert line, f"the driver ended: {said}"
            said += line
        assert SAYS[database] in said
        ballast.unlink()
        outcome = finish(process, 0)
        with open_store(url, read_only=True) as store:
            assert difference(everything(store, str(outcome["run_id"])), expected) is None
