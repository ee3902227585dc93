"""A Ray cluster of three nodes on this machine, on loopback, whose processes can be killed and whose nodes added.

Run as a program it is the cluster: it says where each node is, adds one for every line it reads, and ends with its
stdin.
"""

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from ray_head import cluster_environment, free_ports

CPUS_OF_A_NODE = 1
WORKER_NODES = 2
_END_SECONDS = 30.0


class RayCluster:
    """A running cluster. `environment` is what processes that join it need; each node is known by its raylet."""

    def __init__(self, program: subprocess.Popen[str], environment: dict[str, str]) -> None:
        self._program = program
        self.is_dead = False
        self.environment = environment
        told = self._told()
        self.environment |= {"RAY_ADDRESS": told["address"]}
        self.head = psutil.Process(told["raylet"])
        self.gcs = psutil.Process(told["gcs"])
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
        assert line, f"the cluster has ended: {(Path(self.environment['RAY_TMPDIR']) / 'log').read_text()}"
        return dict(json.loads(line))

    def kill_node(self, node: psutil.Process) -> None:
        """SIGKILL a raylet and everything below it: its workers and agents."""
        self.nodes.remove(node)
        _kill([node, *node.children(recursive=True)])

    def kill_head(self) -> None:
        """SIGKILL the GCS, the raylet of its node and everything below that: the cluster is gone."""
        self.is_dead = True
        _kill([self.gcs, self.head, *self.head.children(recursive=True)])

    def kill_gcs(self) -> None:
        """SIGKILL the GCS alone: the raylets cannot go on without it."""
        self.is_dead = True
        _kill([self.gcs])


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)


def workers(node: psutil.Process, *titles: str) -> list[psutil.Process]:
    """The workers of a node whose titles end like that, in order of their pids.

    Ray titles a worker by what it is at: `ray::SweepActor.sweep` is at a method, `ray::segment` at a task, and
    `ray::SweepActor` at nothing.
    """
    found = []
    for worker in node.children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if "".join(worker.cmdline()[:1]).endswith(titles):
                found.append(worker)
    return sorted(found, key=lambda worker: worker.pid)


@contextlib.contextmanager
def ray_cluster() -> Iterator[RayCluster]:
    """A head and two worker nodes. No process that was started with its environment is left after the block."""
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True) as folder:
        environment = cluster_environment(folder) | {
            "RAY_SCHEDULER_EVENTS": "0",
            # A dead node is noticed in seconds instead of a quarter of a minute.
            "RAY_health_check_period_ms": "500",
            # So is a dead GCS, which is otherwise waited for for a minute.
            "RAY_gcs_rpc_server_reconnect_timeout_s": "5",
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
            cluster = None
            try:
                cluster = RayCluster(program, environment)
                yield cluster
            finally:
                if cluster is not None and cluster.is_dead:  # nobody tells its processes to end
                    _kill(_processes(folder))
                _, left = program.communicate(timeout=_END_SECONDS), _left(folder)
                _kill(left)
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
        with contextlib.suppress(psutil.Error):
            if process.environ().get("RAY_TMPDIR") == folder:
                found.append(process)
    return found


def main() -> None:
    from ray.cluster_utils import Cluster

    def tell(node: Any) -> None:
        found = {name: processes[0].process.pid for name, processes in node.all_processes.items()}
        told = {"address": cluster.address, "raylet": found["raylet"], "gcs": found.get("gcs_server")}
        print(json.dumps(told), flush=True)

    cluster = Cluster()
    (agent,) = free_ports(1)
    tell(cluster.add_node(num_cpus=CPUS_OF_A_NODE, include_dashboard=False, dashboard_agent_listen_port=agent))
    for _ in sys.stdin:
        tell(cluster.add_node(num_cpus=CPUS_OF_A_NODE))
    cluster.shutdown()


if __name__ == "__main__":
    main()
