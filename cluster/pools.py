"""The pools of sweeps and of episodes: which work goes to which actor, and what happens to lost work."""

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from nws.cluster.article_work import EpisodeActor, SweepActor, Work, segment_bundle, segmenting
from nws.cluster.dispatcher import STUCK_SECONDS, Actors, Backlog, InlineActor, LostTask, Task, dispatch
from nws.cluster.resources import ActorResources
from nws.core.article import Article
from nws.core.errors import ClusterError
from nws.core.learning.exchange import ArticleGradient, Decoded, Request
from nws.core.types import BundleResult, Failure, Landed

MAX_ATTEMPTS = 3
"""The number of processes that a bundle may lose before each of its articles is tried once more, alone; and the number
of actors that an article may lose while they prepare it for a training."""


class _BundleBacklog(Backlog):
    """The bundles to send: those that came back, then new ones, pulled one at a time.

    A bundle that keeps losing its process is divided, until the article that causes the deaths is alone. An empty
    bundle means that the source has none yet. Then busy actors are waited for, or the source if no actor is busy.
    """

    def __init__(self, bundles: Iterable[Sequence[Article]], bundles_per_actor: int) -> None:
        self._source = iter(bundles)
        self._next: deque[Task] = deque()
        self._bundles_per_actor = bundles_per_actor

    def __bool__(self) -> bool:
        return bool(self._next) or self._has_more()

    def _has_more(self) -> bool:
        """Pull from the source. Returns False at its end."""
        for bundle in itertools.islice(self._source, 1):
            self._next.extend([_task(bundle)] if bundle else [])
            return True
        return False

    def choose(self, actors: Actors) -> tuple[int, Task] | None:
        """Choose the actor with the fewest tasks, see `Backlog.choose`."""
        room = {
            number: len(tasks)
            for number, tasks in actors.tasks.items()
            if len(tasks) < self._bundles_per_actor and not any(map(self._needs_actor_alone, tasks))
        }
        if not room:
            return None
        while not self._next:
            if not self._has_more() or (not self._next and any(actors.tasks.values())):
                return None
        number = min(room, key=room.__getitem__)
        if self._needs_actor_alone(self._next[0]) and room[number]:
            return None  # the others wait until an actor is free for it, which is rare and soon over
        return number, self._next.popleft()

    def _needs_actor_alone(self, task: Task) -> bool:
        """Return whether one more death would fail the task. Then it must be certain which task the process died of."""
        return len(task.argument) == 1 and task.deaths + 1 >= MAX_ATTEMPTS

    def settle(self, task: Task, outcome: Any) -> bool:
        if not isinstance(outcome, LostTask):
            return True
        task.deaths += outcome.charged
        if task.deaths < MAX_ATTEMPTS or not outcome.charged:
            self._next.append(task)
        elif len(task.argument) > 1:
            # One more attempt each, alone, so that the article that causes the deaths does not fail the others.
            self._next.extend(_task((article,), task.deaths) for article in task.argument)
        else:
            return True
        return False


def _task(bundle: Sequence[Article], deaths: int = 0) -> Task:
    return Task(bundle, sum(len(article.text) for article in bundle), deaths=deaths)


@dataclass(frozen=True, slots=True)
class SweepPool:
    """A pool that runs bundles on actors, which start with the first bundle.

    Attributes:
        actors: actors whose method `sweep` turns a bundle into its `BundleResult`.
        bundles_per_actor: the number of bundles that each actor has at a time. It works on one, and the others are
            segmented meanwhile.
    """

    actors: Actors
    bundles_per_actor: int = 2

    def map(self, bundles: Iterable[Sequence[Article]]) -> Iterator[list[Landed]]:
        """Yield finished bundles with their results as they land, in any order. Only one `map` may run at a time.

        Bundles that landed while the caller was busy come together. Sometimes an empty list comes, so that the caller
        can look around. `bundles` is pulled lazily. A bundle whose processes keep dying lands article by article, as
        bundles of one. If the generator ends early, by closing it or by an error, it ends the actors and their work.

        Raises:
            DeviceError: a GPU failed, and new processes did not help or could not be started.
            NwsError: a factory of the work failed, or the machines cannot run the work.
        """
        backlog = _BundleBacklog(bundles, self.bundles_per_actor)
        with contextlib.closing(dispatch(self.actors, "sweep", backlog)) as groups:
            for outcomes in groups:
                yield [(task.argument, _result(task, outcome)) for task, outcome in outcomes]


def _result(task: Task, outcome: BundleResult | LostTask) -> BundleResult:
    if isinstance(outcome, BundleResult):
        return outcome
    (article,) = task.argument
    return BundleResult((), (outcome.failure(article, task.deaths),))


def inline_sweeps(work: Work) -> SweepPool:
    """Make a pool in this process, which works on one bundle after the other. Its models are loaded at once.

    Raises:
        NwsError: a factory of the work failed.
    """
    segment, actor = work.make_segmenter(), SweepActor(work.make_sweeper)
    actor.build()
    inline = InlineActor({"sweep": lambda bundle: actor.sweep(segment_bundle(segment, bundle))})
    return SweepPool(inline, bundles_per_actor=1)


