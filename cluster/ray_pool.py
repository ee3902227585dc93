"""Bundles on Ray: which actor gets which, which are sent again, and which are given up."""

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.loss import Loss
from cluster.pace import STUCK_SECONDS
from cluster.pool import Work
from cluster.resources import ActorResources
from cluster.worker import Busy, Worker
from core.types import Article, BundleResult, Failure, Landed

if TYPE_CHECKING:
    from cluster.fleet import Fleet

# Of the actors of this process: no name is used twice, though an actor may be gone before its name is.
_NAMES = (f"sweep-{number}" for number in itertools.count())


@dataclass(frozen=True, slots=True)
class _Parcel:
    """A bundle and how often a process died of it."""

    bundle: Sequence[Article]
    deaths: int = 0

    @property
    def size(self) -> int:
        """In characters."""
        return sum(len(article.text) for article in self.bundle)


@dataclass(frozen=True, slots=True)
class _Sent:
    """A parcel that an actor has; `alone` if it needs the actor for itself."""

    parcel: _Parcel
    number: int
    alone: bool


class _Backlog:
    """The parcels still to send: those that came back, then new bundles, pulled one at a time."""

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
        """Put a lost parcel back, whole or article by article. Returns its result if it has had all its attempts."""
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
    """A pool of `SweepActor`s, which start with the first bundle.

    Args:
        fleet: The actors.
        count: Called with what landed, after every wait.
        bundles_per_actor: How many bundles each actor has in flight: one at work, the others being segmented.
        max_attempts: How often a bundle may lose its process before its articles are tried alone, once more each.
    """

    def __init__(
        self,
        fleet: "Fleet",
        count: Callable[[Sequence[Landed]], None],
        bundles_per_actor: int = 2,
        max_attempts: int = 3,
    ) -> None:
        self._fleet = fleet
        self._count = count
        self._bundles_per_actor = bundles_per_actor
        self._max_attempts = max_attempts

    @property
    def workers(self) -> tuple[Worker, ...]:
        """See `Pool.workers`."""
        return self._fleet.workers

    @property
    def busy(self) -> tuple[Busy, ...]:
        """See `Pool.busy`."""
        return self._fleet.busy

    def map(self, bundles: Iterable[Sequence[Article]]) -> Iterator[list[Landed]]:
        """See `Pool.map`. Ended early, by closing it or by an error, it kills the actors."""
        backlog = _Backlog(bundles, self._max_attempts)
        if backlog.peek() is None:  # a run with nothing to do loads no model
            return
        with contextlib.ExitStack() as if_cut_short:
            if_cut_short.callback(self._fleet.close)
            self._fleet.start()
            yield from self._drive(backlog)
            if_cut_short.pop_all()

    def _drive(self, backlog: _Backlog) -> Iterator[list[Landed]]:
        in_flight: dict[int, _Sent] = {}
        landed: list[Landed] = []
        while True:
            self._fill(backlog, in_flight)
            yield landed  # now that the actors have something to do meanwhile
            if not in_flight and backlog.peek() is None:
                return
            landed = []
            for ticket, outcome in self._fleet.wait():
                parcel = in_flight.pop(ticket).parcel
                result = backlog.lost(parcel, outcome) if isinstance(outcome, Loss) else outcome
                if result is not None:
                    landed.append((parcel.bundle, result))
            self._count(landed)

    def _fill(self, backlog: _Backlog, in_flight: dict[int, _Sent]) -> None:
        # An article on trial at the head of the backlog holds up the others until an actor is free for it: rare,
        # and soon over.
        while self._least_loaded(in_flight, alone=False) is not None and (parcel := backlog.peek()) is not None:
            alone = backlog.on_trial(parcel)
            number = self._least_loaded(in_flight, alone)
            if number is None:
                return
            ticket = self._fleet.send(number, "sweep", parcel.bundle, parcel.size)
            in_flight[ticket] = _Sent(backlog.take(), number, alone)

    def _least_loaded(self, in_flight: dict[int, _Sent], alone: bool) -> int | None:
        """The actor for the next bundle, if one has room; `alone`: for a bundle that needs an actor for itself."""
        taken = {sent.number for sent in in_flight.values() if sent.alone}
        loads = self._fleet.loads
        free = [n for n, load in loads.items() if load < (1 if alone or n in taken else self._bundles_per_actor)]
        return min(free, key=loads.__getitem__, default=None)


def sweep_fleet(work: Work, resources: ActorResources, actors: int, stuck_seconds: float = STUCK_SECONDS) -> "Fleet":
    """Actors on the Ray of the session it is called in. A task segments each bundle on its way to them."""
    # Not at the top: they import ray, and the session must set Ray's switches before.
    from cluster.actors import SweepActor, segmenting
    from cluster.fleet import Fleet

    # Actors that pin the CPUs would leave none for the tasks to wait for.
    segment = segmenting(work.make_segmenter, num_cpus=1 if resources.num_gpus else 0)
    return Fleet(SweepActor, work.make_sweeper, _NAMES, resources, actors, segment, stuck_seconds)


@contextlib.contextmanager
def sweeps_on_ray(
    work: Work, resources: ActorResources, actors: int, stuck_seconds: float = STUCK_SECONDS
) -> Iterator[RayPool]:
    """A pool on the Ray of the session. The end of the block kills its actors, and nothing else on the cluster.

    Args:
        work: What the tasks and the actors run.
        resources: What each actor pins.
        actors: How many actors.
        stuck_seconds: What any bundle may take, see `cluster.pace`.
    """
    from cluster.progress_metrics import Progress

    with contextlib.closing(sweep_fleet(work, resources, actors, stuck_seconds)) as fleet:
        yield RayPool(fleet, Progress().count)
