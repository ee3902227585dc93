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
from nws.jobs.store.tables import ArticleRow, Base, EpisodeRow, FailureRow, ProgressRow, RunRow

# Tables come before those that they refer to.
_TABLES_OF_RUNS = [table for table in reversed(Base.metadata.sorted_tables) if "run_id" in table.columns]
_NO_DRIVER = {"driver_host": None, "driver_pid": None}


def create_run(connection: Connection, /, spec: RunSpec, run_id: str | None = None, **place: str | int) -> str:
    """Add a pending run and return its id: `run_id`, or a new one (see `new_run_id`).

    `place` is what is known of a sharded run or a shard: `parent`, `shard`, `total_articles`.

    Raises:
        StoreError: A part of it is not JSON, or a database cannot keep its name or note.
    """
    run_id = run_id or new_run_id(spec.job)
    require_storable({"name": spec.name, "note": spec.note}, f"what a {spec.job} run is called")
    connection.execute(insert(RunRow).values(id=run_id, created_at=datetime.now(UTC), **asdict(spec), **place))
    return run_id


def new_run_id(job: str) -> str:
    """`<job>-<yyyymmdd>-<6 hex digits>`."""
    return f"{job}-{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(3)}"


def claim_run(
    connection: Connection, run_id: str, host: str, pid: int, take_over: bool = False, epoch: int | None = None
) -> int:
    """Take a run for the driver at `host` and `pid`; it is 'running' from now on, and no longer to be cancelled.

    Args:
        connection: of the transaction.
        run_id: the run.
        host: the name of the driver's machine.
        pid: the id of the driver's process there.
        take_over: whether a driver that seems to be alive is replaced.
        epoch: the epoch that the run must still have: that of a job's submission, or of an earlier claim.

    Returns:
        The driver's epoch, for its `RunWriter`. Every earlier epoch of the run is fenced off.

    Raises:
        StoreError: There is no such run (the message lists the newest ones), or another driver works on it.
        FencedError: The run has another epoch.
    """
    now = datetime.now(UTC)
    run = _locked_run(connection, run_id)
    # By this very process: it claimed the run, and only the answer was lost.
    is_ours = (run.driver_host, run.driver_pid) == (host, pid)
    if epoch is not None:
        require_epoch(run, epoch + 1 if is_ours and run.driver_epoch == epoch + 1 else epoch)
    elif not take_over and not is_ours:
        require_free(connection, run_id, host)
    driver = {"driver_epoch": run.driver_epoch + 1, "driver_host": host, "driver_pid": pid, "heartbeat_at": now}
    times = {"started_at": run.started_at or now, "claimed_at": now, "finished_at": None}
    before = {"worked_seconds": run.worked_seconds + seconds_of_driver(run), "error": None, "means_cached": False}
    # Who holds the run's epoch may have been asked to stop since.
    asked = None if epoch is None else run.cancel_requested_at
    update_run(connection, run_id, state="running", cancel_requested_at=asked, **driver, **times, **before)
    connection.execute(delete(ProgressRow).where(ProgressRow.run_id == run_id))
    if run.driver_epoch > 0:
        forget(connection, run_id, OF_DOCUMENT)
    if run.driver_epoch > 0 and run.parent is not None:  # what was stored of it when it ended holds no more
        update_run(connection, run.parent, means_cached=False)
        forget(connection, run.parent)
    return run.driver_epoch + 1


def submit_again(connection: Connection, run_id: str, host: str, address: str, take_over: bool) -> int:
    """Give a run to a job that is about to be submitted to the dashboard at `address`.

    Returns:
        The epoch with which that job claims the run. Jobs and drivers that had it before are fenced off.

    Raises:
        StoreError: A driver works on it as far as `host` can tell (unless `take_over`), or there is no such run.
    """
    _locked_run(connection, run_id)
    run = require_free(connection, run_id, host, take_over)
    state = "pending" if run.state == "running" else run.state  # of a driver that is gone, or fenced off now
    values = {"driver_epoch": run.driver_epoch + 1, "address": address, "cancel_requested_at": None, "state": state}
    update_run(connection, run_id, **values, **_NO_DRIVER)
    return run.driver_epoch + 1


