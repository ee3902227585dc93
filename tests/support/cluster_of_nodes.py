"""A Ray cluster of several nodes on this machine, which can be killed one by one: for a process of its own."""

import os
import signal
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
