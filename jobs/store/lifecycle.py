"""The life of a run, from its creation to its removal, and the fence of its driver."""

import secrets
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, func, insert, select, update

from nws.core.errors import FencedError, StoreError
from nws.jobs.store.articles import articles_of_runs
from nws.jobs.store.engine import require_storable
from nws.jobs.store.means import OF_DOCUMENT, forget
from nws.jobs.store.runs import (
    RunInfo,
    RunSpec,
    is_driven,
    is_stale,
    read_run,
    read_shards,
    require_epoch,
    require_free,
    seconds_of_driver,
)
from nws.jobs.store.schema import require_not_upgraded
from nws.jobs.store.tables import ArticleRow, Base, EpisodeRow, FailureRow, ProgressRow, RunRow

# In an order in which each table comes before those that it refers to.
_TABLES_OF_RUNS = [table for table in reversed(Base.metadata.sorted_tables) if "run_id" in table.columns]
_NO_DRIVER = {"driver_host": None, "driver_pid": None}


def create_run(connection: Connection, /, spec: RunSpec, run_id: str | None = None, **place: str | int) -> str:
    """Add a pending run and return its id: `run_id`, or a new one (see `new_run_id`).

    `place` has the columns of a sharded run or a shard: `parent`, `shard`, `total_articles`.

    Raises:
        StoreError: a part of the spec is not JSON, or a database cannot store the name or the note.
    """
    run_id = run_id or new_run_id(spec.job)
    require_storable({"name": spec.name, "note": spec.note}, f"the name or note of a {spec.job} run")
    connection.execute(insert(RunRow).values(id=run_id, created_at=datetime.now(UTC), **asdict(spec), **place))
    return run_id


def new_run_id(job: str) -> str:
    """Make a run id: `<job>-<yyyymmdd>-<6 hex digits>`."""
    return f"{job}-{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(3)}"


def claim_run(
    connection: Connection, run_id: str, host: str, pid: int, take_over: bool = False, epoch: int | None = None
) -> int:
    """Claim a run for the driver at `host` and `pid`. It becomes 'running', and an earlier cancellation is dropped.

    Args:
        connection: the connection of the transaction.
        run_id: the run.
        host: the name of the driver's machine.
        pid: the id of the driver's process there.
        take_over: whether to replace a driver that seems to be alive.
        epoch: the epoch that the run must still have: that of a job's submission, or of an earlier claim.

    Returns:
        The driver's epoch, for its `RunWriter`. Every earlier epoch of the run is fenced off.

    Raises:
        StoreError: there is no such run (the message lists the newest ones), another driver works on it, or the store
            was upgraded since this process opened it.
        FencedError: the run has another epoch.
    """
    now = datetime.now(UTC)
    run = _locked_run(connection, run_id)
    require_not_upgraded(connection)
    # Then this very process claimed the run before, and only the answer was lost.
    is_ours = (run.driver_host, run.driver_pid) == (host, pid)
    if epoch is not None:
        require_epoch(run, epoch + 1 if is_ours and run.driver_epoch == epoch + 1 else epoch)
    elif not take_over and not is_ours:
        require_free(connection, run_id, host)
    driver = {"driver_epoch": run.driver_epoch + 1, "driver_host": host, "driver_pid": pid, "heartbeat_at": now}
    times = {"started_at": run.started_at or now, "claimed_at": now, "finished_at": None}
    before = {"worked_seconds": run.worked_seconds + seconds_of_driver(run), "error": None, "means_cached": False}
    # The holder of the run's epoch may have been asked to stop since it got the epoch.
    asked = None if epoch is None else run.cancel_requested_at
    update_run(connection, run_id, state="running", cancel_requested_at=asked, **driver, **times, **before)
    connection.execute(delete(ProgressRow).where(ProgressRow.run_id == run_id))
    if run.driver_epoch > 0:
        forget(connection, run_id, OF_DOCUMENT)
    if run.driver_epoch > 0 and run.parent is not None:  # what was stored when the parent ended is outdated
        update_run(connection, run.parent, means_cached=False)
        forget(connection, run.parent)
    return run.driver_epoch + 1


def submit_again(connection: Connection, run_id: str, host: str, address: str, take_over: bool) -> int:
    """Reserve a run for a job that is about to be submitted to the dashboard at `address`.

    Returns:
        The epoch with which that job claims the run. Earlier jobs and drivers are fenced off.

    Raises:
        StoreError: a driver works on it as far as `host` can tell (unless `take_over`), or there is no such run.
    """
    _locked_run(connection, run_id)
    run = require_free(connection, run_id, host, take_over)
    state = "pending" if run.state == "running" else run.state  # the driver is gone, or fenced off now
    values = {"driver_epoch": run.driver_epoch + 1, "address": address, "cancel_requested_at": None, "state": state}
    update_run(connection, run_id, **values, **_NO_DRIVER)
    return run.driver_epoch + 1


def cancel_run(connection: Connection, run_id: str, host: str) -> bool:
    """Ask the driver of a run, and those of its shards, to stop. A run without a driver is 'interrupted' at once.

    A run that has ended stays as it is.

    Returns:
        Whether there is a driver, as far as `host` can tell, that will stop in a moment.

    Raises:
        StoreError: there is no such run; the message lists the newest ones.
    """
    in_work = read_shards(connection, run_id, RunRow.state.in_(("pending", "running")))
    # Shards come first, since their drivers also lock a shard before its parent. A list, so that all are cancelled.
    return any([_cancel(connection, cancelled, host) for cancelled in (*(shard.id for shard in in_work), run_id)])