def cancel_run(connection: Connection, run_id: str, host: str) -> bool:
    """Ask a run's driver to stop, and those of its shards. A run without one is 'interrupted' at once.

    One that has ended already stays as it is.

    Returns:
        Whether there is a driver, as far as `host` can tell, that will stop in a moment.

    Raises:
        StoreError: There is no such run; the message lists the newest ones.
    """
    in_work = read_shards(connection, run_id, RunRow.state.in_(("pending", "running")))
    # First the shards: their drivers, too, lock a shard before its parent. In a list, so that all are cancelled.
    return any([_cancel(connection, cancelled, host) for cancelled in (*(shard.id for shard in in_work), run_id)])


def remove_run(connection: Connection, run_id: str, host: str) -> int:
    """Delete a run with all its rows, and the articles that are in no run any more; a sharded run with its shards.

    While another run is in work, articles stay: it may be about to use one. The next removal takes them along.

    Returns:
        How many articles went, which no run has any more.

    Raises:
        StoreError: A driver works on it as far as `host` can tell, or is awaited; it is a shard; or
            there is no such run.
    """
    run = _locked_run(connection, run_id)
    shards = read_shards(connection, run_id)
    _require_removable(run, shards, host)
    ids = [*(shard.id for shard in shards), run_id]
    # First, as drivers do, so that no two wait for each other.
    is_last_in_work = _lock_articles(connection, ids)
    for table in _TABLES_OF_RUNS:
        connection.execute(delete(table).where(table.columns["run_id"].in_(ids)))
    connection.execute(delete(RunRow).where(RunRow.parent == run_id))
    connection.execute(delete(RunRow).where(RunRow.id == run_id))
    return _remove_orphans(connection) if is_last_in_work else 0


def _cancel(connection: Connection, run_id: str, host: str) -> bool:
    """Ask the run's driver to stop, or end a run that has none. Returns whether there is a driver to wait for."""
    now = datetime.now(UTC)
    update_run(connection, run_id, cancel_requested_at=now)
    run = read_run(connection, run_id)
    if is_driven(run, host, now):
        return True
    if run.state in ("pending", "running"):
        # The next epoch, so that a driver that was only silent cannot write any more.
        values = {"state": "interrupted", "finished_at": now, "driver_epoch": run.driver_epoch + 1}
        update_run(connection, run_id, **values, **_NO_DRIVER, error="cancelled")
        forget(connection, run_id)
    return False


def check_fence(connection: Connection, run_id: str, epoch: int) -> None:
    """Note a driver's heartbeat, if the run is still its own. First in every transaction of a driver.

    The row stays locked until the transaction ends, so nobody can take the run over in between.

    Raises:
        FencedError: Another driver took the run over, or its state is no longer 'running'.
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
        f"run {run_id!r} {state} (driver {run.driver_epoch}; this is driver {epoch}): this driver must stop, and its "
        f"results from now on are not stored. Resume the run with: nws resume {run_id}"
    )


def update_run(connection: Connection, run_id: str, **values: object) -> None:
    """Change columns of a run."""
    connection.execute(update(RunRow).where(RunRow.id == run_id).values(values))


def _locked_run(connection: Connection, run_id: str) -> RunInfo:
    """Lock a run, then read it, so that of two who come at once the second sees what the first has done."""
    update_run(connection, run_id, driver_epoch=RunRow.driver_epoch)
    return read_run(connection, run_id)


def _require_removable(run: RunInfo, shards: Sequence[RunInfo], host: str) -> None:
    if run.parent is not None:
        raise StoreError(
            f"run {run.id!r} is a shard of {run.parent!r}. Remove that with all its shards: nws rm {run.parent}"
        )
    now = datetime.now(UTC)
    # Of a sharded run that has ended or lost its driver, a shard that is pending waits for nobody.
    is_in_work = any(each.state == "running" and not is_stale(each, host, now) for each in (run, *shards))
    if run.state == "pending" or is_in_work:
        raise StoreError(f"run {run.id!r} is {run.state}. Stop it and its shards first: nws cancel {run.id}")


def _lock_articles(connection: Connection, ids: Sequence[str]) -> bool:
    """Lock the articles if no run but these is in work; whether that is so, and articles may be removed.

    On Postgres nothing else would stop another run from using an article that is being removed. On SQLite this
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
    """Delete the articles that are in no run; their number."""
    used = (articles_of_runs(), select(FailureRow.article_id), select(EpisodeRow.article_id))
    orphans = select(ArticleRow.id).except_(*used)
    number: int = connection.execute(select(func.count()).select_from(orphans.subquery())).scalar_one()
    connection.execute(delete(ArticleRow).where(ArticleRow.id.in_(orphans)))  # sqlite3 does not count for a WITH
    return number
