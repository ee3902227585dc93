"""What the drivers of runs say, and how far they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from jobs.store.database import Database, reads
from jobs.store.tables import LogLineRow, ProgressRow


@dataclass(frozen=True, slots=True)
class LogLine:
    """Something a driver said; `said_at` is aware, in UTC."""

    said_at: datetime
    text: str


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
    newest: str | None = None


class DriverReports(Database):
    """The methods of a store that read what drivers said, and how far they are."""

    @reads
    def log(self, connection: Connection, run_id: str, after: int = 0) -> list[tuple[int, LogLine]]:
        """What the drivers of a run said, numbered from 1; only what came after number `after`.

        Of a sharded run, that is what the process said that has started the drivers of its shards.
        """
        query = select(LogLineRow).where(LogLineRow.run_id == run_id, LogLineRow.number > after)
        rows = connection.execute(query.order_by(LogLineRow.number))
        return [(row.number, LogLine(row.said_at, row.text)) for row in rows]

    @reads
    def newest_log(self, connection: Connection, run_id: str, count: int) -> list[LogLine]:
        """The last lines that the drivers of a run said, at most `count`, in their order."""
        query = select(LogLineRow.said_at, LogLineRow.text).where(LogLineRow.run_id == run_id)
        rows = connection.execute(query.order_by(LogLineRow.number.desc()).limit(count)).all()
        return [LogLine(row.said_at, row.text) for row in reversed(rows)]

    def progress(self, run_id: str) -> Progress | None:
        """What the run's driver is, or was, at; None if it has not told yet."""
        return self.progress_of([run_id]).get(run_id)

    @reads
    def progress_of(self, connection: Connection, run_ids: Sequence[str]) -> dict[str, Progress]:
        """What the drivers of these runs are, or were, at; without those that have not told yet."""
        found = {}
        for row in connection.execute(select(ProgressRow.__table__).where(ProgressRow.run_id.in_(run_ids))):
            values = {name: value for name, value in row._mapping.items() if name != "run_id"}
            found[row.run_id] = Progress(**values)
        return found
