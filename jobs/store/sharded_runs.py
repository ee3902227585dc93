"""Sharded runs: how they are created, what their shards share, and how drivers claim the next shard.

A sharded run is a run whose articles are divided among other runs, its shards, which name it as their parent. It is
claimed, fenced, cancelled and ended as every other run, by the process that starts the drivers of its shards.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection, and_, func, insert, or_, select, update

from nws.core.article import Article
from nws.core.types import SystemKind
from nws.jobs.store.engine import insert_new
from nws.jobs.store.lifecycle import check_fence, claim_run, create_run, update_run
from nws.jobs.store.runs import DRIVER_DIED, RunInfo, RunSpec, is_stale, read_run, read_shards
from nws.jobs.store.tables import RunRow, ShardedRunRow, SystemRow

if TYPE_CHECKING:  # with NumPy, which `nws ls` need not wait for
    from nws.core.metrics.kept import Panel
    from nws.core.text.language import Language

MOST_FAILED = 3
"""The number of shards that fail in a row, with none done in between, after which no more are claimed."""


def create_sharded_run(
    connection: Connection,
    spec: RunSpec,
    run_id: str,
    drivers: int,
    language: "Language",
    panels: "Sequence[Panel]",
    systems: "dict[str, SystemKind]",
    shards: Sequence[tuple[RunSpec, int]],
) -> list[str]:
    """Add a pending run and its pending shards, all or nothing; the ids of the shards, in order.

    `shards` has the definition and the number of articles of each. The language and the panels, one for each
    dataset, follow from all articles, of which a shard knows only its own.

    Raises:
        StoreError: A part of it is not JSON.
    """
    create_run(connection, spec, run_id, total_articles=sum(articles for _, articles in shards))
    stored = [
        (panel.dataset, [(a.dataset, a.split, a.key, a.text, a.references) for a in panel.articles]) for panel in panels
    ]
    values = {"run_id": run_id, "drivers": drivers, "language": language, "panels": stored}
    connection.execute(insert(ShardedRunRow).values(values))
    kinds = [{"run_id": run_id, "system": name, "kind": kind} for name, kind in systems.items()]
    insert_new(connection, SystemRow, kinds)
    width = max(2, len(str(len(shards))))
    ids = [f"{run_id}-{number:0{width}}" for number in range(1, len(shards) + 1)]
    for number, (shard_id, (own, articles)) in enumerate(zip(ids, shards, strict=True), start=1):
        create_run(connection, own, shard_id, parent=run_id, shard=number, total_articles=articles)
    return ids


def shard_drivers(connection: Connection, parent: str) -> int:
    """How many drivers a sharded run last had, or was to have when it was submitted."""
    query = select(ShardedRunRow.drivers).where(ShardedRunRow.run_id == parent)
    return connection.execute(query).scalar_one()


def parent_decided(connection: Connection, run_id: str) -> "tuple[Language | None, tuple[Panel, ...] | None]":
    """The language and the panels that the parent of a shard has decided; None of a run that is no shard."""
    from nws.core.metrics.kept import Panel

    is_parent = ShardedRunRow.run_id == select(RunRow.parent).where(RunRow.id == run_id).scalar_subquery()
    row = connection.execute(select(ShardedRunRow.language, ShardedRunRow.panels).where(is_parent)).one_or_none()
    if row is None:
        return None, None
    panels = []
    for dataset, articles in row.panels:
        panel = (Article(name, split, key, text, tuple(refs)) for name, split, key, text, refs in articles)
        panels.append(Panel(dataset, tuple(panel)))
    return row.language, tuple(panels)


def open_shards(connection: Connection, parent: str, epoch: int, drivers: int, address: str | None) -> None:
    """Let drivers claim what is not done of a sharded run, and shards with failed articles.

    Args:
        connection: of the transaction.
        parent: the run.
        epoch: of the process that is about to start them. The drivers of an earlier one claim nothing any more.
        drivers: how many there are to be.
        address: the dashboard to which they are submitted; None for drivers on this machine.

    Raises:
        FencedError: another process has the run.
    """
    is_undone = RunRow.state.in_(("pending", "failed", "interrupted"))
    is_to_do = or_(is_undone, and_(RunRow.state == "done", RunRow.failures > 0))
    again = {"state": "pending", "error": None, "finished_at": None, "means_cached": False, "address": address}
    connection.execute(update(RunRow).where(RunRow.parent == parent, is_to_do).values(again))
    check_fence(connection, parent, epoch)  # not first: drivers, too, lock a shard before its parent
    update_run(connection, parent, address=address)
    connection.execute(update(ShardedRunRow).where(ShardedRunRow.run_id == parent).values(drivers=drivers))


def close_shards(connection: Connection, parent: str, epoch: int) -> None:
    """Interrupt the shards that still wait: nobody is going to claim them.

    Raises:
        FencedError: another process has the run.
    """
    ended = {"state": "interrupted", "finished_at": datetime.now(UTC), "error": "no driver has begun it"}
    waits = (RunRow.parent == parent, RunRow.state == "pending")
    connection.execute(update(RunRow).where(*waits).values(ended))
    check_fence(connection, parent, epoch)


def claim_shard(connection: Connection, parent: str, epoch: int, host: str, pid: int) -> tuple[RunInfo | None, bool]:
    """Claim the next shard for the driver at `host` and `pid`: one that waits, or else one whose driver has died.

    Args:
        connection: of the transaction.
        parent: the run.
        epoch: of the process that started the driver.
        host: name of the driver's machine.
        pid: the driver's process there. It drives one shard at a time.

    Returns:
        The shard, with the epoch of this claim. None where there is none to claim, or no more are to be: another
        process has the run, it was cancelled, or `MOST_FAILED` shards in a row have failed. And whether other
        drivers are at work, whose shards are free if they die.
    """
    query = select(RunRow.driver_epoch, RunRow.cancel_requested_at).where(RunRow.id == parent)
    if connection.execute(query).one() != (epoch, None):
        return None, False
    shard = None if _have_failed_in_a_row(connection, parent) else _next_shard(connection, parent, host, pid)
    if shard is not None:
        claim_run(connection, shard, host, pid)
        return read_run(connection, shard), True
    running = select(func.count()).where(RunRow.parent == parent, RunRow.state == "running")
    return None, connection.execute(running).scalar_one() > 0


def has_lost_driver(shard: RunInfo, host: str, now: datetime) -> bool:
    """Whether a driver had the shard and died: nobody has heard of it, or its watchdog has said so."""
    return is_stale(shard, host, now) or (shard.state == "failed" and (shard.error or "").startswith(DRIVER_DIED))


def _have_failed_in_a_row(connection: Connection, parent: str) -> bool:
    ended = select(RunRow.state, RunRow.error).where(RunRow.parent == parent, RunRow.finished_at.is_not(None))
    newest = connection.execute(ended.order_by(RunRow.finished_at.desc()).limit(MOST_FAILED)).all()
    failed = [row for row in newest if row.state == "failed" and not (row.error or "").startswith(DRIVER_DIED)]
    return len(failed) == MOST_FAILED


def _next_shard(connection: Connection, parent: str, host: str, pid: int) -> str | None:
    """The id of a shard that can be claimed, whose row nobody else can lock until the transaction ends."""
    # Claimed by this driver already, which did not get the answer. ("running" comes before "pending".)
    is_own = and_(RunRow.state == "running", RunRow.driver_host == host, RunRow.driver_pid == pid)
    waiting = select(RunRow.id).where(RunRow.parent == parent, or_(RunRow.state == "pending", is_own))
    first = waiting.order_by(RunRow.state.desc(), RunRow.shard).limit(1)
    # On SQLite, which knows no such lock, the transaction has begun as the only one that writes.
    shard_id = connection.execute(first.with_for_update(skip_locked=True)).scalar()
    if shard_id is not None:
        return str(shard_id)
    now = datetime.now(UTC)
    begun = read_shards(connection, parent, RunRow.state.in_(("running", "failed")))
    lost = (shard for shard in begun if has_lost_driver(shard, host, now))
    return next((shard.id for shard in lost if _is_unchanged(connection, shard)), None)


def _is_unchanged(connection: Connection, shard: RunInfo) -> bool:
    """Lock a shard, and say whether it still is as it was read: nobody else has claimed it, or is about to."""
    query = select(RunRow.driver_epoch, RunRow.state).where(RunRow.id == shard.id).with_for_update(skip_locked=True)
    return connection.execute(query).one_or_none() == (shard.driver_epoch, shard.state)
