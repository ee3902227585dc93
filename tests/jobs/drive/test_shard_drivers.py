"""Where drivers of shards run, and what is known of one that ends."""

import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.job_api import RayJob
from jobs.drive import shard_drivers
from jobs.drive.shard_drivers import ShardDriver, drivers_here, drivers_there
from jobs.drive.sharded_run import create_sharded_run
from jobs.recipes.job import make_plan
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep_recipe import Phase1Recipe
from jobs.store import Store, open_store

NAME = "phase1-20261124-abcdef"


class FakeHead:
    """Takes each name once, as Ray does."""

    address = "http://head:8265"

    def __init__(self) -> None:
        self.found: dict[str, RayJob] = {}
        self.entrypoints: dict[str, str] = {}

    def submit_job(self, submission_id: str, entrypoint: str, *_: object) -> None:
        assert submission_id not in self.found
        self.found[submission_id] = RayJob(submission_id, "PENDING", "")
        self.entrypoints[submission_id] = entrypoint

    def jobs(self) -> list[RayJob]:
        return list(self.found.values())

    def job(self, submission_id: str) -> RayJob:
        return self.found[submission_id]

    def log(self, submission_id: str) -> str:
        return "no module named core"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as opened:
        plan = make_plan(load_recipe(Phase1Recipe, "sample", {"datasets.limit": 4, "n": [3], "bundle_size": 2}))
        create_sharded_run(opened, NAME, plan, plan.run_spec(), 1, 2, None)
        yield opened


def end_of(driver: ShardDriver) -> str:
    deadline = time.monotonic() + 60
    while (ended := driver.ended()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return ended


def test_a_process_is_told_all_and_its_last_words_are_heard(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    file = shlex.quote(str(told))
    script = f'echo "$@" > {file}; echo $NWS_STORE >> {file}; echo no disk >&2; exit 3'
    monkeypatch.setattr(shard_drivers, "NWS", ["sh", "-c", script, "nws"])
    assert end_of(drivers_here(store, NAME, "inline", actors=2)(5)) == "ended with code 3: no disk"
    arguments, url = told.read_text().splitlines()
    assert arguments == f"drive {NAME} --epoch 5 --engine inline --actors 2"
    assert url == store.url
    monkeypatch.setattr(shard_drivers, "NWS", ["true"])
    assert end_of(drivers_here(store, NAME, "inline")(5)) == ""


def test_each_driver_on_a_cluster_is_a_job_with_a_name_of_its_own(store: Store) -> None:
    head = FakeHead()
    start = drivers_there(store, NAME, head, accelerator="T4")  # type: ignore[arg-type]
    first, second = start(1), start(1)
    assert [first.name, second.name] == [f"job {NAME}-a2", f"job {NAME}-a3"]
    assert head.entrypoints[f"{NAME}-a3"].endswith(f"drive {NAME} --epoch 1 --accelerator T4")
    assert first.ended() is None
    head.found[f"{NAME}-a2"] = RayJob(f"{NAME}-a2", "FAILED", "no such image")
    head.found[f"{NAME}-a3"] = RayJob(f"{NAME}-a3", "SUCCEEDED", "")
    assert first.ended() == "is FAILED (no such image). The end of its log:\nno module named core"
    assert second.ended() == ""
