"""Where drivers of shards run, and what is known of one that ends."""

import shlex
import time
from pathlib import Path

import pytest
from fake_head import FakeHead

from jobs.drive import shard_drivers
from jobs.drive.shard_drivers import ShardDriver, drivers_here, drivers_there
from jobs.drive.sharded_run import create_sharded_run
from jobs.recipes.job import plan_job
from jobs.store import Store

NAME = "phase1-20261124-abcdef"


@pytest.fixture
def sharded(store: Store) -> Store:
    plan = plan_job("phase1", "sample", {"datasets.limit": 4, "n": [3], "bundle_size": 2})
    create_sharded_run(store, NAME, plan, plan.run_spec(), 1, 2, None)
    return store


def end_of(driver: ShardDriver) -> str:
    deadline = time.monotonic() + 60
    while (ended := driver.ended()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return ended


def test_a_process_is_told_all_and_its_last_words_are_heard(
    sharded: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    file = shlex.quote(str(told))
    script = f'echo "$@" > {file}; echo $NWS_STORE >> {file}; echo no disk >&2; exit 3'
    monkeypatch.setattr(shard_drivers, "NWS", ["sh", "-c", script, "nws"])
    assert end_of(drivers_here(sharded, NAME, "inline", actors=2)(5)) == "ended with code 3: no disk"
    assert told.read_text() == f"drive {NAME} --epoch 5 --engine inline --actors 2\n{sharded.url}\n"
    monkeypatch.setattr(shard_drivers, "NWS", ["true"])
    assert end_of(drivers_here(sharded, NAME, "inline")(5)) == ""


def test_each_driver_on_a_cluster_is_a_job_with_a_name_of_its_own(sharded: Store) -> None:
    head = FakeHead()
    start = drivers_there(sharded, NAME, head, accelerator="T4")  # type: ignore[arg-type]
    first, second = start(1), start(1)
    assert [first.name, second.name] == [f"job {NAME}", f"job {NAME}-a2"]
    assert head.entrypoints[f"{NAME}-a2"].endswith(f"drive {NAME} --epoch 1 --accelerator T4")
    assert first.ended() is None
    head.becomes(NAME, "FAILED", "no such image")
    head.becomes(f"{NAME}-a2", "SUCCEEDED")
    assert first.ended() == f"was FAILED (no such image). The end of its log:\n{NAME}: No module named 'core'"
    assert second.ended() == ""
