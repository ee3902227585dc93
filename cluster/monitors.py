"""Monitors of an actor pool: of its actors' start, of stuck tasks, and of Ray itself; and what Ray's errors mean.

It imports ray: see `actor_pool`.
"""

import contextlib
import logging
import statistics
import threading
import time
from collections import deque
from typing import Any, TypeAlias

import ray
from ray.exceptions import (
    ActorDiedError,
    ActorUnavailableError,
    LocalRayletDiedError,
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    RayError,
    RayTaskError,
    WorkerCrashedError,
)

from nws.cluster.dispatcher import LostTask
from nws.core.errors import ClusterError, DeviceError, NwsError

logger = logging.getLogger(__name__)

_MAX_STARTUP_DEATHS = 3

# A task may take so many times what is usual for its size, …
_TIMES_THE_USUAL = 20
# … which is the median of so many tasks, …
_REMEMBERED = 200
# … and so many times the floor while none has come back: nobody knows yet how fast this machine is.
_TIMES_THE_FLOOR = 6

_ENDED = "What is finished is stored. See Ray's logs for why, and resume the run with `nws resume`."


# A process or a machine died; the work can be sent again.
FAULTS = (
    ActorDiedError,
    ActorUnavailableError,
    LocalRayletDiedError,
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    WorkerCrashedError,
)
# What an actor is replaced for: it died, or its device failed, and with it all that the process has there.
Fault: TypeAlias = RayError | DeviceError
_LONGEST_MESSAGE = 600


class ActorStuckError(RayError):
    """Ours, not Ray's: an actor has not answered for so long that it is taken for dead."""


def loss(fault: Fault, node: str, charged: bool) -> LostTask:
    """The loss of a task by a fault, as the dispatcher gets it."""
    prefix = "out of memory: " if isinstance(fault, OutOfMemoryError) else ""
    return LostTask(type(fault).__name__, prefix + one_line(fault), node, charged)


def segments_loss(error: RayTaskError) -> LostTask:
    """The error that a living actor reports: its segments never came, or the error is no article's fault.

    Raises:
        NwsError: of the latter kind.
    """
    if isinstance(error.cause, FAULTS):
        return loss(error.cause, "unknown", charged=True)
    if isinstance(error.cause, NwsError):
        raise error.cause from error
    raise ClusterError(f"The work cannot be run: {type(error.cause).__name__}: {error.cause}") from error


def lost_its_node(fault: Fault) -> bool:
    """Whether an actor ended only because its machine did. Only the text of Ray's error tells."""
    return "its node has died" in str(fault) or getattr(fault, "preempted", False)


def one_line(error: Fault) -> str:
    """Its message, of bounded length."""
    return " ".join(str(error).split())[:_LONGEST_MESSAGE]


class StartupMonitor:
    """Watches actors load their models: counts those that die meanwhile, and warns if it takes long.

    `device` is what each of them pins, in words.
    """

    def __init__(self, device: str, patience_seconds: float) -> None:
        self._device = device
        self._patience_seconds = patience_seconds
        self._deaths = 0
        self._silent_since = time.monotonic()

    def loaded(self) -> None:
        """An actor has loaded its models."""
        self._deaths = 0

    def died(self, fault: Fault) -> None:
        """An actor died before.

        Raises:
            ClusterError: so did several in a row, or Ray could not start it at all.
        """
        # A machine may take any number of them with it.
        self._deaths += not lost_its_node(fault)
        if self._deaths >= _MAX_STARTUP_DEATHS or getattr(fault, "actor_init_failed", False):
            raise ClusterError(
                f"{self._deaths} actors in a row died while they loaded their models, with {self._device} each. "
                f"If memory is short, ask for fewer (`--actors`). The last error: {one_line(fault)}"
            ) from fault

    def look(self, is_silent: bool, unready: int) -> None:
        """Say each time that nothing has happened for as long as our patience lasts, while actors are awaited."""
        if is_silent and time.monotonic() - self._silent_since < self._patience_seconds:
            return
        self._silent_since = time.monotonic()
        if is_silent and unready:
            logger.warning(
                "Nothing has happened for %.0f s: %d actors wait for %s each, or still load their models.",
                self._patience_seconds, unready, self._device,
            )  # fmt: skip


class StuckTaskDetector:
    """Decides whether a task is stuck or only takes long, by the time per size of others of its kind.

    Sizes are in characters of the articles that a task is about.

    Args:
        floor_seconds: seconds that any task may take.
    """

    def __init__(self, floor_seconds: float) -> None:
        self._floor_seconds = floor_seconds
        self._seconds_for_one: deque[float] = deque(maxlen=_REMEMBERED)

    def came_back(self, size: int, seconds: float) -> None:
        """Note how many seconds a task took."""
        self._seconds_for_one.append(seconds / max(size, 1))

    def is_stuck(self, size: int, seconds: float) -> bool:
        """Whether a task that has not come back for this many seconds is stuck."""
        if seconds <= self._floor_seconds:  # nearly always: nothing has to be computed
            return False
        if not self._seconds_for_one:
            return seconds > _TIMES_THE_FLOOR * self._floor_seconds
        return seconds > _TIMES_THE_USUAL * statistics.median(self._seconds_for_one) * max(size, 1)


class ClusterHealth:
    """Asks the GCS every few seconds whether the raylet of this driver lives.

    Ray itself says nothing when that dies: actors that are asked for wait for ever. When its GCS is gone, it ends the
    driver after a minute, in C++, without an exception.

    Args:
        look_seconds: between two questions.
        gcs_patience_seconds: how long an answer may take. Half of what Ray itself has patience for: a GCS may be
            started again where it keeps its state elsewhere.
    """

    def __init__(self, look_seconds: float = 5.0, gcs_patience_seconds: float = 30.0) -> None:
        self._look_seconds = look_seconds
        self._gcs_patience_seconds = gcs_patience_seconds
        self._asked_at: float | None = None
        self._nodes: list[dict[str, Any]] | None = None

    def check(self) -> None:
        """Ask, if it is time to, without waiting for the answer.

        Raises:
            ClusterError: the last answer was that it is dead, or there has been none for long. No function of Ray
                should be called any more.
        """
        silent = 0.0 if self._asked_at is None else time.monotonic() - self._asked_at
        if self._asked_at is not None and self._nodes is None:
            if silent > self._gcs_patience_seconds:
                raise ClusterError(
                    f"The GCS of Ray has not answered for {silent:.0f} s: its process gcs_server was killed or hangs, "
                    f"and the cluster cannot go on without it. {_ENDED}"
                )
        elif self._asked_at is None or silent > self._look_seconds:
            _require_raylet(self._nodes or [])
            self._asked_at, self._nodes = time.monotonic(), None
            # In a thread of its own: without a GCS there is no answer.
            threading.Thread(target=self._ask, name="cluster-health", daemon=True).start()

    def _ask(self) -> None:
        with contextlib.suppress(RayError, OSError, RuntimeError):
            self._nodes = ray.nodes()  # type: ignore[no-untyped-call]


def _require_raylet(nodes: list[dict[str, Any]]) -> None:
    for node in nodes:
        if node["NodeID"] == ray.get_runtime_context().get_node_id() and not node["Alive"]:
            why = node.get("DeathReasonMessage") or "no reason is given"
            raise ClusterError(
                f"The raylet of Ray on this machine ({node['NodeManagerHostname']}) has died ({why}): no actor can be "
                f"started any more. {_ENDED}"
            )
