"""Whether the Ray that a driver hangs on still lives. It imports ray: see `fleet`.

Ray itself says nothing when the raylet of the driver's machine dies: actors that are asked for wait for ever. When its
GCS is gone, it ends the driver after a minute, in C++, without an exception.
"""

import socket
import time

import ray

from core.errors import ClusterError

_SECONDS_BETWEEN_LOOKS = 5.0
_CONNECT_SECONDS = 2.0
# Half of what Ray itself has patience for: a GCS may be started again where it keeps its state elsewhere.
_GCS_PATIENCE_SECONDS = 30.0

_ENDED = "What is finished is stored. See Ray's logs for why it died, and go on with `nws resume`."


class Lifeline:
    """Looks every few seconds whether the GCS and the raylet of this driver are there."""

    def __init__(self) -> None:
        self._looked_at = self._gcs_seen_at = time.monotonic()

    def check(self) -> None:
        """Look, if it is time to.

        Raises:
            ClusterError: one of them is gone. No function of Ray should be called any more.
        """
        now = time.monotonic()
        if now - self._looked_at < _SECONDS_BETWEEN_LOOKS:
            return
        context = ray.get_runtime_context()
        if _answers(context.gcs_address):
            self._gcs_seen_at = now
            _require_raylet(context.get_node_id())
        elif now - self._gcs_seen_at > _GCS_PATIENCE_SECONDS:
            raise ClusterError(
                f"The GCS of Ray at {context.gcs_address} has not answered for {now - self._gcs_seen_at:.0f} s: the "
                f"process gcs_server has died, and its cluster with it. {_ENDED}"
            )
        self._looked_at = time.monotonic()


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _require_raylet(node_id: str) -> None:
    for node in ray.nodes():  # type: ignore[no-untyped-call]
        if node["NodeID"] == node_id and not node["Alive"]:
            why = node.get("DeathReasonMessage") or "no reason is given"
            raise ClusterError(
                f"The raylet of Ray on this machine ({node['NodeManagerHostname']}) has died ({why}): no actor can be "
                f"started any more. {_ENDED}"
            )
