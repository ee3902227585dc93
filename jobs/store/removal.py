"""The end of a run: every row of it, in one transaction."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, func, select, update

from core.errors import StoreError
from jobs.store.runs import info, is_stale
from jobs.store.tables import (
    ArticleRow,
    Base,
    EpisodeRow,
    FailureRow,
    LogLineRow,
    PolicyRow,
    ProgressRow,
    RunBestRow,
    RunMeanRow,
    RunRow,
    SummaryRow,
    SystemRow,
    UpdateRow,
)

# What refers to another table comes before it.
_OF_A_RUN: tuple[type[Base], ...] = (
    *(LogLineRow, ProgressRow, RunMeanRow, RunBestRow, FailureRow, SummaryRow),
    *(EpisodeRow, UpdateRow, PolicyRow, SystemRow),
)
_WITH_ARTICLES = (SummaryRow, FailureRow, RunBestRow, EpisodeRow)


@dataclass(frozen=True, slots=True)
class Removed:
    """What went with a run.

    Attributes:
        summaries: how many.
        articles: how many that no run has any more.
        copies: how many summaries of other runs were copied from it; they stay, and still name it.
    """

    summaries: int
    articles: int
    copies: int


def remove(connection: Connection, run_id: str, host: str) -> Removed:
    """Delete a run with all its rows, and the articles that are in no run any more.

    While another run is in work, articles stay: it may be about to use one. The next removal takes them along.

    Raises:
        StoreError: the run is waiting for its driver or has one, as far as `host` can tell; or there is no such run.
    """
    # Locked first, so that no driver takes it meanwhile.
    connection.execute(update(RunRow).where(RunRow.id == run_id).values(driver_epoch=RunRow.driver_epoch))
    run = info(connection, run_id)
    if run.state == "pending" or (run.state == "running" and not is_stale(run, host, datetime.now(UTC))):
        raise StoreError(f"run {run_id!r} is {run.state}. Stop it first: nws cancel {run_id}")
    copied_from_run = SummaryRow.reused_from == run_id
    copies = connection.execute(select(func.count()).select_from(SummaryRow).where(copied_from_run)).scalar_one()
    for table in _OF_A_RUN:
        connection.execute(delete(table).where(table.__table__.columns["run_id"] == run_id))
    connection.execute(delete(RunRow).where(RunRow.id == run_id))
    return Removed(run.summaries, _remove_orphans(connection), copies)


def _remove_orphans(connection: Connection) -> int:
    in_work = select(func.count()).select_from(RunRow).where(RunRow.state.in_(("pending", "running")))
    if connection.execute(in_work).scalar_one():
        return 0
    orphans = select(ArticleRow.id).except_(*(select(table.article_id) for table in _WITH_ARTICLES))
    if connection.execute(select(orphans.exists())).scalar_one() is False:
        return 0
    # The database looks each article up in the tables that refer to it, whose keys begin with the run.
    names = [table.__tablename__ for table in _WITH_ARTICLES]
    for name in names:
        connection.exec_driver_sql(f"CREATE INDEX ix_{name}_for_removal ON {name} (article_id)")
    removed = connection.execute(delete(ArticleRow).where(ArticleRow.id.in_(orphans))).rowcount
    for name in names:
        connection.exec_driver_sql(f"DROP INDEX ix_{name}_for_removal")
    return removed
