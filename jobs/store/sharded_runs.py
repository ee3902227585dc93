"""Sharded runs: how they are created, what their shards share, and how drivers claim the next shard.

The articles of a sharded run are divided among other runs, its shards, which name it as their parent. The process that
starts the drivers of the shards claims, cancels and ends the sharded run, as a driver does with any other run.
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

if TYPE_CHECKING:  # importing NumPy would delay `nws ls`
    from nws.core.metrics.kept import Panel
    from nws.core.text.language import Language

MOST_FAILED = 3
"""After this many failed shards in a row, with none done in between, no more are claimed."""


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
    """Add a pending run and its pending shards, all or nothing. Returns the ids of the shards, in order.

    `shards` has the definition and the number of articles of each shard. The language, and the panel of each dataset,
    follow from all articles, and a shard knows only its own.

    Raises:
        StoreError: a part of the definition is not JSON.
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
    """Return the number of drivers that a sharded run had last, or was submitted with."""
    query = select(ShardedRunRow.drivers).where(ShardedRunRow.run_id == parent)
    return connection.execute(query).scalar_one()


def parent_decided(connection: Connection, run_id: str) -> "tuple[Language | None, tuple[Panel, ...] | None]":
    """Read the language and the panels that the parent of a shard has decided; None for a run that is not a shard."""
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
    """Let drivers claim the shards of a run that are not done, or that have failed articles.

    Args:
        connection: the connection of the transaction.
        parent: the sharded run.
        epoch: the epoch of the process that is about to start drivers. Drivers of an earlier process claim no more.
        drivers: the number of drivers.
        address: the dashboard to which the drivers are submitted; None for drivers on this machine.

    Raises:
        FencedError: another process has the run.
    """
    is_undone = RunRow.state.in_(("pending", "failed", "interrupted"))
    is_to_do = or_(is_undone, and_(RunRow.state == "done", RunRow.failures > 0))
    again = {"state": "pending", "error": None, "finished_at": None, "means_cached": False, "address": address}
    connection.execute(update(RunRow).where(RunRow.parent == parent, is_to_do).values(again))
    check_fence(connection, parent, epoch)  # not first, since drivers also lock a shard before its parent
    update_run(connection, parent, address=address)
    connection.execute(update(ShardedRunRow).where(ShardedRunRow.run_id == parent).values(drivers=drivers))


def close_shards(connection: Connection, parent: str, epoch: int) -> None:
    """Interrupt the shards that are still pending, since nobody will claim them.

    Raises:
        FencedError: another process has the run.
    """
    ended = {"state": "interrupted", "finished_at": datetime.now(UTC), "error": "no driver has started it"}
    waits = (RunRow.parent == parent, RunRow.state == "pending")
    connection.execute(update(RunRow).where(*waits).values(ended))
    check_fence(connection, parent, epoch)


def claim_shard(connection: Connection, parent: str, epoch: int, host: str, pid: int) -> tuple[RunInfo | None, bool]:
    """Claim the next shard for the driver at `host` and `pid`: a pending one, or else one whose driver has died.

    Args:
        connection: the connection of the transaction.
        parent: the sharded run.
        epoch: the epoch of the process that started the driver.
        host: the name of the driver's machine.
        pid: the id of the driver's process there. It drives one shard at a time.

    Returns:
        The shard, with the epoch of this claim, and whether other drivers work, whose shards become free if they die.
        The shard is None if there is none to claim, another process has the run, it was cancelled, or `MOST_FAILED`
        shards in a row have failed.
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
    """Return whether a driver had the shard and died: it sends no heartbeats, or its watchdog has said so."""
    return is_stale(shard, host, now) or (shard.state == "failed" and (shard.error or "").startswith(DRIVER_DIED))


def _have_failed_in_a_row(connection: Connection, parent: str) -> bool:
    ended = select(RunRow.state, RunRow.error).where(RunRow.parent == parent, RunRow.finished_at.is_not(None))
    newest = connection.execute(ended.order_by(RunRow.finished_at.desc()).limit(MOST_FAILED)).all()
    failed = [row for row in newest if row.state == "failed" and not (row.error or "").startswith(DRIVER_DIED)]
    return len(failed) == MOST_FAILED


def _next_shard(connection: Connection, parent: str, host: str, pid: int) -> str | None:
    """Return the id of a shard that can be claimed, and lock its row until the transaction ends."""
    # This driver may have claimed a shard already, and lost the answer. ("running" comes before "pending".)
    is_own = and_(RunRow.state == "running", RunRow.driver_host == host, RunRow.driver_pid == pid)
    waiting = select(RunRow.id).where(RunRow.parent == parent, or_(RunRow.state == "pending", is_own))
    first = waiting.order_by(RunRow.state.desc(), RunRow.shard).limit(1)
    # SQLite has no such lock, but there this transaction is the only one that writes.
    shard_id = connection.execute(first.with_for_update(skip_locked=True)).scalar()
    if shard_id is not None:
        return str(shard_id)
    now = datetime.now(UTC)
    begun = read_shards(connection, parent, RunRow.state.in_(("running", "failed")))
    lost = (shard for shard in begun if has_lost_driver(shard, host, now))
    return next((shard.id for shard in lost if _is_unchanged(connection, shard)), None)


def _is_unchanged(connection: Connection, shard: RunInfo) -> bool:
    """Lock a shard, and return whether it is unchanged since it was read, so that nobody else has claimed it."""
    query = select(RunRow.driver_epoch, RunRow.state).where(RunRow.id == shard.id).with_for_update(skip_locked=True)
    return connection.execute(query).one_or_none() == (shard.driver_epoch, shard.state)
