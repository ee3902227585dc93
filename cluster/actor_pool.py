"""A pool of actors on Ray: their starts and deaths, their calls, and Ray's errors about them.

Import this module inside a session only: it imports ray, whose switches the session must set first.
"""

import functools
import logging
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from nws.cluster.dispatcher import STUCK_SECONDS, Actors, Task, WorkerInfo
from nws.cluster.monitors import (
    FAULTS,
    ActorStuckError,
    ClusterHealth,
    Fault,
    StartupMonitor,
    StuckTaskDetector,
    loss,
    lost_its_node,
    one_line,
    segments_loss,
)
from nws.cluster.resources import ActorResources
from nws.core.errors import ClusterError, DeviceError

logger = logging.getLogger(__name__)

# An actor that is not ready after this time is missing. Models usually take less time to load.
_MISSING_SECONDS = 30.0
# After this many errors of devices in a row, the run stops. One article causes at most four: three with its bundle and
# one alone (`nws.cluster.pools._BundleBacklog`). So two faulty articles, one after the other, do not stop it.
_MAX_DEVICE_ERRORS = 9
# The longest time that `wait` takes, so that the caller can look around; and the silence that causes a warning.
_POLL_SECONDS = 5.0
_PATIENCE_SECONDS = 60.0
# How long to wait for the calls of a killed actor, whose results may still be on their way.
_SETTLE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Call:
    """A task that was sent to a method. `before` is the ObjectRef of its argument, if a Ray task makes the argument."""

    task: Task
    method: str
    before: Any


@dataclass(eq=False, slots=True)
class Slot:
    """An actor and its calls.

    Attributes:
        number: the number of the slot, which a new actor in it keeps.
        actor: the Ray actor.
        since: the time when the actor was requested.
        worker: the worker; None until its models are loaded.
        calls: the calls in the order of sending, by the ObjectRefs of their answers.
        turn: the time when the actor started the first of its calls.
    """

    number: int
    actor: Any
    since: float
    worker: WorkerInfo | None = None
    calls: dict[Any, Call] = field(default_factory=dict)
    turn: float = 0.0

    def send(self, call: Call) -> Any:
        """Send a call. Returns the ObjectRef of its answer."""
        if not self.calls:
            self.turn = time.monotonic()
        ref = getattr(self.actor, call.method).remote(call.task.argument if call.before is None else call.before)
        self.calls[ref] = call
        return ref

    def came_back(self, ref: Any) -> tuple[Call, float]:
        """Remove a call that has an answer. Returns it, and the seconds that the actor worked on it."""
        now = time.monotonic()
        seconds, self.turn = now - self.turn, now
        return self.calls.pop(ref), seconds

    @property
    def current_call(self) -> tuple[Call, float] | None:
        """The call that the actor works on, and for how long it has."""
        first = next(iter(self.calls.values()), None)
        return (first, time.monotonic() - self.turn) if first else None

    def end_calls(self) -> set[Any]:
        """Wait for the answers that are on their way from a killed actor, and end the Ray tasks of its other calls.

        Returns the calls that had begun.
        """
        tasks = [call.before for call in self.calls.values() if call.before is not None]
        done = set(ray.wait(tasks, num_returns=len(tasks), timeout=0, fetch_local=False)[0]) if tasks else set()
        begun = [ref for ref, call in self.calls.items() if call.before is None or call.before in done]
        for task in set(tasks) - done:  # their calls will be sent again, each with a new Ray task
            ray.cancel(task, force=True)
        if begun:
            ray.wait(begun, num_returns=len(begun), timeout=_SETTLE_SECONDS)
        return set(begun)


