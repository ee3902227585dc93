"""The actors of a pool: their starts and deaths, their calls, and Ray's errors about them.

Import it inside a session: it imports ray, whose switches the session sets first.
"""

import itertools
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import ray
from ray.exceptions import ActorAlreadyExistsError, GetTimeoutError, RayError, RayTaskError

from cluster.births import Births
from cluster.faults import FAULTS, ActorStuckError, Fault, loss, lost_its_node, one_line, segments_loss
from cluster.lifeline import Lifeline
from cluster.pace import STUCK_SECONDS, Pace
from cluster.resources import ActorResources
from cluster.seat import Call, Seat, pinning
from cluster.worker import Busy, Worker
from core.errors import ClusterError, DeviceError

logger = logging.getLogger(__name__)

# After how long an actor that is not ready is missed: longer than models usually take.
_MISSING_SECONDS = 30.0
# How many errors of devices in a row stop the run. One article causes four at most: three with its bundle and one
# alone (`ray_pool._Backlog`). So two guilty articles that come one after the other do not stop it.
_MAX_DEVICE_ERRORS = 9


class Fleet:
    """A fixed number of actors, numbered from 0, each with its calls in order of sending; one that dies is replaced.

    There are none before `start` and after `close`.

    Args:
        actor_class: its constructor takes `factory`; its method `build` loads the models and returns the `Worker`.
        factory: picklable, called once in each actor.
        names: of the actors, without end. A name that is still taken is skipped.
        resources: what each actor pins.
        actors: how many.
        task_before: sends a Ray task that turns an argument into what the actor is called with; None for no such task.
        stuck_seconds: how long any call may take, see `cluster.pace`. An actor that is stuck is replaced.
        poll_seconds: how long `wait` lasts at most, so that the caller can look around.
        patience_seconds: after how many seconds without news a warning is logged.
    """

    def __init__(
        self,
        actor_class: type,
        factory: Callable[[], object],
        names: Iterator[str],
        resources: ActorResources,
        actors: int,
        task_before: Callable[[Any], Any] | None = None,
        stuck_seconds: float = STUCK_SECONDS,
        poll_seconds: float = 5.0,
        patience_seconds: float = 60.0,
    ) -> None:
        self.resources = resources
        self.actors = actors
        self._options = pinning(actor_class, resources)
        self._factory = factory
        self._names = names
        self._task_before = task_before
        self._poll_seconds = poll_seconds
        self._births = Births(resources, actors, patience_seconds)
        self._lifeline = Lifeline()
        self._device_errors = 0  # since the last call that an actor answered
        self._paces: defaultdict[str, Pace] = defaultdict(lambda: Pace(stuck_seconds))
        self._tickets = itertools.count()
        self._seats: list[Seat] = []
        # By what is waited for: that the models are loaded, or the answer to a call.
        self._seat_of: dict[Any, Seat] = {}

    def start(self) -> None:
        """Start the actors, unless they have been started. Meanwhile the processes of their tasks start, too."""
        if not self._seats:
            self._births.begin()
            if self._task_before:
                # Without work: they load what they need while the actors load their models.
                for _ in range(self.actors):
                    self._task_before(())
        while len(self._seats) < self.actors:
            self._seats.append(self._seat(len(self._seats)))

    def _seat(self, number: int) -> Seat:
        seat = Seat(number, self._new_actor(), time.monotonic())
        self._seat_of[seat.actor.build.remote()] = seat
        return seat

    def _new_actor(self) -> Any:
        for name in self._names:
            try:
                return self._options(name=name).remote(self._factory)
            except ActorAlreadyExistsError:  # of an earlier driver of this run, whose end Ray has not seen yet
                continue
        raise AssertionError("names do not end")

    @property
    def workers(self) -> tuple[Worker, ...]:
        """See `Pool.workers`."""
        return tuple(sorted({seat.worker for seat in self._seats if seat.worker}))

    @property
    def busy(self) -> tuple[Busy, ...]:
        """See `Pool.busy`."""
        return tuple(Busy(seat.number, seat.worker, seat.busy_seconds) for seat in self._seats if seat.worker)

    @property
    def loads(self) -> dict[int, int]:
        """The numbers of the actors whose models are loaded, each with how many calls it has."""
        return {seat.number: len(seat.calls) for seat in self._seats if seat.worker}

    @property
    def missing(self) -> list[int]:
        """The numbers of the actors that should have been ready for some time."""
        now = time.monotonic()
        return [s.number for s in self._seats if s.worker is None and now - s.since > _MISSING_SECONDS]

    def send(self, number: int, method: str, argument: Any, size: int) -> int:
        """Call an actor whose models are loaded. Returns the ticket by which `wait` names the call.

        `size` is in characters of the articles that the call is about.
        """
        seat = self._seats[number]
        call = Call(next(self._tickets), method, size, self._task_before(argument) if self._task_before else None)
        self._seat_of[seat.send(call, argument)] = seat
        return call.ticket

    def wait(self) -> list[tuple[int, Any]]:
        """Wait until something happens: by their tickets, calls with their answers, or a `Loss` where an actor died.

        The list is empty if an actor only got ready, or if nothing happens for a few seconds.

        Raises:
            DeviceError: devices failed again and again, and new actors did not help.
            NwsError: a factory or the work itself failed (its own error, where it is an NwsError), actors keep dying
                before their models are loaded, or Ray itself has died.
        """
        self._require_ray()
        ready = _wait_for_any(list(self._seat_of), self._poll_seconds)
        if ready:
            self._births.heard()
        else:
            self._births.explain_silence(sum(seat.worker is None for seat in self._seats))
        outcomes = [outcome for ref in ready for outcome in self._land(ref)]
        # After that: answers may have waited while the driver was busy elsewhere.
        return outcomes + [outcome for seat in list(self._seats) for outcome in self._replace_if_stuck(seat)]

    def _require_ray(self) -> None:
        try:
            self._lifeline.check()
        except ClusterError:
            self._seats, self._seat_of = [], {}  # `close` would wait for an answer of the dead
            raise

    def _land(self, ref: Any) -> list[tuple[int, Any]]:
        seat = self._seat_of.pop(ref, None)
        if seat is None:  # it came down with its actor a moment ago
            return []
        try:
            value = ray.get(ref)
        except RayTaskError as error:  # first: Ray makes it an instance of its cause, too
            if isinstance(error.cause, DeviceError):
                return self._replace_after(seat, error.cause)
            lost = segments_loss(error)
            return [(seat.came_back(ref)[0].ticket, lost)]
        except FAULTS as fault:
            return self._bury(seat, fault)
        except RayError as error:
            raise ClusterError(f"Ray cannot go on: {one_line(error)}") from error
        if ref in seat.calls:
            call, seconds = seat.came_back(ref)
            self._paces[call.method].came_back(call.size, seconds)
            self._device_errors = 0
            return [(call.ticket, value)]
        seat.worker = value
        self._births.born()
        return []

    def _replace_if_stuck(self, seat: Seat) -> list[tuple[int, Any]]:
        if not (seat.worker and (at_work := seat.at_work)):
            return []
        call, seconds = at_work
        pace = self._paces[call.method]
        if not pace.is_stuck(call.size, seconds):
            return []
        usual = pace.usual_seconds(call.size)
        reason = f"no answer for {seconds:.0f} s to a call {call.method!r} of {call.size} characters"
        reason += f", which usually takes {usual:.1f} s" if usual is not None else ", the first of its kind"
        logger.warning("Actor %d on %s is stuck: %s. It is replaced.", seat.number, seat.worker.node, reason)
        return self._bury(seat, ActorStuckError(reason))

    def _replace_after(self, seat: Seat, error: DeviceError) -> list[tuple[int, Any]]:
        """Replace an actor whose device failed. What the process has there may be lost, and only a new one is sound."""
        node = seat.worker.node if seat.worker else "a machine that loads models"
        self._device_errors += 1
        if self._device_errors >= _MAX_DEVICE_ERRORS:
            raise DeviceError(
                f"{self._device_errors} errors of GPUs in a row, and new actors did not help. The last one, on {node}: "
                f"{error} Then resume the run: what is stored stays."
            ) from error
        logger.warning("Actor %d on %s is replaced: %s", seat.number, node, error)
        return self._bury(seat, error)

    def _bury(self, seat: Seat, fault: Fault) -> list[tuple[int, Any]]:
        """Replace a dead actor and settle its calls: those that were done, the one it died of, those behind it."""
        if seat.worker is None:
            self._births.stillborn(fault)
        seat.kill()
        self._seats[seat.number] = self._seat(seat.number)
        begun = seat.settle()
        node = seat.worker.node if seat.worker else "unknown"
        outcomes: list[tuple[int, Any]] = []
        first = True
        for ref, call in seat.calls.items():
            self._seat_of.pop(ref, None)
            try:
                outcomes.append((call.ticket, ray.get(ref, timeout=0)))
            except RayTaskError as error:
                if isinstance(error.cause, DeviceError):  # only the first met a device that was sound
                    outcomes.append((call.ticket, loss(error.cause, node, charged=first)))
                    first = False
                else:
                    outcomes.append((call.ticket, segments_loss(error)))
            except (*FAULTS, GetTimeoutError):
                # Actors work in the order of sending, so it died of the first that is missing, unless an answer was
                # still on its way: only a call that had the actor for itself is charged beyond doubt.
                at_work = ref in begun or isinstance(fault, ActorStuckError)
                charged = first and at_work and not lost_its_node(fault)
                outcomes.append((call.ticket, loss(fault, node, charged)))
                first = False
        return outcomes

    def close(self) -> None:
        """Kill these actors and the tasks before their calls, and nothing else. May be called twice."""
        # Any call would start a Ray of its own if the session is over.
        if ray.is_initialized():
            for seat in self._seats:
                seat.kill()
                for call in seat.calls.values():
                    if call.task is not None:
                        ray.cancel(call.task, force=True)
        self._seats, self._seat_of = [], {}


def _wait_for_any(refs: list[Any], seconds: float) -> list[Any]:
    """Wait for the first of them. Returns all that are ready then."""
    ready, _ = ray.wait(refs, num_returns=1, timeout=seconds)
    if ready:
        ready, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
    return list(ready)
