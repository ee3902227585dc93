"""Inserts that may be repeated. SQLite and Postgres have the same syntax for them, and SQLAlchemy's core has none."""

from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from jobs.store.tables import Base

if TYPE_CHECKING:  # a store is one of them
    from sqlalchemy.dialects import postgresql, sqlite


def insert(connection: Connection, table: type[Base]) -> "postgresql.Insert | sqlite.Insert":
    """An insert that supports ON CONFLICT."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)


def insert_new(connection: Connection, table: type[Base], rows: list[dict[str, Any]]) -> None:
    """Insert the rows whose key is not there yet."""
    if rows:
        connection.execute(insert(connection, table).on_conflict_do_nothing(), rows)
