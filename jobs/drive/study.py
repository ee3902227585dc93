"""A study in work: its driver starts those of its shards, so many at a time, until every shard has ended.

Each shard is an ordinary run with a driver of its own. This one computes nothing and stores no row of theirs: what it
knows of them it reads in the store, so that one that takes its place continues.
"""

import functools
import itertools
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from rich.console import Console

from core.errors import ClusterError, FencedError, StoreError
from jobs.drive.driver import fetch_models
from jobs.drive.progress_bar import run_progress
from jobs.drive.run import FREE, Claim, Outcome, Run, take_run
from jobs.drive.shard_drivers import NEVER_BEGAN, ShardDrivers
from jobs.drive.watchdog import DIED
from jobs.plan.pinned import Pinned
from jobs.plan.shards import shards_of, whole_of
from jobs.store import RunInfo, Store, StudySettings, is_stale

MOST_DRIVERS = 3
"""Of a shard, one after the other, by one driver of its study: so often it starts another where one died."""
MOST_FAILED = 3
"""Shards that fail in a row, with none done in between, before no more are started: their reason is that of all."""
_PAUSE_SECONDS = 0.5
_STOP_SECONDS = 60.0
_NAMED = 3


def create_study(
    store: Store,
    study: str,
    pinned: Pinned,
    settings: StudySettings,
    shards: int | None,
    shard_articles: int | None,
    console: Console,
    address: str | None = None,
    reuse: bool = False,
    name: str | None = None,
    note: str | None = None,
) -> list[str]:
    """Add a study and its shards, see `jobs.plan.shards.shards_of`; the ids of the shards.

    Raises:
        NwsError: a model is missing, the articles cannot be divided, or the store refuses. There is no study then.
    """
    if address is None:
        fetch_models(pinned.plans)  # once, before several drivers would
    spec = pinned.run_spec(address, reuse, name, note)
    divided = shards_of(pinned, spec, shards, shard_articles)
    return store.create_study(spec, study, settings, whole_of(pinned), pinned.systems, divided)


def drive_study(
    store: Store, study: str, drivers: ShardDrivers, at_once: int, console: Console, take_over: bool = False
) -> Outcome:
    """Drive a study to its end: what is not done of its shards, `at_once` at a time. The same starts and resumes it.

    An interruption stops the shards, too, and is in the outcome. A driver that is replaced leaves them alone.

    Raises:
        StoreError: another driver works on it, or there is no such study.
        ClusterError: shards are not done; what they have is stored.
    """
    claim = Claim(take_over) if take_over else FREE
    work = functools.partial(_run_shards, drivers=drivers, at_once=at_once, console=console)
    return take_run(store, study, console, work, claim)


def _run_shards(run: Run, drivers: ShardDrivers, at_once: int, console: Console) -> None:
    shards = run.store.shards(run.id)
    run.say(f"Study {run.id} in {run.store.shown_url}: {len(shards)} shards, {at_once} at a time")
    finished, failed = _counts(shards)
    total = run.store.run_info(run.id).total_articles
    show = functools.partial(run.show, stage=f"{len(shards)} shards")
    with (
        _stopped_with(run, drivers),
        run_progress(console, total, finished, run.note, show, first="starting drivers") as advance,
    ):
        for shards in _rounds(run, drivers, at_once):
            before = finished, failed
            finished, failed = _counts(shards)
            new = max(0, failed - before[1])
            advance(max(0, finished - before[0] - new), new)
            at = run.store.progress_of([shard.id for shard in shards if shard.state == "running"]).values()
            run.show(
                actors=tuple(actor for one in at for actor in one.actors),
                newest=max((one.newest for one in at if one.newest), default=None),
            )
    _require_done(run, shards)


def _counts(shards: Sequence[RunInfo]) -> tuple[int, int]:
    """How many articles are done or failed, and how many failed."""
    failed = sum(shard.failures for shard in shards)
    return sum(shard.articles_done for shard in shards) + failed, failed


