"""The log and the progress that drivers report of their runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from jobs.store.database import Database, reads
from jobs.store.tables import LogLineRow, ProgressRow


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a driver's log; `said_at` is aware, in UTC."""

    said_at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class ActorShare:
    """An actor whose models are loaded; `busy` is its share of the last minute with work, in [0, 1], None at first."""

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
        unit: of the counts, `articles` or `updates`.
        finished: the number that is done or failed.
        failed: the number that failed with this driver.
        total: the number of all, None if unknown.
        span_seconds: the length of the last minutes, which begin as some had just been finished; 0 before.
        span_finished: the number that was finished in them.
        actors: those whose models are loaded.
        newest: the id of an article that was stored last, None before.
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


class DriverReports(Database):
    """The methods of a store that read the log and the progress of drivers."""

    @reads
    def log(self, connection: Connection, run_id: str, after: int = 0) -> list[tuple[int, LogLine]]:
        """The lines that the drivers of a run said, numbered from 1; only those after number `after`.

        Of a sharded run, the process said them that has started the drivers of its shards.
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
        """The last progress that the driver of a run reported; None before the first."""
        return self.progress_of([run_id]).get(run_id)

    @reads
    def progress_of(self, connection: Connection, run_ids: Sequence[str]) -> dict[str, Progress]:
        """The last progress that the drivers of these runs reported, by run, without those that have reported none."""
        progress = {}
        for row in connection.execute(select(ProgressRow.__table__).where(ProgressRow.run_id.in_(run_ids))):
            values = {name: value for name, value in row._mapping.items() if name != "run_id"}
            values["actors"] = tuple(ActorShare(**actor) for actor in row.actors)
            progress[row.run_id] = Progress(**values)
        return progress
