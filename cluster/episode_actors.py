"""The actors that run episodes, each with its seat, and what Ray says about them. It imports ray: see `encoders`."""

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from cluster.actors import EpisodeActor
from cluster.episode_pool import EpisodeRunner, Method
from cluster.faults import FAULTS, loss, lost_its_node, one_line, segments_loss
from cluster.fleet import Births, pinning, start_named, wait_for_any
from cluster.progress_metrics import LearningProgress
from cluster.resources import ActorResources
from cluster.worker import Worker
from core.errors import ClusterError
from core.learning.exchange import ArticleGradient, Request

# How long a caller waits at most before it can look around, and after how long a silence is worth a word.
_POLL_SECONDS = 5.0
_PATIENCE_SECONDS = 60.0
# After how long an actor that is not ready is missed: longer than models usually take.
_MISSING_SECONDS = 30.0

# See `encoders._NUMBERS`.
_NUMBERS = itertools.count()


@dataclass(eq=False, slots=True)
class _Seat:
    """One actor as the driver sees it, asked for at the time `since`. `worker` is None until its models are loaded."""

    number: int
    actor: Any
    since: float
    worker: Worker | None = None


class EpisodeActors:
    """A fixed number of `EpisodeActor`s, numbered from 0, each with one call at a time; one that dies is replaced."""

    def __init__(self, make_runner: Callable[[], EpisodeRunner], resources: ActorResources, actors: int) -> None:
        self._make_runner = make_runner
        self._options = pinning(EpisodeActor, resources)
        self._births = Births(resources)
        self._progress = LearningProgress()
        # By what is waited for: that the models are loaded, or the answer to a call.
        self._seat_of: dict[Any, _Seat] = {}
        self._seats = [self._seat(number) for number in range(actors)]

    def _seat(self, number: int) -> _Seat:
        seat = _Seat(number, start_named("episodes", _NUMBERS, self._start), time.monotonic())
        self._seat_of[seat.actor.build.remote()] = seat
        return seat

    def _start(self, name: str) -> Any:
        return self._options(name=name).remote(self._make_runner)

    @property
    def workers(self) -> tuple[str, ...]:
        """See `Pool.workers`."""
        return tuple(sorted({str(seat.worker) for seat in self._seats if seat.worker}))

    def count(self, requests: Sequence[Request], answers: Sequence[Sequence[ArticleGradient]]) -> None:
        """Add what was learnt to the metrics of the run."""
        self._progress.count(requests, answers)

    @property
    def ready(self) -> frozenset[int]:
        """The numbers of the actors whose models are loaded."""
        return frozenset(seat.number for seat in self._seats if seat.worker is not None)

    @property
    def missing(self) -> list[int]:
        """The numbers of the actors that should have been ready for some time."""
        now = time.monotonic()
        return [s.number for s in self._seats if s.worker is None and now - s.since > _MISSING_SECONDS]

    def send(self, number: int, method: Method, argument: Any) -> None:
        """Call an actor that is ready and has answered its last call."""
        seat = self._seats[number]
        self._seat_of[getattr(seat.actor, method).options(name=method).remote(argument)] = seat

    def wait(self) -> list[tuple[int, Any]]:
        """Wait until something happens: by their numbers, actors with their answers, or a `Loss` where they died.

        None if an actor only got ready, or if nothing happens for a few seconds.

        Raises:
            NwsError: the factory of the runner or the runner itself failed (its own error, where it is an NwsError),
                or actors keep dying before their models are loaded.
        """
        ready = wait_for_any(list(self._seat_of), _POLL_SECONDS)
        if ready:
            self._births.heard()
        else:
            unready = sum(seat.worker is None for seat in self._seats)
            self._births.explain_silence(unready, len(self._seats), _PATIENCE_SECONDS)
        return [outcome for ref in ready for outcome in self._land(ref)]

    def _land(self, ref: Any) -> list[tuple[int, Any]]:
        seat = self._seat_of.pop(ref)
        try:
            value = ray.get(ref)
        except RayTaskError as error:  # first: Ray makes it an instance of its cause, too
            return [(seat.number, segments_loss(error))]
        except FAULTS as fault:
            return self._replace(seat, fault)
        except RayError as error:
            raise ClusterError(f"Ray cannot go on: {one_line(error)}") from error
        if seat.worker is not None:
            return [(seat.number, value)]
        seat.worker = value
        self._births.born()
        return []

    def _replace(self, seat: _Seat, fault: RayError) -> list[tuple[int, Any]]:
        if seat.worker is None:
            self._births.stillborn(fault)
        # An actor that is only unavailable may still live.
        ray.kill(seat.actor, no_restart=True)
        self._seats[seat.number] = self._seat(seat.number)
        if seat.worker is None:
            return []
        return [(seat.number, loss(fault, seat.worker.node, charged=not lost_its_node(fault)))]

    def close(self) -> None:
        """Kill these actors, and nothing else."""
        # Any call would start a Ray of its own if the session is over.
        if ray.is_initialized():
            for seat in self._seats:
                ray.kill(seat.actor, no_restart=True)
        self._seats, self._seat_of = [], {}
