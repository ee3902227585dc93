"""Bundles on Ray: which to send, which to send again, and which to give up on."""

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from cluster.loss import Loss
from cluster.pool import Work
from cluster.resources import ActorResources
from core.types import Article, BundleResult, Failure, Landed

if TYPE_CHECKING:
    from cluster.encoders import Encoders


@dataclass(frozen=True, slots=True)
class _Parcel:
    """A bundle and how often a process died of it."""

    bundle: Sequence[Article]
    deaths: int = 0


class _Backlog:
    """What is still to be sent: parcels that came back, then new bundles, pulled one at a time."""

    def __init__(self, bundles: Iterable[Sequence[Article]], max_attempts: int) -> None:
        self._source = iter(bundles)
        self._again: deque[_Parcel] = deque()
        self._max_attempts = max_attempts

    def peek(self) -> _Parcel | None:
        if not self._again:
            self._again.extend(_Parcel(bundle) for bundle in itertools.islice(self._source, 1))
        return self._again[0] if self._again else None

    def take(self) -> _Parcel:
        return self._again.popleft()

    def on_trial(self, parcel: _Parcel) -> bool:
        """Whether the next death would be the end of it; then it must be known what the process died of."""
        return len(parcel.bundle) == 1 and parcel.deaths + 1 >= self._max_attempts

    def lost(self, parcel: _Parcel, loss: Loss) -> BundleResult | None:
        """Put a lost parcel back, whole or article by article; its result if it has had all its attempts."""
        deaths = parcel.deaths + loss.charged
        if deaths < self._max_attempts or not loss.charged:
            self._again.append(_Parcel(parcel.bundle, deaths))
            return None
        if len(parcel.bundle) > 1:
            # One more attempt each, alone: the article they died of must not take its neighbours with it.
            self._again.extend(_Parcel((article,), deaths) for article in parcel.bundle)
            return None
        (article,) = parcel.bundle
        failure = Failure(article.id, loss.error_class, loss.message, attempts=deaths, node=loss.node)
        return BundleResult((), (failure,))


class RayPool:
    """A pool of actors on the Ray of the session it is used in. Actors start with the first bundle.

    Args:
        work: What the tasks and the actors run.
        resources: What each actor pins.
        actors: How many actors.
        bundles_per_actor: How many bundles each actor has in flight: one at work, the others being segmented.
        max_attempts: How often a bundle may lose its process before its articles are tried alone, once more each.
    """

    def __init__(
        self,
        work: Work,
        resources: ActorResources,
        actors: int,
        bundles_per_actor: int = 2,
        max_attempts: int = 3,
    ) -> None:
        self._work = work
        self._resources = resources
        self._actors = actors
        self._bundles_per_actor = bundles_per_actor
        self._max_attempts = max_attempts
        self._encoders: Encoders | None = None

    def _started(self) -> "Encoders":
        if self._encoders is None:
            # Not at the top: it imports ray, and the session must set Ray's switches before.
            from cluster.encoders import Encoders

            self._encoders = Encoders(self._work, self._resources, self._actors, self._bundles_per_actor)
        return self._encoders

    @property
    def workers(self) -> tuple[str, ...]:
        """See `Pool.workers`."""
        return self._encoders.workers if self._encoders else ()

    def map(self, bundles: Iterable[Sequence[Article]]) -> Iterator[list[Landed]]:
        """See `Pool.map`. Ended early, by `close` or by an error, it kills the actors."""
        backlog = _Backlog(bundles, self._max_attempts)
        if backlog.peek() is None:  # a run with nothing to do loads no model
            return
        finished = False
        try:
            yield from self._drive(backlog, self._started())
            finished = True
        finally:
            if not finished:
                self.close()

    def _drive(self, backlog: _Backlog, encoders: "Encoders") -> Iterator[list[Landed]]:
        in_flight: dict[int, _Parcel] = {}
        landed: list[Landed] = []
        while True:
            self._fill(encoders, backlog, in_flight)
            yield landed  # now that the actors have something to do meanwhile
            if not in_flight and backlog.peek() is None:
                return
            landed = []
            for ticket, outcome in encoders.wait():
                parcel = in_flight.pop(ticket)
                result = outcome if isinstance(outcome, BundleResult) else backlog.lost(parcel, outcome)
                if result is not None:
                    landed.append((parcel.bundle, result))
            encoders.count(landed)

    def _fill(self, encoders: "Encoders", backlog: _Backlog, in_flight: dict[int, _Parcel]) -> None:
        # An article on trial at the head of the backlog holds up the others until an actor is free for it: rare,
        # and soon over.
        while encoders.has_room(alone=False) and (parcel := backlog.peek()) is not None:
            alone = backlog.on_trial(parcel)
            if not encoders.has_room(alone):
                return
            in_flight[encoders.send(parcel.bundle, alone)] = backlog.take()

    def close(self) -> None:
        """Kill the actors of this pool, and nothing else on the cluster."""
        if self._encoders is not None:
            self._encoders.close()
            self._encoders = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
