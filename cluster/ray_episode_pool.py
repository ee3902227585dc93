"""Episodes on Ray: which actor runs them, and what happens to them when an actor dies."""

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cluster.episode_pool import EpisodeRunner, Method, Prepared
from cluster.loss import Loss
from cluster.pace import STUCK_SECONDS
from cluster.resources import ActorResources
from cluster.worker import Busy, Worker
from core.errors import ClusterError
from core.learning.exchange import ArticleGradient, Decoded, Request
from core.types import Article, Failure

if TYPE_CHECKING:
    from cluster.fleet import Fleet

# See `ray_pool._NAMES`.
_NAMES = (f"episodes-{number}" for number in itertools.count())

# How often an article may lose the actor that prepares it, and how many deaths in a row stop the run.
_MAX_ATTEMPTS = 3
_MAX_DEATHS = 5


@dataclass(slots=True, eq=False)
class _Unit:
    """The work of one call of an actor: an article to prepare, or the actor's episodes of a round.

    Attributes:
        home: the actor to which the work belongs.
        argument: of the call.
        size: characters of its articles; each counts once for every episode.
        places: by the number of each request that has episodes here, their places in the request.
        deaths: how often an actor has died of it.
    """

    home: int
    argument: Any
    size: int
    places: Mapping[int, Sequence[int]] = field(default_factory=dict)
    deaths: int = 0

    def put(self, answer: Sequence[Sequence[Any]], answers: list[list[Any]]) -> None:
        for (index, places), values in zip(self.places.items(), answer, strict=True):
            for place, value in zip(places, values, strict=True):
                answers[index][place] = value


class _Backlog:
    """Units that wait, by the actor to which they belong."""

    def __init__(self, units: Iterable[_Unit]) -> None:
        self._waiting: dict[int, deque[_Unit]] = {}
        for unit in units:
            self._waiting.setdefault(unit.home, deque()).append(unit)

    def __bool__(self) -> bool:
        return any(self._waiting.values())

    def put_back(self, unit: _Unit) -> None:
        self._waiting[unit.home].appendleft(unit)

    def take(self, number: int, missing: Iterable[int]) -> _Unit | None:
        """An actor's next unit. If it has none left, a unit of an actor that is missing, perhaps for good."""
        for home in (number, *missing):
            if self._waiting.get(home):
                return self._waiting[home].popleft()
        return None


