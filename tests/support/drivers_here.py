"""Drivers of shards that run in this very process, one after the other, each to its end before the next is started."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Console

from jobs.drive import driver
from jobs.drive.pools import MakeWork, stage_work
from jobs.drive.run import Outcome
from jobs.drive.shard_drivers import ShardDriver, drive_shards
from jobs.store import RunInfo, Store

QUIET = Console(file=io.StringIO())


class Killed(Exception):
    """In place of a signal: nothing but the end of a driver comes of it."""


@dataclass
class DriversHere:
    """Starts drivers. `before` is called with each shard that one has claimed, and may raise in place of its work."""

    store: Store
    run_id: str
    make_work: MakeWork = stage_work
    before: Callable[[RunInfo], None] = lambda shard: None
    driven: list[int | None] = field(default_factory=list)

    def __call__(self, epoch: int) -> ShardDriver:
        death = ""
        try:
            drive_shards(self.store, self.run_id, epoch, self._drive, QUIET)
        except Killed as error:
            death = f"was killed: {error}"
        return ShardDriver("here", lambda: death)

    def _drive(self, store: Store, shard: str, epoch: int) -> Outcome:
        claimed = store.run_info(shard)
        self.driven.append(claimed.shard)
        self.before(claimed)
        return driver.resume(store, shard, "inline", None, None, QUIET, epoch=epoch, make_work=self.make_work)