def remove_run(connection: Connection, run_id: str, host: str) -> int:
    """Delete a run with all its rows and its shards, and the articles that no other run has.

    While another run is unfinished, articles stay, since it may be about to use them. The next removal deletes them.

    Returns:
        The number of deleted articles.

    Raises:
        StoreError: a driver works on it as far as `host` can tell, or is awaited; it is a shard; or there is no such
            run.
    """
    run = _locked_run(connection, run_id)
    shards = read_shards(connection, run_id)
    _require_removable(run, shards, host)
    ids = [*(shard.id for shard in shards), run_id]
    # Articles are locked first, as drivers do, so that no two wait for each other.
    is_last_in_work = _lock_articles(connection, ids)
    for table in _TABLES_OF_RUNS:
        connection.execute(delete(table).where(table.columns["run_id"].in_(ids)))
    connection.execute(delete(RunRow).where(RunRow.parent == run_id))
    connection.execute(delete(RunRow).where(RunRow.id == run_id))
    return _remove_orphans(connection) if is_last_in_work else 0


def _cancel(connection: Connection, run_id: str, host: str) -> bool:
    """Ask a run's driver to stop, or end a run that has none. Returns whether there is a driver to wait for."""
    now = datetime.now(UTC)
    update_run(connection, run_id, cancel_requested_at=now)
    run = read_run(connection, run_id)
    if is_driven(run, host, now):
        return True
    if run.state in ("pending", "running"):
        # With the next epoch, so that a driver that was only silent cannot write any more.
        values = {"state": "interrupted", "finished_at": now, "driver_epoch": run.driver_epoch + 1}
        update_run(connection, run_id, **values, **_NO_DRIVER, error="cancelled")
        forget(connection, run_id)
    return False


def check_fence(connection: Connection, run_id: str, epoch: int) -> None:
    """Record a driver's heartbeat if it still has the run. Every transaction of a driver begins with this.

    The row stays locked until the transaction ends, so nobody can take the run over in between.

    Raises:
        FencedError: another driver took the run over, or its state is no longer 'running'.
    """
    changed = connection.execute(
        update(RunRow)
        .where(RunRow.id == run_id, RunRow.driver_epoch == epoch, RunRow.state == "running")
        .values(heartbeat_at=datetime.now(UTC))
    )
    if changed.rowcount == 1:
        return
    run = read_run(connection, run_id)
    cause = f"taken over by pid {run.driver_pid} on {run.driver_host}" if run.driver_pid else "cancelled or resubmitted"
    state = f"was {cause} meanwhile" if run.driver_epoch != epoch else f"is {run.state!r}, no longer 'running'"
    raise FencedError(
        f"run {run_id!r} {state} (driver {run.driver_epoch}; this is driver {epoch}). So this driver stops, and stores "
        f"no more results. Resume the run with: nws resume {run_id}"
    )


def update_run(connection: Connection, run_id: str, **values: object) -> None:
    """Change columns of a run."""
    connection.execute(update(RunRow).where(RunRow.id == run_id).values(values))


def _locked_run(connection: Connection, run_id: str) -> RunInfo:
    """Lock a run, then read it. If two transactions come at once, the second sees what the first has done."""
    update_run(connection, run_id, driver_epoch=RunRow.driver_epoch)
    return read_run(connection, run_id)


def _require_removable(run: RunInfo, shards: Sequence[RunInfo], host: str) -> None:
    if run.parent is not None:
        raise StoreError(
            f"run {run.id!r} is a shard of {run.parent!r}. Remove that run with all its shards: nws rm {run.parent}"
        )
    now = datetime.now(UTC)
    # If a sharded run has ended or lost its driver, nobody will claim its pending shards, so these do not count.
    is_in_work = any(each.state == "running" and not is_stale(each, host, now) for each in (run, *shards))
    if run.state == "pending" or is_in_work:
        raise StoreError(f"run {run.id!r} is {run.state}. Stop it and its shards first: nws cancel {run.id}")


def _lock_articles(connection: Connection, ids: Sequence[str]) -> bool:
    """Lock the articles if all other runs have ended. Returns whether they have, so that articles may be removed.

    On Postgres, nothing else would stop another run from using an article that is being removed. On SQLite, this
    transaction is the only one that writes.
    """
    states = RunRow.state.in_(("pending", "running"))
    in_work = select(func.count()).select_from(RunRow).where(states, RunRow.id.not_in(ids))
    if connection.execute(in_work).scalar_one():
        return False
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE articles IN SHARE ROW EXCLUSIVE MODE")
    return not connection.execute(in_work).scalar_one()


def _remove_orphans(connection: Connection) -> int:
    """Delete the articles that are in no run. Returns their number."""
    used = (articles_of_runs(), select(FailureRow.article_id), select(EpisodeRow.article_id))
    orphans = select(ArticleRow.id).except_(*used)
    number: int = connection.execute(select(func.count()).select_from(orphans.subquery())).scalar_one()
    connection.execute(delete(ArticleRow).where(ArticleRow.id.in_(orphans)))  # sqlite3 has no row count after WITH
    return number
