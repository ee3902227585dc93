"""A Ray cluster of three nodes on this machine, on loopback, whose processes can be killed and whose nodes added.

Run as a program it is the cluster: it says where each node is, adds one for every line it reads, and ends with its
stdin.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from ray_head import free_ports

CPUS_OF_A_NODE = 1
WORKER_NODES = 2
_END_SECONDS = 30.0
_PATIENCE_SECONDS = 240.0


class RayCluster:
    """A running cluster. `environment` is what processes that join it need; each node is known by its raylet."""

    def __init__(self, program: subprocess.Popen[str], environment: dict[str, str]) -> None:
        self._program = program
        told = self._told()
        self.environment = environment | {"RAY_ADDRESS": told["address"]}
        self.head = psutil.Process(told["raylet"])
        self.nodes: list[psutil.Process] = []
        for _ in range(WORKER_NODES):
            self.add_node()

    def add_node(self) -> None:
        """Start a worker node and wait until it is part of the cluster."""
        assert self._program.stdin is not None
        print("add", file=self._program.stdin, flush=True)
        self.nodes.append(psutil.Process(self._told()["raylet"]))

    def _told(self) -> dict[str, Any]:
        assert self._program.stdout is not None
        line = self._program.stdout.readline()
        assert line, "the cluster has ended"
        return dict(json.loads(line))

    def kill_node(self, node: psutil.Process) -> None:
        """SIGKILL a raylet and everything below it: its workers and agents."""
        self.nodes.remove(node)
        for member in [node, *node.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.send_signal(signal.SIGKILL)


def working(node: psutil.Process, task: str) -> list[psutil.Process]:
    """The actors on a node that are at this work, in order of their pids: Ray has it in their titles."""
    found = []
    for worker in node.children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if "".join(worker.cmdline()[:1]).endswith(task):
                found.append(worker)
    return sorted(found, key=lambda worker: worker.pid)


def strike(kind: str, cluster: RayCluster, driver: subprocess.Popen[str], draw: random.Random, task: str) -> None:
    """SIGKILL the driver, an actor that is at this work, or a worker node with such an actor."""
    assert driver.poll() is None, driver.communicate()
    if kind == "driver":
        driver.kill()
        return
    # The death of the head is that of its cluster.
    nodes = cluster.nodes if kind == "node" else [cluster.head, *cluster.nodes]
    deadline = time.monotonic() + _PATIENCE_SECONDS
    at_work: list[tuple[psutil.Process, psutil.Process]] = []
    while not at_work:
        assert time.monotonic() < deadline, "no actor is at work"
        time.sleep(0.02)
        at_work = [(node, actor) for node in nodes for actor in working(node, task)]
    node, actor = draw.choice(at_work)
    if kind == "node":
        cluster.kill_node(node)
    else:
        actor.send_signal(signal.SIGKILL)


def end(process: subprocess.Popen[str]) -> None:
    """Whatever it is doing."""
    process.kill()
    process.communicate()


@contextlib.contextmanager
def ray_cluster() -> Iterator[RayCluster]:
    """A head and two worker nodes. No process that was started with its environment is left after the block."""
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True) as folder:
        token = Path(folder) / "token"
        token.write_text("ab" * 32)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")} | {
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_SCHEDULER_EVENTS": "0",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
            "RAY_TMPDIR": folder,
            # A dead node is noticed in seconds instead of a quarter of a minute.
            "RAY_health_check_period_ms": "500",
        }
        with (Path(folder) / "log").open("w") as log:
            program = subprocess.Popen(
                [sys.executable, __file__],
                env=environment,
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
            try:
                yield RayCluster(program, environment)
            finally:
                _, left = program.communicate(timeout=_END_SECONDS), _left(folder)
                for process in left:
                    process.kill()
                assert not left


def _left(folder: str) -> list[psutil.Process]:
    """The processes that have the folder in their environment, after they had time to end."""
    deadline = time.monotonic() + _END_SECONDS
    while (found := _processes(folder)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return found


def _processes(folder: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            if process.environ().get("RAY_TMPDIR") == folder:
                found.append(process)
    return found


def main() -> None:
    from ray.cluster_utils import Cluster

    def tell(node: Any) -> None:
        raylet = node.all_processes["raylet"][0].process.pid
        print(json.dumps({"address": cluster.address, "raylet": raylet}), flush=True)

    cluster = Cluster()
    (agent,) = free_ports(1)
    tell(cluster.add_node(num_cpus=CPUS_OF_A_NODE, include_dashboard=False, dashboard_agent_listen_port=agent))
    for _ in sys.stdin:
        tell(cluster.add_node(num_cpus=CPUS_OF_A_NODE))
    cluster.shutdown()


if __name__ == "__main__":
    main()
