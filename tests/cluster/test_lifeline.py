"""What a driver notices of the end of its Ray. That real ones end so is in tests/end_to_end/test_hangs.py."""

import time
from typing import Any

import pytest
import ray
from ray_head import free_ports

from cluster import lifeline
from cluster.lifeline import Lifeline
from cluster.session import Session
from core.errors import ClusterError

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("session")]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifeline, "_SECONDS_BETWEEN_LOOKS", 0.0)


def test_a_ray_that_lives_is_no_reason_to_stop() -> None:
    watch = Lifeline()
    for _ in range(3):
        watch.check()


def test_a_raylet_that_is_gone_is_an_error(monkeypatch: pytest.MonkeyPatch, session: Session) -> None:
    nodes: list[dict[str, Any]] = ray.nodes()
    dead = [{**node, "Alive": False, "DeathReasonMessage": "health check failed"} for node in nodes]
    monkeypatch.setattr(ray, "nodes", lambda: dead)
    with pytest.raises(ClusterError, match=r"The raylet of Ray on .*has died \(health check failed\).*`nws resume`"):
        Lifeline().check()
    # That of another machine is the fleet's business.
    monkeypatch.setattr(ray, "nodes", lambda: [*nodes, {**dead[0], "NodeID": "another"}])
    Lifeline().check()


def test_a_gcs_that_is_gone_is_waited_for_a_little(monkeypatch: pytest.MonkeyPatch) -> None:
    (port,) = free_ports(1)
    context = ray.get_runtime_context()
    monkeypatch.setattr(type(context), "gcs_address", f"127.0.0.1:{port}")
    watch = Lifeline()
    watch.check()
    monkeypatch.setattr(lifeline, "_GCS_PATIENCE_SECONDS", 0.05)
    time.sleep(0.1)
    with pytest.raises(ClusterError, match=f"The GCS of Ray at 127.0.0.1:{port} has not answered for .*`nws resume`"):
        watch.check()
