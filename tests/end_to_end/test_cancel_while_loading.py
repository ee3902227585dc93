"""`nws cancel` while the actors of a run load their models: the run ends in order, and is resumed later."""

import socket
from pathlib import Path

import psutil
import pytest
from hostile_server import eventually
from nws_process import STUB, end, finish, start
from ray_cluster import workers
from stored_rows import difference, everything
from undisturbed import STUB_WORK, undisturbed

from nws.jobs.recipes.job import plan_job
from nws.jobs.store import open_store

pytestmark = [pytest.mark.ray, pytest.mark.faults, pytest.mark.timeout(300)]

STORE = ("--store", "sqlite:///nws.db", "--json")


def test_a_run_is_cancelled_while_its_models_load(tmp_path: Path) -> None:
    expected = undisturbed(plan_job("phase1", "sample", {"n": [1, 7]}), tmp_path, STUB_WORK)
    submit = ("submit", "phase1", "--n", "1,7", "--accelerator", "cpu", "--actors", "1", *STORE)
    driver = start(tmp_path, *submit, program=STUB, NWS_STUB_LOAD_SECONDS="10000")
    try:
        assert eventually(lambda: bool(building(driver.pid)), seconds=120), "no actor was born"
        (loading, *_) = building(driver.pid)
        with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
            (run,) = store.list_runs()
            assert store.cancel_run(run.id, socket.gethostname()), "it has a driver"
            cancelled = finish(driver, 130)
            assert (cancelled["state"], cancelled["summaries"]) == ("interrupted", 0)
            assert not loading.is_running(), "nothing goes on loading"
            resume = start(tmp_path, "resume", run.id, "--actors", "1", *STORE, program=STUB)
            assert finish(resume, 0)["state"] == "done"
            assert difference(everything(store, run.id), expected) is None
    finally:
        end(driver)


def building(driver: int) -> list[psutil.Process]:
    """Workers of the driver's own Ray that load their models."""
    raylets = [child for child in psutil.Process(driver).children() if child.name() == "raylet"]
    return [worker for raylet in raylets for worker in workers(raylet, "build")]