class ActorPool(Actors):
    """A fixed number of actors, each with its tasks in the order of sending. An actor that dies is replaced.

    There are no actors before `start` and after `close`, which may be called twice.

    Args:
        actor_class: the class of the actors. Its constructor takes `factory`, and its method `build` loads the models
            and returns the `WorkerInfo`.
        factory: a picklable function that is called once in each actor.
        resources: the resources of each actor.
        actors: the number of actors.
        task_before: a function that sends a Ray task, which turns an argument into that of the actor's method; None for
            no such task.
        stuck_seconds: the seconds that any task may take, see `StuckTaskDetector`. A stuck actor is replaced.
    """

    def __init__(
        self,
        actor_class: type,
        factory: Callable[[], object],
        resources: ActorResources,
        actors: int,
        task_before: Callable[[Any], Any] | None = None,
        stuck_seconds: float = STUCK_SECONDS,
    ) -> None:
        self.device = resources.describe()
        self._actors = actors
        # Ray does not restart them, since this pool replaces them.
        pinning: Any = ray.remote(actor_class).options(
            **asdict(resources), max_restarts=0, max_task_retries=0, enable_task_events=False
        )
        self._new_actor = functools.partial(pinning.remote, factory)
        self._task_before = task_before
        self._health = ClusterHealth()
        self._device_errors = 0  # since the last task that an actor completed
        self._detectors: defaultdict[str, StuckTaskDetector] = defaultdict(lambda: StuckTaskDetector(stuck_seconds))
        self._slots: list[Slot] = []
        # By the ObjectRef that is waited for: that of loaded models, or of the answer to a call.
        self._slot_of: dict[Any, Slot] = {}

    def __len__(self) -> int:
        return self._actors

    @property
    def workers(self) -> tuple[WorkerInfo, ...]:
        return tuple(sorted({slot.worker for slot in self._slots if slot.worker}))

    @property
    def tasks(self) -> dict[int, list[Task]]:
        return {slot.number: [call.task for call in slot.calls.values()] for slot in self._slots if slot.worker}

    @property
    def missing(self) -> list[int]:
        now = time.monotonic()
        return [slot.number for slot in self._slots if slot.worker is None and now - slot.since > _MISSING_SECONDS]

    def start(self) -> None:
        if self._slots:
            return
        self._startup = StartupMonitor(self.device, _PATIENCE_SECONDS)
        if self._task_before:
            # Tasks without work, which load what they need while the actors load their models.
            for _ in range(self._actors):
                self._task_before(())
        while len(self._slots) < self._actors:
            self._slots.append(self._new_slot(len(self._slots)))

    def _new_slot(self, number: int) -> Slot:
        slot = Slot(number, self._new_actor(), time.monotonic())
        self._slot_of[slot.actor.build.remote()] = slot
        return slot

    def send(self, number: int, method: str, task: Task) -> None:
        slot = self._slots[number]
        call = Call(task, method, self._task_before(task.argument) if self._task_before else None)
        self._slot_of[slot.send(call)] = slot

    def wait(self) -> list[tuple[Task, Any]]:
        try:
            self._health.check()
        except ClusterError:
            self._slots, self._slot_of = [], {}  # otherwise `close` would wait for an answer of dead actors
            raise
        refs = list(self._slot_of)
        ready, _ = ray.wait(refs, num_returns=1, timeout=_POLL_SECONDS)
        if ready:  # take everything that is ready by now
            ready, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
        self._startup.look(not ready, sum(slot.worker is None for slot in self._slots))
        outcomes = [outcome for ref in ready for outcome in self._land(ref)]
        # Checked after taking answers, which may have waited while the driver was busy elsewhere.
        return outcomes + [outcome for slot in list(self._slots) for outcome in self._replace_if_stuck(slot)]

    def _land(self, ref: Any) -> list[tuple[Task, Any]]:
        slot = self._slot_of.pop(ref, None)
        if slot is None:  # its actor was replaced a moment ago
            return []
        try:
            value = ray.get(ref)
        except RayTaskError as error:  # before FAULTS, since Ray makes it an instance of its cause, too
            if isinstance(error.cause, DeviceError):
                return self._replace_after(slot, error.cause)
            lost = segments_loss(error)
            return [(slot.came_back(ref)[0].task, lost)]
        except FAULTS as fault:
            return self._replace(slot, fault)
        except RayError as error:
            raise ClusterError(f"Ray cannot go on: {one_line(error)}") from error
        if ref in slot.calls:
            call, seconds = slot.came_back(ref)
            self._detectors[call.method].came_back(call.task.size, seconds)
            self._device_errors = 0
            return [(call.task, value)]
        slot.worker = value
        self._startup.loaded()
        return []

    def _replace_if_stuck(self, slot: Slot) -> list[tuple[Task, Any]]:
        if not (slot.worker and (current := slot.current_call)):
            return []
        call, seconds = current
        size, detector = call.task.size, self._detectors[call.method]
        if not detector.is_stuck(size, seconds):
            return []
        reason = f"no answer for {seconds:.0f} s to a call {call.method!r} about {size} characters"
        logger.warning("Actor %d on %s is stuck: %s. It is replaced.", slot.number, slot.worker.node, reason)
        return self._replace(slot, ActorStuckError(reason))

    def _replace_after(self, slot: Slot, error: DeviceError) -> list[tuple[Task, Any]]:
        """Replace an actor whose device failed, since only a new process is sure to work again."""
        node = slot.worker.node if slot.worker else "a machine that was loading models"
        self._device_errors += 1
        if self._device_errors >= _MAX_DEVICE_ERRORS:
            raise DeviceError(
                f"{self._device_errors} errors of GPUs in a row, and new actors did not help. The last one, on {node}: "
                f"{error} Then resume the run. Stored results stay."
            ) from error
        logger.warning("Actor %d on %s is replaced: %s", slot.number, node, error)
        return self._replace(slot, error)

    def _replace(self, slot: Slot, fault: Fault) -> list[tuple[Task, Any]]:
        """Replace a dead actor. Returns the tasks of the old one: done, the one it died of, and those that waited."""
        if slot.worker is None:
            self._startup.died(fault)
        ray.kill(slot.actor, no_restart=True)  # it may only be unavailable, or stopped
        self._slots[slot.number] = self._new_slot(slot.number)
        begun = slot.end_calls()
        node = slot.worker.node if slot.worker else "unknown"
        outcomes: list[tuple[Task, Any]] = []
        first = True
        for ref, call in slot.calls.items():
            self._slot_of.pop(ref, None)
            try:
                outcomes.append((call.task, ray.get(ref, timeout=0)))
            except RayTaskError as error:
                if isinstance(error.cause, DeviceError):  # only the first task met a device that worked
                    outcomes.append((call.task, loss(error.cause, node, charged=first)))
                    first = False
                else:
                    outcomes.append((call.task, segments_loss(error)))
            except (*FAULTS, GetTimeoutError):
                # Actors work in the order of sending, so the actor died of the first call without an answer, unless an
                # answer was still on its way. Only a call that had the actor to itself is charged beyond doubt.
                has_begun = ref in begun or isinstance(fault, ActorStuckError)
                charged = first and has_begun and not lost_its_node(fault)
                outcomes.append((call.task, loss(fault, node, charged)))
                first = False
        return outcomes

    def close(self) -> None:
        # After the end of the session, any call would start a new Ray.
        if ray.is_initialized():
            for slot in self._slots:
                ray.kill(slot.actor, no_restart=True)
                for call in slot.calls.values():
                    if call.before is not None:
                        # Not by force: if its answer is just arriving, Ray would end this process, too.
                        ray.cancel(call.before)
        self._slots, self._slot_of = [], {}
