"""The actors of one run, and what Ray says about them.

Import it inside a session: it imports ray, whose switches the session sets first.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import ray
from ray import cloudpickle
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from cluster.actors import SweepActor, segment
from cluster.faults import FAULTS, loss, lost_its_node, one_line, segments_loss
from cluster.fleet import Births, pinning, start_named, wait_for_any
from cluster.loss import Loss
from cluster.pool import Work
from cluster.progress_metrics import Progress
from cluster.resources import ActorResources
from cluster.worker import Worker
from core.errors import ClusterError
from core.types import Article, BundleResult, Landed

# How long a caller waits at most before it can look around, and after how long a silence is worth a word.
_POLL_SECONDS = 5.0
_PATIENCE_SECONDS = 60.0
_BURIAL_SECONDS = 30.0

# Of the actors of this process: no name is used twice, though an actor may be gone before its name is.
_NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True)
class _Call:
    ticket: int
    segments: Any  # the ObjectRef of the segmented bundle


@dataclass(eq=False, slots=True)
class _Seat:
    """One actor as the driver sees it.

    `worker` is None until its models are loaded. `calls` are in order of sending. `taken` while it works for a bundle
    that wants it for itself.
    """

    actor: Any
    building: Any
    worker: Worker | None = None
    calls: dict[Any, _Call] = field(default_factory=dict)
    taken: bool = False

    def has_room(self, alone: bool, bundles: int) -> bool:
        if self.worker is None:
            return False
        return not self.calls or not (alone or self.taken or len(self.calls) >= bundles)


class Encoders:
    """A fixed number of `SweepActor`s, each with a few bundles in flight; one that dies is replaced."""

    def __init__(self, work: Work, resources: ActorResources, actors: int, bundles_per_actor: int) -> None:
        self._work = work
        self._bundles_per_actor = bundles_per_actor
        self._births = Births(resources)
        self._progress = Progress()
        self._tickets = itertools.count()
        self._pickled_factory: bytes = cloudpickle.dumps(work.make_segmenter)  # type: ignore[no-untyped-call]
        # Retries are counted by the pool, so Ray makes none. Task events would cost the driver 2 KB a task.
        self._segment = ray.remote(segment).options(
            name="segment",
            # Actors that pin the CPUs would leave none to wait for.
            num_cpus=1 if resources.num_gpus else 0,
            max_retries=0,
            scheduling_strategy="SPREAD",
            enable_task_events=False,
        )
        self._encoder = pinning(SweepActor, resources)
        self._seat_of: dict[Any, _Seat] = {}
        self._seats = [self._seat() for _ in range(actors)]

    def _seat(self) -> _Seat:
        actor = start_named("sweep", _NUMBERS, self._start)
        seat = _Seat(actor, actor.build.remote())
        self._seat_of[seat.building] = seat
        return seat

    def _start(self, name: str) -> Any:
        return self._encoder(name=name).remote(name, self._work.make_sweeper)

    @property
    def workers(self) -> tuple[str, ...]:
        """See `Pool.workers`."""
        return tuple(sorted({str(seat.worker) for seat in self._seats if seat.worker}))

    def count(self, landed: Sequence[Landed]) -> None:
        """Add what landed to the metrics of the run."""
        self._progress.count(landed)

    def _least_loaded(self, alone: bool) -> _Seat | None:
        free = (seat for seat in self._seats if seat.has_room(alone, self._bundles_per_actor))
        return min(free, key=lambda seat: len(seat.calls), default=None)

    def has_room(self, alone: bool) -> bool:
        """Whether a bundle can be sent now; `alone`: one that wants an actor for itself."""
        return self._least_loaded(alone) is not None

    def send(self, bundle: Sequence[Article], alone: bool) -> int:
        """Send a bundle to the least loaded actor; the ticket `wait` will name it by."""
        seat = self._least_loaded(alone)
        assert seat is not None, "send needs room"
        seat.taken = alone
        segments = self._segment.remote(self._pickled_factory, bundle)
        ref = seat.actor.sweep.options(name="sweep").remote(segments)
        ticket = next(self._tickets)
        seat.calls[ref] = _Call(ticket, segments)
        self._seat_of[ref] = seat
        return ticket

    def wait(self) -> list[tuple[int, BundleResult | Loss]]:
        """Wait until something happens: bundles that landed or were lost.

        None if only an actor got ready, or if nothing happens for a few seconds.

        Raises:
            NwsError: a factory of the work failed (its own error, where it is an NwsError), or actors keep dying
                before their models are loaded.
        """
        ready = wait_for_any(list(self._seat_of), _POLL_SECONDS)
        if ready:
            self._births.heard()
        else:
            unready = sum(seat.worker is None for seat in self._seats)
            self._births.explain_silence(unready, len(self._seats), _PATIENCE_SECONDS)
        return [outcome for ref in ready for outcome in self._land(ref)]

    def _land(self, ref: Any) -> list[tuple[int, BundleResult | Loss]]:
        seat = self._seat_of.pop(ref, None)
        if seat is None:  # it came down with its actor a moment ago
            return []
        try:
            value = ray.get(ref)
        except RayTaskError as error:  # first: Ray makes it an instance of its cause, too
            lost = segments_loss(error)
            return [(seat.calls.pop(ref).ticket, lost)]
        except FAULTS as fault:
            return self._bury(seat, fault) if ref in seat.calls else self._replace_stillborn(seat, fault)
        except RayError as error:
            raise ClusterError(f"Ray cannot go on: {one_line(error)}") from error
        if ref in seat.calls:
            return [(seat.calls.pop(ref).ticket, value)]
        seat.worker = value
        self._births.born()
        return []

    def _bury(self, seat: _Seat, fault: RayError) -> list[tuple[int, BundleResult | Loss]]:
        """Replace a dead actor and settle its bundles: those that were done, the one it died of, those behind it."""
        self._replace(seat)
        node = seat.worker.node if seat.worker else "unknown"
        reached = self._reached(seat)
        if reached:
            ray.wait(reached, num_returns=len(reached), timeout=_BURIAL_SECONDS)
        outcomes: list[tuple[int, BundleResult | Loss]] = []
        first = True
        for ref, call in seat.calls.items():
            self._seat_of.pop(ref, None)
            try:
                outcomes.append((call.ticket, ray.get(ref, timeout=0)))
            except RayTaskError as error:
                outcomes.append((call.ticket, segments_loss(error)))
            except (*FAULTS, GetTimeoutError):
                # Actors work in the order of sending, so it died of the first that is missing, unless a result was
                # still on its way: only a bundle that had the actor for itself is charged beyond doubt.
                outcomes.append(
                    (call.ticket, loss(fault, node, charged=first and ref in reached and not lost_its_node(fault)))
                )
                first = False
        return outcomes

    def _reached(self, seat: _Seat) -> list[Any]:
        """The calls that may have begun: a bundle that is still being segmented is not worth waiting for."""
        segments = [call.segments for call in seat.calls.values()]
        ready = set(ray.wait(segments, num_returns=len(segments), timeout=0, fetch_local=False)[0])
        return [ref for ref, call in seat.calls.items() if call.segments in ready]

    def _replace_stillborn(self, seat: _Seat, fault: RayError) -> list[tuple[int, BundleResult | Loss]]:
        self._births.stillborn(fault)
        self._replace(seat)
        return []

    def _replace(self, seat: _Seat) -> None:
        # An actor that is only unavailable may still live.
        ray.kill(seat.actor, no_restart=True)
        self._seats[self._seats.index(seat)] = self._seat()

    def close(self) -> None:
        """Kill these actors and what is being segmented for them, and nothing else."""
        # Any call would start a Ray of its own if the session is over.
        if ray.is_initialized():
            for seat in self._seats:
                ray.kill(seat.actor, no_restart=True)
                for call in seat.calls.values():
                    ray.cancel(call.segments, force=True)
        self._seats, self._seat_of = [], {}