class RayEpisodePool:
    """A pool of `EpisodeActor`s, which start with the first article or episode.

    Articles are dealt to the actors in the order in which they are first seen, and stay with an actor's number. While
    an actor is missing (its machine may be gone for good), idle actors take over its work.

    Args:
        fleet: The actors.
        count: Called with what was computed: the requests, and their answers.
    """

    def __init__(
        self,
        fleet: "Fleet",
        count: Callable[[Sequence[Request], Sequence[Sequence[ArticleGradient]]], None],
    ) -> None:
        self._fleet = fleet
        self._count = count
        self._homes: dict[str, int] = {}
        self._deaths = 0

    def _home(self, article: Article) -> int:
        return self._homes.setdefault(article.id, len(self._homes) % self._fleet.actors)

    @property
    def workers(self) -> tuple[Worker, ...]:
        """See `Pool.workers`."""
        return self._fleet.workers

    @property
    def busy(self) -> tuple[Busy, ...]:
        """See `Pool.busy`."""
        return self._fleet.busy

    def prepare(self, articles: Sequence[Article], look_around: Callable[[], None]) -> Iterator[list[Prepared]]:
        """See `EpisodePool.prepare`. Ended early, by closing it or by an error, it kills the actors."""
        backlog = _Backlog(_Unit(self._home(article), article, len(article.text)) for article in articles)
        for landed in self._calls("prepare", backlog, look_around):
            prepared: list[Prepared] = []
            for unit, outcome in landed:
                if isinstance(outcome, Loss):
                    unit.deaths += outcome.charged
                    if unit.deaths < _MAX_ATTEMPTS:
                        backlog.put_back(unit)
                        continue
                    outcome = _failure(unit, outcome)
                prepared.append((unit.argument, outcome))
            if prepared:
                yield prepared

    def learn(self, requests: Sequence[Request], look_around: Callable[[], None]) -> list[list[ArticleGradient]]:
        """See `EpisodePool.learn`. An error kills the actors."""
        answers: list[list[ArticleGradient]] = self._round("learn", requests, look_around)
        self._count(requests, answers)
        return answers

    def decode(self, requests: Sequence[Request], look_around: Callable[[], None]) -> list[list[Decoded]]:
        """See `EpisodePool.decode`. An error kills the actors."""
        return self._round("decode", requests, look_around)

    def _round(self, method: Method, requests: Sequence[Request], look_around: Callable[[], None]) -> list[list[Any]]:
        """Call each actor once. What is lost with an actor is computed by another: all give the same answers."""
        answers: list[list[Any]] = [[None] * len(episodes) for _, episodes in requests]
        backlog = _Backlog(self._shares(requests))
        for landed in self._calls(method, backlog, look_around):
            for unit, outcome in landed:
                if isinstance(outcome, Loss):
                    self._count_death(outcome)
                    backlog.put_back(unit)
                else:
                    self._deaths = 0
                    unit.put(outcome, answers)
        return answers

    def _shares(self, requests: Sequence[Request]) -> Iterator[_Unit]:
        places: dict[int, dict[int, list[int]]] = {}
        for index, (_, episodes) in enumerate(requests):
            for place, (article, _) in enumerate(episodes):
                places.setdefault(self._home(article), {}).setdefault(index, []).append(place)
        for home, places_at_home in places.items():
            share = [
                (requests[index][0], [requests[index][1][place] for place in places_in_request])
                for index, places_in_request in places_at_home.items()
            ]
            size = sum(len(article.text) for _, episodes in share for article, _ in episodes)
            yield _Unit(home, share, size, places_at_home)

    def _calls(
        self, method: Method, backlog: _Backlog, look_around: Callable[[], None]
    ) -> Iterator[list[tuple[_Unit, Any]]]:
        """Make calls until no unit is left. Yields each unit with its outcome.

        A unit that is put back before the next outcome is requested is called again.
        """
        running: dict[int, _Unit] = {}
        with contextlib.ExitStack() as if_cut_short:
            # What still runs for one call must not be taken for an answer to the next.
            if_cut_short.callback(self._fleet.close)
            while running or backlog:
                look_around()
                self._fleet.start()
                for number, load in self._fleet.loads.items():
                    unit = None if load else backlog.take(number, self._fleet.missing)
                    if unit is not None:
                        running[self._fleet.send(number, method, unit.argument, unit.size)] = unit
                yield [(running.pop(ticket), outcome) for ticket, outcome in self._fleet.wait()]
            if_cut_short.pop_all()

    def _count_death(self, loss: Loss) -> None:
        self._deaths += loss.charged
        if self._deaths >= _MAX_DEATHS:
            raise ClusterError(
                f"{self._deaths} actors in a row died of their episodes, with {self._fleet.resources.describe()} each. "
                f"If memory is short, ask for fewer (`--actors`). The last error: {loss.message}"
            )


def _failure(unit: _Unit, loss: Loss) -> Failure:
    return Failure(unit.argument.id, loss.error_class, loss.message, attempts=unit.deaths, node=loss.node)


def episode_fleet(
    make_runner: Callable[[], EpisodeRunner],
    resources: ActorResources,
    actors: int,
    stuck_seconds: float = STUCK_SECONDS,
) -> "Fleet":
    """Actors on the Ray of the session it is called in."""
    # Not at the top: they import ray, and the session must set Ray's switches before.
    from cluster.actors import EpisodeActor
    from cluster.fleet import Fleet

    return Fleet(EpisodeActor, make_runner, _NAMES, resources, actors, stuck_seconds=stuck_seconds)


@contextlib.contextmanager
def episodes_on_ray(
    make_runner: Callable[[], EpisodeRunner],
    resources: ActorResources,
    actors: int,
    stuck_seconds: float = STUCK_SECONDS,
) -> Iterator[RayEpisodePool]:
    """A pool on the Ray of the session. The end of the block kills its actors, and nothing else on the cluster.

    Args:
        make_runner: Picklable; called once in each actor. What it raises stops the run.
        resources: What each actor pins.
        actors: How many actors.
        stuck_seconds: What any article and round may take, see `cluster.pace`.
    """
    from cluster.progress_metrics import LearningProgress

    with contextlib.closing(episode_fleet(make_runner, resources, actors, stuck_seconds)) as fleet:
        yield RayEpisodePool(fleet, LearningProgress().count)
