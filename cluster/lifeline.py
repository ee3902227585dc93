"""Whether the Ray that a driver depends on still lives. It imports ray: see `fleet`.

Ray itself says nothing when the raylet of the driver's machine dies: actors that are asked for wait for ever. When its
GCS is gone, it ends the driver after a minute, in C++, without an exception.
"""

import contextlib
import threading
import time
from typing import Any

import ray
from ray.exceptions import RayError

from core.errors import ClusterError

_SECONDS_BETWEEN_LOOKS = 5.0
# Half of what Ray itself has patience for: a GCS may be started again where it keeps its state elsewhere.
_GCS_PATIENCE_SECONDS = 30.0

_ENDED = "What is finished is stored. See Ray's logs for why, and go on with `nws resume`."


class _Look:
    """A question to the GCS, in a thread of its own: without a GCS there is no answer."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.nodes: list[dict[str, Any]] | None = None
        threading.Thread(target=self._ask, name="lifeline", daemon=True).start()

    def _ask(self) -> None:
        with contextlib.suppress(RayError, OSError, RuntimeError):
            self.nodes = ray.nodes()  # type: ignore[no-untyped-call]


class Lifeline:
    """Asks the GCS every few seconds whether the raylet of this driver lives."""

    def __init__(self) -> None:
        self._look: _Look | None = None

    def check(self) -> None:
        """Ask, if it is time to, without waiting for the answer.

        Raises:
            ClusterError: the last answer was that it is dead, or there has been none for long. No function of Ray
                should be called any more.
        """
        look = self._look
        silent = time.monotonic() - look.began if look else 0.0
        if look is not None and look.nodes is None:
            if silent > _GCS_PATIENCE_SECONDS:
                raise ClusterError(
                    f"The GCS of Ray has not answered for {silent:.0f} s: its process gcs_server was killed or hangs, "
                    f"and the cluster cannot go on without it. {_ENDED}"
                )
        elif look is None or silent > _SECONDS_BETWEEN_LOOKS:
            if look is not None and look.nodes is not None:
                _require_raylet(look.nodes)
            self._look = _Look()


def _require_raylet(nodes: list[dict[str, Any]]) -> None:
    own = ray.get_runtime_context().get_node_id()
    for node in nodes:
        if node["NodeID"] == own and not node["Alive"]:
            why = node.get("DeathReasonMessage") or "no reason is given"
            raise ClusterError(
                f"The raylet of Ray on this machine ({node['NodeManagerHostname']}) has died ({why}): no actor can be "
                f"started any more. {_ENDED}"
            )
