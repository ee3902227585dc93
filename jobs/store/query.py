"""SQL that a person writes, on a connection that cannot write."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from core.errors import StoreError
from jobs.store.address import Address
from jobs.store.engine import database_message, not_text

_READS = re.compile(r"\s*(\(|SELECT\b|WITH\b|VALUES\b|--|/\*)", re.IGNORECASE)
# What SQLite and Postgres (25006, read_only_sql_transaction) say to a write.
_SQLITE_READ_ONLY = "attempt to write a readonly database"
_POSTGRES_READ_ONLY = "25006"


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a query: its column names, and its rows, to be read once and before the query is left.

    Values are as the database driver gives them: JSON is text on SQLite and parsed on Postgres.
    """

    columns: tuple[str, ...]
    rows: Iterator[tuple[object, ...]]


@contextlib.contextmanager
def run_query(reader: Engine, address: Address, sql: str) -> Iterator[Answer]:
    """Run one SQL statement that returns rows.

    Raises:
        StoreError: The database refused the SQL, with its own message; or the SQL writes, or returns no rows.
    """
    try:
        # no_parameters: % and : in the SQL mean what they mean to the database. stream_results: on Postgres that
        # declares a cursor for the SQL, which takes one statement, and only one that reads. (A read-only transaction
        # alone is not enough: SQL may end it, or set it to read-write.)
        options = {"no_parameters": True, "stream_results": True}
        with (
            reader.begin() as connection,
            contextlib.closing(connection.execution_options(**options).exec_driver_sql(sql)) as result,
        ):
            if not result.returns_rows:
                raise StoreError("the SQL returns no rows: write one SELECT")
            yield Answer(tuple(result.keys()), (tuple(row) for row in result))
    except UnicodeEncodeError as error:
        raise not_text(error) from error
    except SQLAlchemyError as error:
        message = database_message(error, address)
        if isinstance(error, DBAPIError) and (_is_write(error) or not _READS.match(sql)):
            raise StoreError(f"queries are read-only, one SELECT at a time: {message}") from error
        raise StoreError(f"the query failed: {message}") from error


def _is_write(error: DBAPIError) -> bool:
    return str(error.orig) == _SQLITE_READ_ONLY or getattr(error.orig, "sqlstate", None) == _POSTGRES_READ_ONLY
