"""`nws cancel` while the actors of a run load their models: the run ends in order, and is resumed later."""

import socket
import time
from pathlib import Path

import psutil
import pytest
from nws_process import STUB, end, finish, start
from ray_cluster import workers
from stored_rows import difference, everything
from undisturbed import STUB_WORK, undisturbed

from jobs.recipes.job import make_plan
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep_recipe import Phase1Recipe
from jobs.store import open_store

pytestmark = [pytest.mark.ray, pytest.mark.faults, pytest.mark.timeout(300)]

STORE = ("--store", "sqlite:///nws.db", "--json")


def test_a_run_is_cancelled_while_its_models_load(tmp_path: Path) -> None:
    expected = undisturbed(make_plan(load_recipe(Phase1Recipe, "sample", {"n": [1, 7]})), tmp_path, STUB_WORK)
    submit = ("submit", "phase1", "--n", "1,7", "--accelerator", "cpu", "--actors", "1", *STORE)
    driver = start(tmp_path, *submit, program=STUB, NWS_STUB_LOAD_SECONDS="10000")
    try:
        loading = wait_for_actor(driver.pid, "build")
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


def wait_for_actor(driver: int, title: str) -> psutil.Process:
    """A worker of the driver's own Ray whose title ends like that."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for child in psutil.Process(driver).children():
            if child.name() == "raylet" and (found := workers(child, title)):
                return found[0]
        time.sleep(0.05)
    raise AssertionError("no actor was born")
