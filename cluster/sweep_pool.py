"""Bundles of articles to be swept: which are sent next, which are tried again, and which are given up."""

import contextlib
import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cluster.article_work import SweepActor, Work, segment_bundle, segmenting
from cluster.dispatcher import STUCK_SECONDS, Actors, Backlog, InlineActor, Loss, Task, dispatch
from cluster.resources import ActorResources
from core.types import Article, BundleResult, Landed

MAX_ATTEMPTS = 3
"""How often a bundle may lose its process before its articles are tried alone, once more each."""


class _BundleBacklog(Backlog):
    """The bundles still to send: those that came back, then new ones, pulled one at a time.

    One that keeps losing its process is divided, until the article they die of is alone.
    """

    def __init__(self, bundles: Iterable[Sequence[Article]], bundles_per_actor: int) -> None:
        self._source = iter(bundles)
        self._next: deque[Task] = deque()
        self._bundles_per_actor = bundles_per_actor

    def __bool__(self) -> bool:
        if not self._next:
            self._next.extend(_task(bundle) for bundle in itertools.islice(self._source, 1))
        return bool(self._next)

    def choose(self, actors: Actors) -> tuple[int, Task] | None:
        """See `Backlog.choose`: the actor with the fewest tasks gets the next one."""
        room = {
            number: len(tasks)
            for number, tasks in actors.tasks.items()
            if len(tasks) < self._bundles_per_actor and not any(map(self._needs_actor_alone, tasks))
        }
        if not room or not self:
            return None
        number = min(room, key=room.__getitem__)
        if self._needs_actor_alone(self._next[0]) and room[number]:
            return None  # it holds up the others until an actor is free for it: rare, and soon over
        return number, self._next.popleft()

    def _needs_actor_alone(self, task: Task) -> bool:
        """Whether its next death would be the end of it; then it must be known what the process died of."""
        return len(task.argument) == 1 and task.deaths + 1 >= MAX_ATTEMPTS

    def settle(self, task: Task, outcome: Any) -> bool:
        if not isinstance(outcome, Loss):
            return True
        task.deaths += outcome.charged
        if task.deaths < MAX_ATTEMPTS or not outcome.charged:
            self._next.append(task)
        elif len(task.argument) > 1:
            # One more attempt each, alone: the article they died of must not take its neighbours with it.
            self._next.extend(_task((article,), task.deaths) for article in task.argument)
        else:
            return True
        return False


def _task(bundle: Sequence[Article], deaths: int = 0) -> Task:
    return Task(bundle, sum(len(article.text) for article in bundle), deaths=deaths)


@dataclass(frozen=True, slots=True)
class SweepPool:
    """Runs bundles on actors, which start with the first one.

    Attributes:
        actors: their method `sweep` makes of a bundle its `BundleResult`.
        bundles_per_actor: how many bundles each actor has in flight: one at work, the others being segmented.
    """

    actors: Actors
    bundles_per_actor: int = 2

    def map(self, bundles: Iterable[Sequence[Article]]) -> Iterator[list[Landed]]:
        """Yield finished bundles with their results, as they land, in any order; one `map` at a time.

        All that landed while the caller was busy come together. Now and then an empty list comes, so that the caller
        can look around. `bundles` is pulled lazily. A bundle whose processes keep dying lands article by article, as
        bundles of one. Ended early, by closing it or by an error, it ends the actors with what they still run.

        Raises:
            DeviceError: a GPU failed, and no new process helped or could be had.
            NwsError: a factory of the work failed, or the machines cannot run it.
        """
        backlog = _BundleBacklog(bundles, self.bundles_per_actor)
        with contextlib.closing(dispatch(self.actors, "sweep", backlog)) as groups:
            for outcomes in groups:
                yield [(task.argument, _result(task, outcome)) for task, outcome in outcomes]


def _result(task: Task, outcome: BundleResult | Loss) -> BundleResult:
    if isinstance(outcome, BundleResult):
        return outcome
    (article,) = task.argument
    return BundleResult((), (outcome.failure(article, task.deaths),))


def inline_sweeps(work: Work) -> SweepPool:
    """A pool in this process, one bundle after the other. Its models are loaded now.

    Raises:
        NwsError: a factory of the work failed.
    """
    segment, actor = work.make_segmenter(), SweepActor(work.make_sweeper)
    actor.build()
    inline = InlineActor({"sweep": lambda bundle: actor.sweep(segment_bundle(segment, bundle))})
    return SweepPool(inline, bundles_per_actor=1)


@contextlib.contextmanager
def sweeps_on_ray(
    work: Work,
    resources: ActorResources,
    actors: int,
    stuck_seconds: float = STUCK_SECONDS,
) -> Iterator[SweepPool]:
    """A pool on the Ray of the session. The end of the block kills its actors, and nothing else on the cluster.

    A Ray task segments each bundle on its way to an actor. For the arguments see `ActorPool`.
    """
    # Not at the top: they import ray, and the session must set Ray's switches before.
    from cluster.actor_pool import ActorPool

    # Actors that pin the CPUs would leave none for the tasks to wait for.
    segment = segmenting(work.make_segmenter, num_cpus=1 if resources.num_gpus else 0)
    pool = ActorPool(SweepActor, work.make_sweeper, resources, actors, segment, stuck_seconds)
    with contextlib.closing(pool):
        yield SweepPool(pool)