@contextlib.contextmanager
def sweeps_on_ray(
    work: Work, resources: ActorResources, actors: int, stuck_seconds: float = STUCK_SECONDS
) -> Iterator[SweepPool]:
    """Open a pool on the Ray of the session. The end of the block kills its actors, and nothing else on the cluster.

    A Ray task segments each bundle before an actor gets it. For the arguments see `ActorPool`.
    """
    # Not at the top: they import ray, and the session must set Ray's switches before.
    from nws.cluster.actor_pool import ActorPool

    # Actors on CPUs hold all CPUs, so the tasks must not wait for a free one.
    segment = segmenting(work.make_segmenter, num_cpus=1 if resources.num_gpus else 0)
    pool = ActorPool(SweepActor, work.make_sweeper, resources, actors, segment, stuck_seconds)
    with contextlib.closing(pool):
        yield SweepPool(pool)


# An article that was prepared, or its failure.
Prepared: TypeAlias = tuple[Article, Failure | None]

# After this many deaths in a row, a training stops.
_MAX_DEATHS = 5


class _HomeBacklog(Backlog):
    """Tasks that wait for the actors to which they belong. Each actor gets one at a time.

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
    """A pool that runs episodes on actors, which start with the first article or episode. Only one call at a time.

    Articles are assigned to actors in the order in which they are first seen, and stay with the number of the actor.

    `look_around` is called before every wait, and a wait ends after a few seconds, or with a task of this process. If
    it raises an error, the call ends. A call that ends early, by that or by another error, ends the actors.

    Args:
        actors: actors with the methods of an `EpisodeActor`.
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
        that cannot be prepared, or whose workers die repeatedly, comes with its failure.

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
        """Compute gradients, in the order of requests and episodes, whichever actor computes them.

        Raises:
            NwsError: a runner raised an error, workers keep dying, or see `prepare`.
        """
        return self._round("learn", requests, look_around)

    def decode(self, requests: Sequence[Request], look_around: Callable[[], None]) -> list[list[Decoded]]:
        """Write greedy summaries, see `learn`."""
        return self._round("decode", requests, look_around)

    def _round(
        self, method: Literal["learn", "decode"], requests: Sequence[Request], look_around: Callable[[], None]
    ) -> list[list[Any]]:
        """Call each actor once. If an actor dies, another one computes its part, since all give the same answers."""
        # The places of episodes in their requests, by actor and by the number of the request.
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
        if not isinstance(outcome, LostTask):
            self._deaths = 0
            return True
        self._deaths += outcome.charged
        if self._deaths >= _MAX_DEATHS:
            raise ClusterError(
                f"{self._deaths} actors in a row died of their episodes, with {self.actors.device} each. "
                f"If memory is short, use fewer actors (`--actors`). The last error: {outcome.message}"
            )
        return False


def _is_last_attempt(task: Task, outcome: Failure | LostTask | None) -> bool:
    if not isinstance(outcome, LostTask):
        return True
    task.deaths += outcome.charged
    return task.deaths >= MAX_ATTEMPTS


def _failure(task: Task, outcome: Failure | LostTask | None) -> Failure | None:
    return outcome.failure(task.argument, task.deaths) if isinstance(outcome, LostTask) else outcome


def _share(requests: Sequence[Request], home: int | None, places: dict[int, list[int]]) -> Task:
    """Make the task with an actor's part of the requests. In its size, an article counts once for every episode."""
    share = [(requests[index][0], [requests[index][1][i] for i in numbers]) for index, numbers in places.items()]
    return Task(share, sum(len(article.text) for _, episodes in share for article, _ in episodes), home)


def inline_episodes(make_runner: Callable[[], Any]) -> EpisodePool:
    """Make a pool in this process, with one runner, which is made at once. Errors of the runner are passed on."""
    actor = EpisodeActor(make_runner)
    actor.build()
    return EpisodePool(InlineActor({"prepare": actor.prepare, "learn": actor.learn, "decode": actor.decode}))


@contextlib.contextmanager
def episodes_on_ray(
    make_runner: Callable[[], Any], resources: ActorResources, actors: int, stuck_seconds: float = STUCK_SECONDS
) -> Iterator[EpisodePool]:
    """Open a pool on the Ray of the session. The end of the block kills its actors, and nothing else on the cluster.

    `make_runner` is picklable. If it raises an error, the run stops. For the other arguments see `ActorPool`.
    """
    # Not at the top: they import ray, and the session must set Ray's switches before.
    from nws.cluster.actor_pool import ActorPool

    pool = ActorPool(EpisodeActor, make_runner, resources, actors, stuck_seconds=stuck_seconds)
    with contextlib.closing(pool):
        yield EpisodePool(pool)
