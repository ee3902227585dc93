"""Where drivers of shards run: what becomes of a shard whose process or Ray job does not come to drive it."""

import shlex
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from shards_here import QUIET

from cluster.job_api import RayJob
from core.errors import ClusterError
from jobs.drive import shard_drivers, study
from jobs.drive.shard_drivers import LocalDrivers, RayDrivers
from jobs.plan.sweep import pin
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep import Phase1Recipe
from jobs.store import RunInfo, Store, StudySettings, open_store

HOST = socket.gethostname()
NAME = "phase1-20261124-abcdef"


class FakeHead:
    """Takes each name once, as Ray does."""

    address = "http://head:8265"

    def __init__(self) -> None:
        self.found: dict[str, RayJob] = {}
        self.entrypoints: dict[str, str] = {}
        self.stopped: list[str] = []

    def submit_job(self, submission_id: str, entrypoint: str, *_: object) -> None:
        assert submission_id not in self.found
        self.found[submission_id] = RayJob(submission_id, "PENDING", "")
        self.entrypoints[submission_id] = entrypoint

    def jobs(self) -> list[RayJob]:
        return list(self.found.values())

    def job(self, submission_id: str) -> RayJob:
        return self.found[submission_id]

    def stop(self, submission_id: str) -> bool:
        self.stopped.append(submission_id)
        return True

    def log(self, submission_id: str) -> str:
        return "no module named core"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as opened:
        pinned = pin(load_recipe(Phase1Recipe, "sample", {"limit": 4, "n": [3], "bundle_size": 2}))
        study.create_study(opened, NAME, pinned, StudySettings(1, "inline"), 2, None, QUIET)
        yield opened


@pytest.fixture
def epoch(store: Store) -> int:
    return store.claim_run(NAME, HOST, 1)


def shard(store: Store) -> RunInfo:
    return store.run_info(f"{NAME}-01")


def started(store: Store, drivers: LocalDrivers | RayDrivers, epoch: int) -> str:
    one = shard(store)
    return drivers.start(one, lambda address: store.hand_out(NAME, epoch, one.id, HOST, address))


def waited(store: Store, drivers: LocalDrivers) -> RunInfo:
    deadline = time.monotonic() + 60
    while drivers.works_on(shard(store)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return shard(store)


def test_a_process_that_ends_before_it_drives_leaves_a_failed_shard_with_its_last_words(
    store: Store, epoch: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    file = shlex.quote(str(told))
    script = f'echo "$@" > {file}; echo $NWS_STORE >> {file}; echo no disk >&2; exit 3'
    monkeypatch.setattr(shard_drivers, "NWS", ["sh", "-c", script, "nws"])
    drivers = LocalDrivers(store, "inline", actors=2)
    started(store, drivers, epoch)
    found = waited(store, drivers)
    assert (found.state, found.error) == ("failed", "its driver ended with code 3: no disk")
    arguments, url = told.read_text().splitlines()
    assert arguments == f"drive {NAME}-01 --epoch 1 --engine inline --actors 2"
    assert url == store.url


def test_a_process_that_is_stopped_before_it_drives_leaves_an_interrupted_shard(
    store: Store, epoch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_drivers, "NWS", ["sh", "-c", "exec sleep 60"])
    drivers = LocalDrivers(store, "inline")
    started(store, drivers, epoch)
    assert drivers.works_on(shard(store))
    drivers.stop(shard(store))
    assert waited(store, drivers).state == "interrupted"


def test_a_job_of_ray_is_waited_for_until_it_ends_or_drives(store: Store, epoch: int) -> None:
    head = FakeHead()
    drivers = RayDrivers(store, head, accelerator="T4")  # type: ignore[arg-type]
    assert started(store, drivers, epoch) == f"job {NAME}-01"
    assert head.entrypoints[f"{NAME}-01"].endswith(f"drive {NAME}-01 --epoch 1 --accelerator T4")
    assert shard(store).address == head.address
    assert drivers.works_on(shard(store))
    head.found[f"{NAME}-01"] = RayJob(f"{NAME}-01", "FAILED", "no such image")
    assert not drivers.works_on(shard(store))
    assert shard(store).state == "failed"
    assert "no such image" in str(shard(store).error)
    # The next one has a name of its own, and is believed until the store says that its driver is gone.
    assert started(store, drivers, epoch) == f"job {NAME}-01-a2"
    assert drivers.works_on(shard(store)), "it is failed as long as nobody has claimed it"
    store.claim_run(f"{NAME}-01", "node-7", 5, epoch=shard(store).driver_epoch)
    assert drivers.works_on(shard(store))
    store.writer(f"{NAME}-01", shard(store).driver_epoch).finish("done")
    assert not drivers.works_on(shard(store))


def test_a_job_that_has_not_begun_is_stopped(store: Store, epoch: int) -> None:
    head = FakeHead()
    drivers = RayDrivers(store, head)  # type: ignore[arg-type]
    started(store, drivers, epoch)
    drivers.stop(shard(store))
    assert head.stopped == [f"{NAME}-01"]
    assert shard(store).state == "interrupted"


def test_a_head_that_refuses_leaves_a_failed_shard(store: Store, epoch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ClusterError("no agent")

    head = FakeHead()
    monkeypatch.setattr(head, "submit_job", refuse)
    with pytest.raises(ClusterError, match="no agent"):
        started(store, RayDrivers(store, head), epoch)  # type: ignore[arg-type]
    assert (shard(store).state, shard(store).error) == ("failed", "no agent")
