"""SQL that a person writes, on a connection that cannot write."""

import contextlib
import math
import re
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, CursorResult
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from core.errors import StoreError
from jobs.store.engine import Database, database_message, not_text

_READS = re.compile(r"\s*(\(|SELECT\b|WITH\b|VALUES\b|--|/\*)", re.IGNORECASE)
# What SQLite and Postgres (25006, read_only_sql_transaction) say to a write.
_SQLITE_READ_ONLY = "attempt to write a readonly database"
_POSTGRES_READ_ONLY = "25006"
_POSTGRES_CANCELED = "57014"
# Of SQLite's virtual machine: some milliseconds.
_STEPS_BETWEEN_LOOKS = 100_000


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The result of a query: its column names, and its rows, to be read once and before the query is left.

    Values are as the database driver gives them: JSON is text on SQLite and parsed on Postgres.
    """

    columns: tuple[str, ...]
    rows: Iterator[tuple[object, ...]]


class _Watch:
    """Ends a query once its time is over. On SQLite it lets Ctrl-C through, too, which waits for Python otherwise."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._end = math.inf if seconds is None else time.monotonic() + seconds

    def is_over(self) -> bool:
        return time.monotonic() > self._end

    def begin(self, connection: Connection) -> None:
        """Watch whatever this connection does from now on."""
        raw = connection.connection.driver_connection
        if isinstance(raw, sqlite3.Connection):
            raw.set_progress_handler(self.is_over, _STEPS_BETWEEN_LOOKS)
        elif self._seconds is not None:
            milliseconds = max(1, int(self._seconds * 1000))
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = {milliseconds}")

    def rows(self, result: CursorResult[Any]) -> Iterator[tuple[object, ...]]:
        for row in result:
            if self.is_over():
                raise self._ended()
            yield tuple(row)

    def require_time(self, error: DBAPIError) -> None:
        """Raise what ended the query, if it is not its own error.

        Raises:
            KeyboardInterrupt: Ctrl-C. It was raised inside the progress handler, where sqlite3 drops it.
            StoreError: the time was over.
        """
        is_stopped = getattr(error.orig, "sqlite_errorname", "") == "SQLITE_INTERRUPT"
        if is_stopped and not self.is_over():
            raise KeyboardInterrupt from error
        if is_stopped or (getattr(error.orig, "sqlstate", None) == _POSTGRES_CANCELED and self.is_over()):
            raise self._ended() from error

    def _ended(self) -> StoreError:
        return StoreError(f"the query was ended: it took more than {self._seconds:g} s", settings=("timeout",))


class Queries(Database):
    """The method of a store for SQL that a person writes."""

    @contextlib.contextmanager
    def query(self, sql: str, timeout: float | None = None) -> Iterator[QueryResult]:
        """Run one SQL statement that reads: `with store.query("SELECT …") as answer: … answer.rows`.

        Args:
            sql: the statement.
            timeout: seconds after which it is ended; None for never.

        Raises:
            StoreError: On entering or reading: the database's own message; the SQL writes, or returns no rows; or the
                time is over.
        """
        watch = _Watch(timeout)
        try:
            # no_parameters: % and : in the SQL mean what they mean to the database. stream_results: on Postgres that
            # declares a cursor for the SQL, which takes one statement, and only one that reads. (A read-only
            # transaction alone is not enough: SQL may end it, or set it to read-write.)
            options = {"no_parameters": True, "stream_results": True}
            with self._reader.begin() as connection:
                watch.begin(connection)
                with contextlib.closing(connection.execution_options(**options).exec_driver_sql(sql)) as result:
                    if not result.returns_rows:
                        raise StoreError("the SQL returns no rows: write one SELECT")
                    yield QueryResult(tuple(result.keys()), watch.rows(result))
        except UnicodeEncodeError as error:
            raise not_text(error) from error
        except SQLAlchemyError as error:
            if isinstance(error, DBAPIError):
                watch.require_time(error)
            message = database_message(error, self._address)
            if isinstance(error, DBAPIError) and (_is_write(error) or not _READS.match(sql)):
                raise StoreError(f"queries are read-only, one SELECT at a time: {message}") from error
            raise StoreError(f"the query failed: {message}") from error


def _is_write(error: DBAPIError) -> bool:
    return str(error.orig) == _SQLITE_READ_ONLY or getattr(error.orig, "sqlstate", None) == _POSTGRES_READ_ONLY
