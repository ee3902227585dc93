"""A Ray cluster of several nodes on this machine, which can be killed one by one: for a process of its own."""

import os
import signal
import time
from typing import Any

os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
# A dead node is missed after half a minute by default.
os.environ |= {"RAY_health_check_period_ms": "500", "RAY_health_check_failure_threshold": "3"}

from ray.cluster_utils import Cluster


def start(**head: Any) -> Cluster:
    return Cluster(initialize_head=True, head_node_args=head)


def kill(node: Any) -> None:
    """As when the machine loses its power."""
    os.kill(node.all_processes["raylet"][0].process.pid, signal.SIGKILL)


def drain(cluster: Cluster, node: Any) -> None:
    """As when the machine's owner announces that it is taken away: in two minutes, of a spot instance."""
    import ray
    from ray.core.generated import autoscaler_pb2

    reason = autoscaler_pb2.DrainNodeReason.Value("DRAIN_NODE_REASON_PREEMPTION")
    deadline = time.time_ns() // 1_000_000 + 120_000
    gcs = ray._raylet.GcsClient(address=cluster.address)
    is_accepted, why = gcs.drain_node(node.node_id, reason, "spot interruption", deadline)
    assert is_accepted, why
