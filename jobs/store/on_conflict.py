"""Inserts that may be repeated: SQLite and Postgres say them alike, SQLAlchemy by itself does not say them at all."""

from typing import Any

from sqlalchemy import Connection
from sqlalchemy.dialects import postgresql, sqlite

from jobs.store.tables import Base


def insert(connection: Connection, table: type[Base]) -> postgresql.Insert | sqlite.Insert:
    """An insert that can say ON CONFLICT."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def insert_new(connection: Connection, table: type[Base], rows: list[dict[str, Any]]) -> None:
    """Insert the rows whose key is not there yet."""
    if rows:
        connection.execute(insert(connection, table).on_conflict_do_nothing(), rows)
