"""Drivers of the run, as processes of the world: the real `nws.jobs.drive.driver` on a pool of simulated actors."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench import stub_work
from nws.cluster.actor_pool import ActorPool
from nws.cluster.article_work import SegmentedBundle, sweep_bundle
from nws.cluster.dispatcher import WorkerInfo
from nws.cluster.pools import SweepPool, _BundleBacklog
from nws.cluster.resources import ActorResources
from nws.core.article import Article
from nws.core.stage import Stage
from nws.core.types import BundleResult, Landed
from simulation.cases import Case
from simulation.fleet import Fleet, Node
from simulation.ray_face import RayFace, Session

_GPU = ActorResources(num_gpus=1, num_cpus=0, accelerator_type=None)


class Sweeper:
    """An actor of the fleet, with stub work."""

    def __init__(self, make: Callable[[], Callable[..., Any]], node: Node) -> None:
        self._make = make
        self._node = node

    def build(self) -> WorkerInfo:
        self._sweep = self._make()
        return WorkerInfo("simulated GPU", self._node.id)

    def sweep(self, segmented: SegmentedBundle) -> BundleResult:
        return sweep_bundle(self._sweep, segmented)


class Watched:
    """A `SweepPool`, of which is seen what it holds and what it gives up."""

    def __init__(self, pool: SweepPool, fleet: Fleet, bundle_size: int) -> None:
        self._bundle_size = bundle_size
        self.actors = pool.actors
        self.backlog: _BundleBacklog | None = None
        self.is_at_work = False
        self._pool = pool
        self._fleet = fleet
        self._has_more = True
        self._pulled = self._landed = 0

    def map(self, bundles: Iterator[Sequence[Article]]) -> Iterator[list[Landed]]:
        self.is_at_work = True
        try:
            for landed in self._pool.map(self._seen(bundles)):
                for bundle, result in landed:
                    self._landed += len(bundle)
                    self._require_deaths(result)
                yield landed
        finally:
            self.is_at_work = False

    @property
    def has_work(self) -> bool:
        """Whether a bundle waits for any actor that has room."""
        backlog = self.backlog
        if not self.is_at_work or backlog is None:
            return False
        waiting = backlog._next
        return not backlog._needs_actor_alone(waiting[0]) if waiting else self._has_more

    def _seen(self, bundles: Iterator[Sequence[Article]]) -> Iterator[Sequence[Article]]:
        for bundle in bundles:
            self._pulled += len(bundle)
            # Actors get new bundles before those that have just landed are handed on.
            in_flight = self._pool.bundles_per_actor * len(self.actors)
            held, most = self._pulled - self._landed, (2 * in_flight + 1) * self._bundle_size
            assert held <= most, f"the driver holds {held} articles, and may hold {most}"
            yield bundle
        self._has_more = False

    def _require_deaths(self, result: BundleResult) -> None:
        for failure in result.failures:
            met = self._fleet.strikes[failure.article_id]
            assert failure.attempts <= met, f"{failure} was given up after {met} deaths"


@dataclass(frozen=True)
class SweepPools:
    """`nws.jobs.drive.pools.Pools` of a run that trains nothing, and whose workers alone know how they multiply."""

    device: str
    open_sweep: Callable[[Stage], AbstractContextManager[Watched]]

    def arithmetic(self) -> None:
        """Not known."""

    def ask_machines(self, question: Callable[[], str]) -> list[str]:
        """They have no pipeline that tells kinds of words."""
        return [""]


class Drivers:
    """Opens pools for the drivers of one case."""

    def __init__(self, case: Case, ray: RayFace, fleet: Fleet) -> None:
        self._case = case
        self._ray = ray
        self._fleet = fleet
        self.pools: dict[Session, Watched] = {}

    @contextlib.contextmanager
    def open_pools(self, *_: object) -> Iterator[SweepPools]:
        """In the place of `nws.jobs.drive.pools.open_pools`."""
        session = self._ray.init()

        @contextlib.contextmanager
        def open_sweep(plan: Stage) -> Iterator[Watched]:
            make = partial(stub_work.make_sweeper, plan.signatures, plan.lengths, 0.0, 0.0)
            pool = ActorPool(Sweeper, make, _GPU, self._case.actors, self._ray.segment, self._case.stuck_seconds)
            with contextlib.closing(pool):
                watched = self.pools[session] = Watched(SweepPool(pool), self._fleet, self._case.bundle_size)
                yield watched

        try:
            yield SweepPools(f"{self._case.actors} x {_GPU.describe()}", open_sweep)
        finally:
            if session.process.is_alive:
                self._ray.shutdown()

    def backlog(self, *args: Any) -> _BundleBacklog:
        """In the place of `_BundleBacklog` in `nws.cluster.pools`."""
        backlog = _BundleBacklog(*args)
        self.pools[self._ray._session()].backlog = backlog
        return backlog
