"""Monitors of an actor pool (the start of actors, stuck tasks, and Ray itself), and the meaning of Ray's errors.

This module imports ray: see `actor_pool`.
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

# A task may take this many times the usual time for its size.
_TIMES_THE_USUAL = 20
# The usual time is the median of this many tasks.
_REMEMBERED = 200
# Before the first task has come back, one may take this many times the floor, as the machine's speed is unknown.
_TIMES_THE_FLOOR = 6

_ENDED = "Finished results are stored. Look for the cause in Ray's logs, and resume the run with `nws resume`."


# Errors after which the work can be sent again: a process or a machine died.
FAULTS = (
    ActorDiedError,
    ActorUnavailableError,
    LocalRayletDiedError,
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    WorkerCrashedError,
)
# Errors after which an actor is replaced: it died, or its device failed, with all that the process has there.
Fault: TypeAlias = RayError | DeviceError
_LONGEST_MESSAGE = 600


class ActorStuckError(RayError):
    """An actor has not answered for so long that it counts as dead (an error of NWS, not of Ray)."""


def loss(fault: Fault, node: str, charged: bool) -> LostTask:
    """Return the loss of a task by a fault, for the dispatcher."""
    prefix = "out of memory: " if isinstance(fault, OutOfMemoryError) else ""
    return LostTask(type(fault).__name__, prefix + one_line(fault), node, charged)


def segments_loss(error: RayTaskError) -> LostTask:
    """Return the loss of a task whose segments never reached its actor, which lives.

    Raises:
        NwsError: the error is another one, which is not an article's fault.
    """
    if isinstance(error.cause, FAULTS):
        return loss(error.cause, "unknown", charged=True)
    if isinstance(error.cause, NwsError):
        raise error.cause from error
    raise ClusterError(f"The work failed: {type(error.cause).__name__}: {error.cause}") from error


def lost_its_node(fault: Fault) -> bool:
    """Return whether an actor ended only because its machine did, which only the text of Ray's error says."""
    return "its node has died" in str(fault) or getattr(fault, "preempted", False)


def one_line(error: Fault) -> str:
    """Return an error's message on one line, of limited length."""
    return " ".join(str(error).split())[:_LONGEST_MESSAGE]


class StartupMonitor:
    """A monitor of actors that load their models: it counts those that die, and warns if it takes long.

    `device` describes the resources of each actor.
    """

    def __init__(self, device: str, patience_seconds: float) -> None:
        self._device = device
        self._patience_seconds = patience_seconds
        self._deaths = 0
        self._silent_since = time.monotonic()

    def loaded(self) -> None:
        """Note that an actor has loaded its models."""
        self._deaths = 0

    def died(self, fault: Fault) -> None:
        """Note that an actor died before its models were loaded.

        Raises:
            ClusterError: several in a row died, or Ray could not start this one at all.
        """
        # The end of a machine, which may end any number of actors, does not count.
        self._deaths += not lost_its_node(fault)
        if self._deaths >= _MAX_STARTUP_DEATHS or getattr(fault, "actor_init_failed", False):
            raise ClusterError(
                f"{self._deaths} actors in a row died while they loaded their models, with {self._device} each. "
                f"If memory is short, use fewer actors (`--actors`). The last error: {one_line(fault)}"
            ) from fault

    def look(self, is_silent: bool, unready: int) -> None:
        """Warn each time that nothing has happened for `patience_seconds` while actors are not ready."""
        if is_silent and time.monotonic() - self._silent_since < self._patience_seconds:
            return
        self._silent_since = time.monotonic()
        if is_silent and unready:
            logger.warning(
                "Nothing has happened for %.0f s. %d actors wait for %s each, or are still loading their models.",
                self._patience_seconds, unready, self._device,
            )  # fmt: skip


class StuckTaskDetector:
    """A detector of stuck tasks, which compares the time for a task's size with that of other tasks of its kind.

    The size of a task is the number of characters of its articles.

    Args:
        floor_seconds: the seconds that any task may take.
    """

    def __init__(self, floor_seconds: float) -> None:
        self._floor_seconds = floor_seconds
        self._seconds_for_one: deque[float] = deque(maxlen=_REMEMBERED)

    def came_back(self, size: int, seconds: float) -> None:
        """Note the seconds that a task took."""
        self._seconds_for_one.append(seconds / max(size, 1))

    def is_stuck(self, size: int, seconds: float) -> bool:
        """Return whether a task that has not come back for this many seconds is stuck."""
        if seconds <= self._floor_seconds:  # nearly always, so that no median has to be computed
            return False
        if not self._seconds_for_one:
            return seconds > _TIMES_THE_FLOOR * self._floor_seconds
        return seconds > _TIMES_THE_USUAL * statistics.median(self._seconds_for_one) * max(size, 1)


class ClusterHealth:
    """A monitor that asks the GCS every few seconds whether the raylet of this driver lives.

    If the raylet dies, Ray itself says nothing, and new actors wait for ever. If the GCS is gone, Ray ends the driver
    after a minute, in C++, without an exception.

    Args:
        look_seconds: the seconds between two questions.
        gcs_patience_seconds: the seconds that an answer may take: half of Ray's own limit. A GCS that keeps its state
            elsewhere may be restarted meanwhile.
    """

    def __init__(self, look_seconds: float = 5.0, gcs_patience_seconds: float = 30.0) -> None:
        self._look_seconds = look_seconds
        self._gcs_patience_seconds = gcs_patience_seconds
        self._asked_at: float | None = None
        self._nodes: list[dict[str, Any]] | None = None

    def check(self) -> None:
        """Ask if it is time to, without waiting for the answer.

        Raises:
            ClusterError: the last answer said that the raylet is dead, or there was no answer for too long. No function
                of Ray should be called any more.
        """
        silent = 0.0 if self._asked_at is None else time.monotonic() - self._asked_at
        if self._asked_at is not None and self._nodes is None:
            if silent > self._gcs_patience_seconds:
                raise ClusterError(
                    f"The GCS of Ray has not answered for {silent:.0f} s. Its process gcs_server was killed or hangs, "
                    f"and the cluster cannot go on without it. {_ENDED}"
                )
        elif self._asked_at is None or silent > self._look_seconds:
            _require_raylet(self._nodes or [])
            self._asked_at, self._nodes = time.monotonic(), None
            # In a thread, since without a GCS there is no answer.
            threading.Thread(target=self._ask, name="cluster-health", daemon=True).start()

    def _ask(self) -> None:
        with contextlib.suppress(RayError, OSError, RuntimeError):
            self._nodes = ray.nodes()  # type: ignore[no-untyped-call]


def _require_raylet(nodes: list[dict[str, Any]]) -> None:
    for node in nodes:
        if node["NodeID"] == ray.get_runtime_context().get_node_id() and not node["Alive"]:
            why = node.get("DeathReasonMessage") or "no reason is given"
            raise ClusterError(
                f"The raylet of Ray on this machine ({node['NodeManagerHostname']}) has died ({why}), so no actor can "
                f"be started any more. {_ENDED}"
            )