def _rounds(run: Run, drivers: ShardDrivers, at_once: int) -> Iterator[list[RunInfo]]:
    """Start drivers wherever there is room, and look, until there is nothing more to do; the shards at each look."""
    started, told, warned = Counter[str](), set[tuple[str, int]](), set[str]()
    failed_in_a_row = 0
    while True:
        run.check()
        at_work = {shard.id for shard in run.store.shards(run.id) if drivers.works_on(shard)}
        shards = run.store.shards(run.id)  # as those are that have just ended
        yield shards
        for shard in shards:
            if started[shard.id] and shard.id not in at_work and (shard.id, shard.driver_epoch) not in told:
                told.add((shard.id, shard.driver_epoch))
                run.say(_how_it_ended(shard))
                _pass_on_warnings(run, shard, warned)
                failed_in_a_row = failed_in_a_row + 1 if shard.state == "failed" and not _died(shard) else 0
        waiting = [shard for shard in shards if shard.id not in at_work and _is_to_do(shard, started[shard.id])]
        if failed_in_a_row >= MOST_FAILED and waiting:
            run.say(f"{MOST_FAILED} shards in a row have failed: no more are started.")
            waiting = []
        if not (at_work or waiting):
            return
        for shard in itertools.islice(waiting, max(0, at_once - len(at_work))):
            hand_out = functools.partial(run.store.hand_out, run.id, run.epoch, shard.id, socket.gethostname())
            started[shard.id] += 1
            try:
                where = drivers.start(shard, hand_out)
            except ClusterError as error:  # of this one: the others may be taken
                where = f"cannot be started: {error}"
            run.say(f"Shard {shard.shard} of {len(shards)}, {shard.id}: {where}")
        time.sleep(_PAUSE_SECONDS)


def _is_to_do(shard: RunInfo, started: int) -> bool:
    """Whether a shard without a driver is to get one: the first by this driver, or another after one that died.

    So is one that ended before it drove the shard: the store may have been away. If all end so, `MOST_FAILED` holds.
    """
    is_done = shard.state == "done" and (started or not shard.failures)
    is_worth_another = _died(shard) or NEVER_BEGAN in (shard.error or "")
    return not is_done and (not started or (started < MOST_DRIVERS and is_worth_another))


def _died(shard: RunInfo) -> bool:
    return is_stale(shard, socket.gethostname(), datetime.now(UTC)) or (shard.error or "").startswith(DIED)


def _how_it_ended(shard: RunInfo) -> str:
    done = f"{shard.articles_done}/{shard.total_articles} articles, {shard.failures} failed"
    state = "is without a driver" if shard.state == "running" else f"is {shard.state}"
    return f"Shard {shard.shard}, {shard.id}, {state}: {done}{f' ({shard.error})' if shard.error else ''}"


def _pass_on_warnings(run: Run, shard: RunInfo, warned: set[str]) -> None:
    """Say what a shard's drivers have warned of, each thing once for all shards: who follows a study reads its log."""
    for _, line in run.store.log(shard.id):
        if line.text.startswith("Warning: ") and line.text not in warned:
            warned.add(line.text)
            run.say(f"Shard {shard.shard}: {line.text}")


@contextmanager
def _stopped_with(run: Run, drivers: ShardDrivers) -> Iterator[None]:
    """An end that nobody waited for stops the shards, too, unless the study has another driver now."""
    try:
        yield
    finally:
        error = sys.exception()
        if error is not None and not isinstance(error, StoreError | GeneratorExit):
            run.say("Stopping the shards that are in work …")
            _stop(run, drivers)


def _stop(run: Run, drivers: ShardDrivers) -> None:
    deadline = time.monotonic() + _STOP_SECONDS
    asked = set[str]()
    while time.monotonic() < deadline:
        shards = run.store.shards(run.id)
        at_work = [shard for shard in shards if drivers.works_on(shard)]
        for shard in shards:
            if shard.id not in asked and (shard in at_work or shard.state == "pending"):
                asked.add(shard.id)
                with suppress(FencedError, ClusterError):
                    drivers.stop(shard)
        if not at_work:
            return
        time.sleep(_PAUSE_SECONDS)


def _require_done(run: Run, shards: Sequence[RunInfo]) -> None:
    """Refuse to end a study as done while one of its shards is not.

    Raises:
        ClusterError: names some of them, and why.
    """
    undone = [shard for shard in shards if shard.state != "done"]
    for shard in undone:
        if shard.state == "pending":  # which nobody is going to start
            run.store.cancel_run(shard.id, socket.gethostname())
    if undone:
        named = "; ".join(f"{shard.id}: {shard.error or shard.state}" for shard in undone[:_NAMED])
        raise ClusterError(
            f"Of the {len(shards)} shards of {run.id}, {len(undone)} are not done ({named}"
            f"{'; …' if len(undone) > _NAMED else ''}). Resume the study with: nws resume {run.id}"
        )
