"""SQL that a person writes, on a connection that cannot write."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from core.errors import StoreError
from jobs.store.address import Address
from jobs.store.engine import database_message

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


@contextmanager
def run_query(reader: Engine, address: Address, sql: str) -> Iterator[Answer]:
    """Run one SQL statement that returns rows.

    Raises:
        StoreError: The database refused the SQL, with its own message; or the SQL writes, or returns no rows.
    """
    try:
        # no_parameters: % and : in the SQL mean what they mean to the database.
        with reader.begin() as connection:
            result = connection.execution_options(no_parameters=True).exec_driver_sql(sql)
            if not result.returns_rows:
                raise StoreError("the SQL returns no rows: write one SELECT")
            yield Answer(tuple(result.keys()), (tuple(row) for row in result))
    except SQLAlchemyError as error:
        message = database_message(error, address)
        if isinstance(error, DBAPIError) and _is_write(error):
            raise StoreError(f"queries are read-only: {message}") from error
        raise StoreError(f"the query failed: {message}") from error


def _is_write(error: DBAPIError) -> bool:
    return str(error.orig) == _SQLITE_READ_ONLY or getattr(error.orig, "sqlstate", None) == _POSTGRES_READ_ONLY
