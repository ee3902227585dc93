"""The progress that a driver reports with its heartbeat, and what else `nws watch` shows."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from core.types import SystemKind
from jobs.store.engine import Database, reads
from jobs.store.runs import runs_with_rows
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


_PROGRESS = tuple(field.name for field in fields(Progress))
_SHARE = tuple(field.name for field in fields(ActorShare))


@dataclass(frozen=True, slots=True)
class NewSummary:
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


class Watching(Database):
    """The methods of a store for `nws watch`: they read a few rows by their keys, as a store may hold millions."""

    @reads
    def progress(self, connection: Connection, run_id: str) -> Progress | None:
        """What the run's driver is, or was, at; None if it has not told yet."""
        return _read(connection, [run_id]).get(run_id)

    @reads
    def progress_of(self, connection: Connection, run_ids: Sequence[str]) -> dict[str, Progress]:
        """What the drivers of these runs are, or were, at; without those that have not told yet."""
        return _read(connection, run_ids)

    @reads
    def summaries_of(self, connection: Connection, run_id: str, article_id: str) -> list[NewSummary]:
        """The summaries of an article in a run, in no order."""
        article, summary = ArticleRow, SummaryRow
        query = (
            select(article.dataset, article.key, SystemRow.kind)
            .add_columns(summary.system, summary.n, summary.text, summary.bertscore_f1)
            .join(article, article.id == summary.article_id)
            .join(SystemRow, (SystemRow.run_id == summary.run_id) & (SystemRow.system == summary.system))
            .where(summary.run_id.in_(runs_with_rows(connection, run_id)), summary.article_id == article_id)
        )
        return [NewSummary(**row._mapping) for row in connection.execute(query)]

    @reads
    def newest_failures(self, connection: Connection, run_id: str, count: int) -> list[Reason]:
        """Why articles of this run failed, the newest first."""
        failure = FailureRow
        query = (
            select(ArticleRow.dataset, ArticleRow.key, failure.error_class, failure.message, failure.failed_at)
            .join(ArticleRow, ArticleRow.id == failure.article_id)
            .where(failure.run_id.in_(runs_with_rows(connection, run_id)))
            .order_by(failure.failed_at.desc(), failure.article_id)
            .limit(count)
        )
        return [Reason(**row._mapping) for row in connection.execute(query)]


def progress_row(at: Progress) -> dict[str, Any]:
    """A progress as the row of a run. `dataclasses.asdict` copies deeply: 9 ms for a thousand actors, and this 0.4."""
    return {name: getattr(at, name) for name in _PROGRESS} | {
        "actors": [{name: getattr(actor, name) for name in _SHARE} for actor in at.actors]
    }


def _read(connection: Connection, run_ids: Sequence[str]) -> dict[str, Progress]:
    found = {}
    for row in connection.execute(select(ProgressRow.__table__).where(ProgressRow.run_id.in_(run_ids))):
        values = {name: value for name, value in row._mapping.items() if name != "run_id"}
        values["actors"] = tuple(ActorShare(**actor) for actor in row.actors)
        found[row.run_id] = Progress(**values)
    return found
