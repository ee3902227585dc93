"""Episodes on Ray: whose they are, and what becomes of them when an actor dies."""

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from cluster.loss import Loss
from cluster.policy_pool import PolicyWorker, Prepared
from cluster.resources import ActorResources
from core.errors import ClusterError
from core.learning.exchange import ArticleGradient, Decoded, Request
from core.types import Article, Failure

if TYPE_CHECKING:
    from cluster.policy_actors import PolicyActors

# How often an article may lose the actor that prepares it, and how many deaths in a row stop the run.
_MAX_ATTEMPTS = 3
_MAX_DEATHS = 5


@dataclass(slots=True)
class _Queue:
    """The articles that one actor is still to prepare, one at a time, and how often it died of the first."""

    articles: deque[Article] = field(default_factory=deque)
    deaths: int = 0

    def settle(self, outcome: Loss | Failure | None) -> Prepared | None:
        """Take the first article from the queue, unless it will be tried again."""
        if isinstance(outcome, Loss):
            self.deaths += outcome.charged
            if self.deaths < _MAX_ATTEMPTS:
                return None
            outcome = Failure(
                self.articles[0].id, outcome.error_class, outcome.message, attempts=self.deaths, node=outcome.node
            )
        self.deaths = 0
        return self.articles.popleft(), outcome


@dataclass(slots=True)
class _Share:
    """One actor's episodes of a round: of each request that has any, their places."""

    places: dict[int, list[int]] = field(default_factory=dict)

    def of(self, requests: Sequence[Request]) -> list[Request]:
        return [(requests[r][0], [requests[r][1][place] for place in at]) for r, at in self.places.items()]

    def put(self, answer: Sequence[Sequence[Any]], answers: list[list[Any]]) -> None:
        for (r, at), values in zip(self.places.items(), answer, strict=True):
            for place, value in zip(at, values, strict=True):
                answers[r][place] = value


class RayPolicyPool:
    """A pool of actors on the Ray of the session it is used in. Actors start with the first article or episode.

    Articles are dealt to the actors in the order in which they are first seen, and stay with their seats.

    Args:
        make_worker: Picklable; called once in each actor. What it raises stops the run.
        resources: What each actor pins.
        actors: How many actors.
    """

    def __init__(self, make_worker: Callable[[], PolicyWorker], resources: ActorResources, actors: int) -> None:
        self._make_worker = make_worker
        self._resources = resources
        self._actors = actors
        self._homes: dict[str, int] = {}
        self._deaths = 0
        self._policy_actors: PolicyActors | None = None

    def _started(self) -> "PolicyActors":
        if self._policy_actors is None:
            # Not at the top: it imports ray, and the session must set Ray's switches before.
            from cluster.policy_actors import PolicyActors

            self._policy_actors = PolicyActors(self._make_worker, self._resources, self._actors)
        return self._policy_actors

    def _home(self, article: Article) -> int:
        return self._homes.setdefault(article.id, len(self._homes) % self._actors)

    @property
    def workers(self) -> tuple[str, ...]:
        """See `Pool.workers`."""
        return self._policy_actors.workers if self._policy_actors else ()

    def prepare(self, articles: Sequence[Article], look_around: Callable[[], None]) -> Iterator[list[Prepared]]:
        """See `PolicyPool.prepare`. Ended early, by `close` or by an error, it kills the actors."""
        queues: dict[int, _Queue] = {}
        for article in articles:
            queues.setdefault(self._home(article), _Queue()).articles.append(article)
        with self._closing_if_cut_short():
            for number, queue in queues.items():
                self._started().send(number, "prepare", queue.articles[0])
            while queues:
                look_around()
                if prepared := self._prepared(queues):
                    yield prepared

    def _prepared(self, queues: dict[int, _Queue]) -> list[Prepared]:
        """Wait; what got ready. Its actors get their next article at once, queues that are done are dropped."""
        found = []
        for number, outcome in self._started().wait():
            queue = queues[number]
            prepared = queue.settle(outcome)
            if prepared is not None:
                found.append(prepared)
            if queue.articles:
                self._started().send(number, "prepare", queue.articles[0])
            else:
                del queues[number]
        return found

    def learn(self, requests: Sequence[Request], look_around: Callable[[], None]) -> list[list[ArticleGradient]]:
        """See `PolicyPool.learn`. An error kills the actors."""
        answers: list[list[ArticleGradient]] = self._round("learn", requests, look_around)
        if self._policy_actors is not None:
            self._policy_actors.count(requests, answers)
        return answers

    def decode(self, requests: Sequence[Request], look_around: Callable[[], None]) -> list[list[Decoded]]:
        """See `PolicyPool.decode`. An error kills the actors."""
        return self._round("decode", requests, look_around)

    def _round(
        self, method: Literal["learn", "decode"], requests: Sequence[Request], look_around: Callable[[], None]
    ) -> list[list[Any]]:
        """Each actor is called once, and again if it dies: its answers do not depend on who gives them."""
        answers: list[list[Any]] = [[None] * len(episodes) for _, episodes in requests]
        shares = self._shares(requests)
        with self._closing_if_cut_short():
            for number, share in shares.items():
                self._started().send(number, method, share.of(requests))
            while shares:
                look_around()
                for number, outcome in self._started().wait():
                    if isinstance(outcome, Loss):
                        self._count_death(outcome)
                        self._started().send(number, method, shares[number].of(requests))
                    else:
                        self._deaths = 0
                        shares.pop(number).put(outcome, answers)
        return answers

    def _shares(self, requests: Sequence[Request]) -> dict[int, _Share]:
        shares: dict[int, _Share] = {}
        for r, (_, episodes) in enumerate(requests):
            for place, (article, _) in enumerate(episodes):
                share = shares.setdefault(self._home(article), _Share())
                share.places.setdefault(r, []).append(place)
        return shares

    def _count_death(self, loss: Loss) -> None:
        self._deaths += loss.charged
        if self._deaths >= _MAX_DEATHS:
            raise ClusterError(
                f"{self._deaths} actors in a row died of their episodes, with {self._resources.describe()} each. "
                f"If memory is short, ask for fewer (`--actors`). Ray says: {loss.message}"
            )

    @contextlib.contextmanager
    def _closing_if_cut_short(self) -> Iterator[None]:
        # What still runs for one call must not be taken for an answer to the next.
        finished = False
        try:
            yield
            finished = True
        finally:
            if not finished:
                self.close()

    def close(self) -> None:
        """Kill the actors of this pool, and nothing else on the cluster."""
        if self._policy_actors is not None:
            self._policy_actors.close()
            self._policy_actors = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
