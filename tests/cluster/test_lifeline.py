"""What a driver notices of the end of its Ray. That real ones end so is in tests/end_to_end/test_hangs.py."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import ray

from cluster import lifeline
from cluster.lifeline import Lifeline
from core.errors import ClusterError

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("session")]

PATIENCE_SECONDS = 60.0


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifeline, "_SECONDS_BETWEEN_LOOKS", 0.0)


def check_until_it_ends(watch: Lifeline) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        watch.check()
        time.sleep(0.01)
    raise AssertionError("nothing was noticed")


def test_a_ray_that_lives_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[dict[str, Any]]] = []
    nodes = ray.nodes
    monkeypatch.setattr(ray, "nodes", lambda: asked.append(nodes()) or asked[-1])
    watch = Lifeline()
    while len(asked) < 3:
        watch.check()
        time.sleep(0.01)
    assert all(node["Alive"] for node in asked[-1])


def test_a_raylet_that_is_gone_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes: list[dict[str, Any]] = ray.nodes()
    dead = [{**node, "Alive": False, "DeathReasonMessage": "health check failed"} for node in nodes]
    monkeypatch.setattr(ray, "nodes", lambda: dead)
    with pytest.raises(ClusterError, match=r"The raylet of Ray on .*has died \(health check failed\).*`nws resume`"):
        check_until_it_ends(Lifeline())


def test_the_raylet_of_another_machine_is_the_affair_of_the_fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[dict[str, Any]]] = []
    nodes: list[dict[str, Any]] = ray.nodes()
    others = [*nodes, {**nodes[0], "NodeID": "another", "Alive": False}]
    monkeypatch.setattr(ray, "nodes", lambda: asked.append(others) or others)
    watch = Lifeline()
    while len(asked) < 3:
        watch.check()
        time.sleep(0.01)


@pytest.fixture
def _silent_gcs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    over = threading.Event()
    monkeypatch.setattr(ray, "nodes", over.wait)
    yield
    over.set()


@pytest.mark.usefixtures("_silent_gcs")
def test_a_gcs_that_does_not_answer_is_waited_for_a_little(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Lifeline()
    for _ in range(3):
        watch.check()
    monkeypatch.setattr(lifeline, "_GCS_PATIENCE_SECONDS", 0.05)
    with pytest.raises(ClusterError, match=r"The GCS of Ray has not answered for .*`nws resume`"):
        check_until_it_ends(watch)
