"""Episodes of a training: which actor runs them, and what happens to them when an actor dies."""

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from cluster.article_work import EpisodeActor
from cluster.dispatcher import STUCK_SECONDS, Actors, Backlog, InlineActor, Loss, Task, dispatch
from cluster.resources import ActorResources
from core.errors import ClusterError
from core.learning.exchange import ArticleGradient, Decoded, Request
from core.types import Article, Failure

# An article that was prepared, or why it could not be.
Prepared: TypeAlias = tuple[Article, Failure | None]

# How often an article may lose the actor that prepares it, and how many deaths in a row stop the run.
_MAX_ATTEMPTS = 3
_MAX_DEATHS = 5


class _HomeBacklog(Backlog):
    """Tasks that wait for the actors to which they belong, one at a time each.

    While an actor is missing (its machine may be gone for good), idle actors take over its tasks.
    """

    def __init__(self, tasks: Iterable[Task], is_last: Callable[[Task, Any], bool]) -> None:
        self._waiting: dict[int | None, deque[Task]] = {}
        for task in tasks:
            self._waiting.setdefault(task.home, deque()).append(task)
        self._is_last = is_last

    def __bool__(self) -> bool:
        return any(self._waiting.values())

    def choose(self, actors: Actors) -> tuple[int, Task] | None:
        for number, tasks in actors.tasks.items():
            for home in () if tasks else (number, *actors.missing):
                if self._waiting.get(home):
                    return number, self._waiting[home].popleft()
        return None

    def settle(self, task: Task, outcome: Any) -> bool:
        is_last = self._is_last(task, outcome)
        if not is_last:
            self._waiting[task.home].appendleft(task)
        return is_last


class EpisodePool:
    """Runs episodes on actors, which start with the first article or episode; one call of its methods at a time.

    Articles are dealt to the actors in the order in which they are first seen, and stay with an actor's number.

    `look_around` is called before every wait, and a wait ends after a few seconds, or with a task of this process. What
    it raises ends the call. A call that ends early, by that or by another error, ends the actors.

    Args:
        actors: their methods are those of an `EpisodeActor`.
    """

    def __init__(self, actors: Actors) -> None:
        self.actors = actors
        self._homes: dict[str, int] = {}
        self._deaths = 0

    def _home(self, article: Article) -> int:
        return self._homes.setdefault(article.id, len(self._homes) % len(self.actors))

    def prepare(self, articles: Sequence[Article], look_around: Callable[[], None]) -> Iterator[list[Prepared]]:
        """Yield every article once it is prepared, in any order.

        Each article is prepared by the worker that gets its episodes later, as long as that worker lives. An article
        that cannot be prepared, or whose worker dies again and again, comes with its failure.

        Raises:
            NwsError: the factory of the runner failed, or the machines cannot run it.
        """
        tasks = (Task(article, len(article.text), self._home(article)) for article in articles)
        backlog = _HomeBacklog(tasks, _is_last_attempt)
        with contextlib.closing(dispatch(self.actors, "prepare", backlog, look_around)) as groups:
            for outcomes in groups:
                if outcomes:
                    yield [(task.argument, _failure(task, outcome)) for task, outcome in outcomes]

    def learn(self, requests: Sequence[Request], look_around: Callable[[], None]) -> list[list[ArticleGradient]]:
        """The gradients, in the order of requests and episodes, whoever computed them.

        Raises:
            NwsError: a runner raised it, or workers keep dying, or as for `prepare`.
        """
        return self._round("learn", requests, look_around)

    def decode(self, requests: Sequence[Request], look_around: Callable[[], None]) -> list[list[Decoded]]:
        """The greedy summaries; otherwise as `learn`."""
        return self._round("decode", requests, look_around)

    def _round(
        self, method: Literal["learn", "decode"], requests: Sequence[Request], look_around: Callable[[], None]
    ) -> list[list[Any]]:
        """Call each actor once. What is lost with an actor is computed by another: all give the same answers."""
        # By actor, and by the number of each request that has episodes there: their places in the request.
        places: dict[int | None, dict[int, list[int]]] = {}
        for index, (_, episodes) in enumerate(requests):
            for place, (article, _) in enumerate(episodes):
                places.setdefault(self._home(article), {}).setdefault(index, []).append(place)
        answers: list[list[Any]] = [[None] * len(episodes) for _, episodes in requests]
        backlog = _HomeBacklog((_share(requests, home, parts) for home, parts in places.items()), self._is_answered)
        for outcomes in dispatch(self.actors, method, backlog, look_around):
            for task, answer in outcomes:
                for (index, places_in_request), values in zip(places[task.home].items(), answer, strict=True):
                    for place, value in zip(places_in_request, values, strict=True):
                        answers[index][place] = value
        return answers

    def _is_answered(self, task: Task, outcome: Any) -> bool:
        if not isinstance(outcome, Loss):
            self._deaths = 0
            return True
        self._deaths += outcome.charged
        if self._deaths >= _MAX_DEATHS:
            raise ClusterError(
                f"{self._deaths} actors in a row died of their episodes, with {self.actors.device} each. "
                f"If memory is short, ask for fewer (`--actors`). The last error: {outcome.message}"
            )
        return False


def _is_last_attempt(task: Task, outcome: Failure | Loss | None) -> bool:
    if not isinstance(outcome, Loss):
        return True
    task.deaths += outcome.charged
    return task.deaths >= _MAX_ATTEMPTS


def _failure(task: Task, outcome: Failure | Loss | None) -> Failure | None:
    return outcome.failure(task.argument, task.deaths) if isinstance(outcome, Loss) else outcome


def _share(requests: Sequence[Request], home: int | None, places: dict[int, list[int]]) -> Task:
    """An actor's part of the requests. In its size an article counts once for every episode."""
    share = [(requests[index][0], [requests[index][1][i] for i in numbers]) for index, numbers in places.items()]
    return Task(share, sum(len(article.text) for _, episodes in share for article, _ in episodes), home)


def inline_episodes(make_runner: Callable[[], Any]) -> EpisodePool:
    """A pool in this process, with one runner, which is made now. Errors of the runner are passed on."""
    actor = EpisodeActor(make_runner)
    actor.build()
    return EpisodePool(InlineActor({"prepare": actor.prepare, "learn": actor.learn, "decode": actor.decode}))


@contextlib.contextmanager
def episodes_on_ray(
    make_runner: Callable[[], Any],
    resources: ActorResources,
    actors: int,
    stuck_seconds: float = STUCK_SECONDS,
) -> Iterator[EpisodePool]:
    """A pool on the Ray of the session. The end of the block kills its actors, and nothing else on the cluster.

    `make_runner` is picklable; what it raises stops the run. For the other arguments see `ActorPool`.
    """
    # Not at the top: they import ray, and the session must set Ray's switches before.
    from cluster.actor_pool import ActorPool

    pool = ActorPool(EpisodeActor, make_runner, resources, actors, stuck_seconds=stuck_seconds)
    with contextlib.closing(pool):
        yield EpisodePool(pool)
