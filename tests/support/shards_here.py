"""Drivers of shards that run in this very process, one after the other, each to its end before it has begun."""

import io
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from rich.console import Console

from core.errors import NwsError
from jobs.drive import driver
from jobs.drive.pools import REAL, Makers
from jobs.store import RunInfo, Store
from jobs.store.runs import is_driven

QUIET = Console(file=io.StringIO())


@dataclass
class ShardsHere:
    """`before` is called with each shard once it was handed out, and may raise in place of its driver."""

    store: Store
    makers: Makers = REAL
    before: Callable[[RunInfo], None] = lambda shard: None
    started: list[int | None] = field(default_factory=list)

    def start(self, shard: RunInfo, hand_out: Callable[[str | None], int]) -> str:
        epoch = hand_out(None)
        self.started.append(shard.shard)
        try:
            self.before(self.store.run_info(shard.id))
            driver.resume(self.store, shard.id, "inline", None, None, QUIET, epoch=epoch, makers=self.makers)
        except NwsError as error:
            return str(error)
        return "here"

    def works_on(self, shard: RunInfo) -> bool:
        return is_driven(shard, socket.gethostname(), datetime.now(UTC))

    def stop(self, shard: RunInfo) -> None:
        self.store.cancel_run(shard.id, socket.gethostname())
