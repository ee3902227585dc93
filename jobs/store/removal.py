"""Runs are removed with all that is theirs; on Postgres their summaries go at once, however many there are."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, func, select

from core.errors import StoreError
from jobs.store.articles import articles_of_runs
from jobs.store.database import Database, writes
from jobs.store.lifecycle import lock_run
from jobs.store.partitions import drop_unused, truncate_partitions
from jobs.store.runs import RunInfo, is_stale, read_run, read_shards
from jobs.store.tables import (
    ArticleRow,
    Base,
    EpisodeRow,
    FailureRow,
    RunBestRow,
    RunRow,
    SummaryRow,
)

# What refers to another table comes before it.
_OF_A_RUN = [table for table in reversed(Base.metadata.sorted_tables) if "run_id" in table.columns]
_WITH_ARTICLES = (SummaryRow, FailureRow, RunBestRow, EpisodeRow)


class Removal(Database):
    """The method of a store that removes runs."""

    def remove_run(self, run_id: str, host: str) -> int:
        """Delete a run with all its rows, and the articles that are in no run any more; a sharded run with its shards.

        While another run is in work, articles stay: it may be about to use one. The next removal takes them along.

        Returns:
            How many articles went, which no run has any more.

        Raises:
            StoreError: A driver works on it as far as `host` can tell, or is awaited; it is a shard; or
                there is no such run.
        """
        removed = self._remove_run(run_id, host)
        drop_unused(self)
        return removed

    @writes
    def _remove_run(self, connection: Connection, run_id: str, host: str) -> int:
        lock_run(connection, run_id)
        run = read_run(connection, run_id)
        shards = read_shards(connection, run_id)
        _require_removable(run, shards, host)
        ids = [*(shard.id for shard in shards), run_id]
        # First, as drivers do, so that no two wait for each other.
        is_last_in_work = _lock_articles(connection, ids)
        truncate_partitions(connection, ids)
        for table in _OF_A_RUN:
            connection.execute(delete(table).where(table.columns["run_id"].in_(ids)))
        connection.execute(delete(RunRow).where(RunRow.parent == run_id))
        connection.execute(delete(RunRow).where(RunRow.id == run_id))
        return _remove_orphans(connection) if is_last_in_work else 0


def _require_removable(run: RunInfo, shards: Sequence[RunInfo], host: str) -> None:
    if run.parent is not None:
        raise StoreError(
            f"run {run.id!r} is a shard of {run.parent!r}. Remove that with all its shards: nws rm {run.parent}"
        )
    now = datetime.now(UTC)
    # Of a sharded run that has ended or lost its driver, a shard that is pending waits for nobody.
    is_in_work = any(one.state == "running" and not is_stale(one, host, now) for one in (run, *shards))
    if run.state == "pending" or is_in_work:
        raise StoreError(f"run {run.id!r} is {run.state}. Stop it and its shards first: nws cancel {run.id}")


def _lock_articles(connection: Connection, ids: Sequence[str]) -> bool:
    """Keep others from storing articles, if no other run is in work, so that articles may be removed; whether none is.

    On Postgres nothing else keeps an article whose removal has begun from being used. On SQLite nobody else writes.
    """
    states = RunRow.state.in_(("pending", "running"))
    in_work = select(func.count()).select_from(RunRow).where(states, RunRow.id.not_in(ids))
    if connection.execute(in_work).scalar_one():
        return False
    if connection.dialect.name == "postgresql":
        # In the order in which a driver comes to them. Those that refer to articles get an index, and lose it again.
        connection.exec_driver_sql("LOCK TABLE failures, run_best_n, episodes IN ACCESS EXCLUSIVE MODE")
        connection.exec_driver_sql("LOCK TABLE articles IN SHARE ROW EXCLUSIVE MODE")
    return not connection.execute(in_work).scalar_one()


def _remove_orphans(connection: Connection) -> int:
    used = (articles_of_runs(SummaryRow), articles_of_runs(RunBestRow))
    others = (select(FailureRow.article_id), select(EpisodeRow.article_id))
    orphans = select(ArticleRow.id).except_(*used, *others)
    number: int = connection.execute(select(func.count()).select_from(orphans.subquery())).scalar_one()
    if not number:
        return 0
    # The database looks each article up in the tables that refer to it, whose keys begin with the run.
    referring = [table for table in _WITH_ARTICLES if table is not SummaryRow or connection.dialect.name == "sqlite"]
    names = [table.__tablename__ for table in referring]
    for name in names:
        connection.exec_driver_sql(f"CREATE INDEX ix_{name}_for_removal ON {name} (article_id)")
    connection.execute(delete(ArticleRow).where(ArticleRow.id.in_(orphans)))
    for name in names:
        connection.exec_driver_sql(f"DROP INDEX ix_{name}_for_removal")
    return number
