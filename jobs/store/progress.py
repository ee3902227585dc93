"""The progress that a driver reports with its heartbeat, and what else `nws watch` shows.

Each function works inside one transaction, and reads a few rows by their keys: a store may hold millions.
"""

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, select

from core.types import SystemKind
from jobs.store.on_conflict import insert
from jobs.store.tables import ArticleRow, FailureRow, ProgressRow, SummaryRow, SystemRow


@dataclass(frozen=True, slots=True)
class ActorShare:
    """An actor whose models are loaded; `busy` is the share of the last minute in which it had work, None at first."""

    number: int
    device: str
    node: str
    busy: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a driver.

    Attributes:
        noted_at: the time of this report by the driver's clock; aware, in UTC.
        stage: of the run.
        unit: what is counted, `articles` or `updates`.
        finished: how many of them are done or failed.
        failed: how many of these failed with this driver.
        total: how many there are, None if unknown.
        span_seconds: the last minutes, from a moment at which some had just been finished; 0 before.
        span_finished: how many were finished since that moment.
        actors: those whose models are loaded.
        newest: the id of an article of those that were stored last, None before.
    """

    noted_at: datetime
    stage: str
    unit: str = "articles"
    finished: int = 0
    failed: int = 0
    total: int | None = None
    span_seconds: float = 0.0
    span_finished: int = 0
    actors: tuple[ActorShare, ...] = ()
    newest: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A summary that was stored; `kind` is its system's, see `core.types.SystemKind`."""

    dataset: str
    key: str
    system: str
    kind: SystemKind
    n: int
    text: str
    bertscore_f1: float


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an article failed; `failed_at` is aware, in UTC."""

    dataset: str
    key: str
    error_class: str
    message: str
    failed_at: datetime


def note(connection: Connection, run_id: str, progress: Progress) -> None:
    """Replace what was noted of the run. The caller has checked the driver's epoch."""
    values = {**asdict(progress), "actors": [asdict(actor) for actor in progress.actors]}
    statement = insert(connection, ProgressRow).values(run_id=run_id, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["run_id"], set_=values))


def read(connection: Connection, run_id: str) -> Progress | None:
    row = connection.execute(select(ProgressRow.__table__).where(ProgressRow.run_id == run_id)).one_or_none()
    if row is None:
        return None
    values = {name: value for name, value in row._mapping.items() if name != "run_id"}
    values["actors"] = tuple(ActorShare(**actor) for actor in row.actors)
    return Progress(**values)


def forget(connection: Connection, run_id: str) -> None:
    connection.execute(delete(ProgressRow).where(ProgressRow.run_id == run_id))


def written(connection: Connection, run_id: str, article_id: str) -> list[Written]:
    same_system = (SystemRow.run_id == SummaryRow.run_id) & (SystemRow.system == SummaryRow.system)
    query = (
        select(
            ArticleRow.dataset,
            ArticleRow.key,
            SummaryRow.system,
            SystemRow.kind,
            SummaryRow.n,
            SummaryRow.text,
            SummaryRow.bertscore_f1,
        )
        .join(ArticleRow, ArticleRow.id == SummaryRow.article_id)
        .join(SystemRow, same_system)
        .where(SummaryRow.run_id == run_id, SummaryRow.article_id == article_id)
    )
    return [Written(**row._mapping) for row in connection.execute(query)]


def reasons(connection: Connection, run_id: str, count: int) -> list[Reason]:
    query = (
        select(ArticleRow.dataset, ArticleRow.key, FailureRow.error_class, FailureRow.message, FailureRow.failed_at)
        .join(ArticleRow, ArticleRow.id == FailureRow.article_id)
        .where(FailureRow.run_id == run_id)
        .order_by(FailureRow.failed_at.desc(), FailureRow.article_id)
        .limit(count)
    )
    return [Reason(**row._mapping) for row in connection.execute(query)]
