"""What is stuck, and what a driver notices of the end of its Ray. Real ones end in tests/end_to_end/test_hangs.py."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import ray
from hypothesis import given
from hypothesis import strategies as st

from cluster.monitors import ClusterHealth, StuckTaskDetector
from core.errors import ClusterError

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


def check_until_it_ends(health: ClusterHealth) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        health.check()
        time.sleep(0.01)
    raise AssertionError("nothing was noticed")


@pytest.mark.ray
@pytest.mark.usefixtures("session")
def test_a_ray_that_lives_is_no_reason_to_stop_nor_the_death_of_another_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[dict[str, Any]]] = []
    others = [*ray.nodes(), {**ray.nodes()[0], "NodeID": "another", "Alive": False}]
    monkeypatch.setattr(ray, "nodes", lambda: asked.append(others) or others)
    health = ClusterHealth(look_seconds=0)
    while len(asked) < 3:
        health.check()
        time.sleep(0.01)


@pytest.mark.ray
@pytest.mark.usefixtures("session")
def test_a_raylet_that_is_gone_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes: list[dict[str, Any]] = ray.nodes()
    dead = [{**node, "Alive": False, "DeathReasonMessage": "health check failed"} for node in nodes]
    monkeypatch.setattr(ray, "nodes", lambda: dead)
    with pytest.raises(ClusterError, match=r"The raylet of Ray on .*has died \(health check failed\).*`nws resume`"):
        check_until_it_ends(ClusterHealth(look_seconds=0))


@pytest.fixture
def _silent_gcs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    over = threading.Event()
    monkeypatch.setattr(ray, "nodes", over.wait)
    yield
    over.set()


@pytest.mark.ray
@pytest.mark.usefixtures("session", "_silent_gcs")
def test_a_gcs_that_does_not_answer_is_waited_for_a_little() -> None:
    health = ClusterHealth(look_seconds=0, gcs_patience_seconds=0.5)
    for _ in range(3):
        health.check()
    with pytest.raises(ClusterError, match=r"The GCS of Ray has not answered for .*`nws resume`"):
        check_until_it_ends(health)
