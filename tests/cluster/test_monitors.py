"""What is stuck, and what a driver notices of the end of its Ray. Real ones end in tests/end_to_end/test_hangs.py."""

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from hypothesis import given
from hypothesis import strategies as st

from nws.cluster.monitors import ClusterHealth, StartupMonitor, StuckTaskDetector
from nws.core.errors import ClusterError

PATIENCE_SECONDS = 60.0
SECONDS = st.floats(0.001, 1e6)
SIZES = st.integers(0, 1_000_000)


@given(st.lists(st.tuples(SIZES, SECONDS)), SIZES, st.floats(0, 600))
def test_nothing_is_stuck_below_the_floor(came_back: list[tuple[int, float]], size: int, seconds: float) -> None:
    detector = StuckTaskDetector(600)
    for one, took in came_back:
        detector.came_back(one, took)
    assert not detector.is_stuck(size, seconds)


def test_long_articles_have_more_time() -> None:
    detector = StuckTaskDetector(600)
    assert [detector.is_stuck(1000, seconds) for seconds in (3600, 3601)] == [False, True]  # of the first one
    for seconds in (10, 3600, 10):  # one slow call does not move the limit
        detector.came_back(1000, seconds)
    assert [detector.is_stuck(1000, seconds) for seconds in (600, 601)] == [False, True]
    assert not detector.is_stuck(100_000, 20 * 1000 - 1)
    assert detector.is_stuck(100_000, 20 * 1000 + 1)


def test_the_caller_is_told_each_time_that_nothing_has_happened_for_long(caplog: pytest.LogCaptureFixture) -> None:
    monitor = StartupMonitor("1 T4 GPU", patience_seconds=0.05)
    for is_silent in (True, False, True):
        time.sleep(0.1)
        monitor.look(is_silent, unready=2)
    monitor.look(True, unready=0)
    assert [record.getMessage() for record in caplog.records] == [
        "Nothing has happened for 0 s. 2 actors wait for 1 T4 GPU each, or are still loading their models."
    ] * 2


def check_until_it_ends(health: ClusterHealth) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        health.check()
        time.sleep(0.01)
    raise AssertionError("nothing was noticed")


HERE = {"NodeID": "here", "NodeManagerHostname": "vm", "Alive": True}


@pytest.fixture(autouse=True)
def _driver_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "get_runtime_context", lambda: SimpleNamespace(get_node_id=lambda: "here"))


def test_a_ray_that_lives_is_no_reason_to_stop_nor_the_death_of_another_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[dict[str, Any]]] = []
    nodes = [HERE, {**HERE, "NodeID": "another", "Alive": False}]
    monkeypatch.setattr(ray, "nodes", lambda: asked.append(nodes) or nodes)
    health = ClusterHealth(look_seconds=0)
    while len(asked) < 3:
        health.check()
        time.sleep(0.01)


def test_a_raylet_that_is_gone_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    dead = {**HERE, "Alive": False, "DeathReasonMessage": "health check failed"}
    monkeypatch.setattr(ray, "nodes", lambda: [dead])
    with pytest.raises(ClusterError, match=r"The raylet of Ray on .*has died \(health check failed\).*`nws resume`"):
        check_until_it_ends(ClusterHealth(look_seconds=0))


@pytest.fixture
def _silent_gcs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    over = threading.Event()
    monkeypatch.setattr(ray, "nodes", over.wait)
    yield
    over.set()


@pytest.mark.usefixtures("_silent_gcs")
def test_a_gcs_that_does_not_answer_is_waited_for_a_little() -> None:
    health = ClusterHealth(look_seconds=0, gcs_patience_seconds=0.5)
    for _ in range(3):
        health.check()
    with pytest.raises(ClusterError, match=r"The GCS of Ray has not answered for .*`nws resume`"):
        check_until_it_ends(health)
