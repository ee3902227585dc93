"""Everything that a run stored, to be compared with another run's to the last bit, and SQL that changes a store."""

import json
from typing import Any

import sqlalchemy as sa

from nws.jobs.store import Store
from nws.jobs.store.address import parse_address
from nws.jobs.store.engine import transaction, writer_engine
from nws.jobs.store.tables import EpisodeRow, FailureRow, PolicyRow, SummaryRow, SystemRow, UpdateRow

Stored = dict[str, dict[tuple[Any, ...], tuple[Any, ...]]]

_TABLES = (SystemRow, PolicyRow, UpdateRow, EpisodeRow, SummaryRow, FailureRow)
# What may differ: which run it was, and when, where and how fast something was done.
_OF_THE_OCCASION = {"run_id", "saved_at", "failed_at", "seconds", "node", "attempts", "reused_from"}


def execute(url: str, *statements: str) -> None:
    """Change a store by SQL of one's own, in one transaction."""
    address = parse_address(url)
    engine = writer_engine(address)
    try:
        with transaction(engine, address) as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
    finally:
        engine.dispose()


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    """The answer to a query."""
    with store.query(sql) as answer:
        return list(answer.rows)


def objects(store: Store, sql: str) -> list[dict[str, Any]]:
    """The rows of an answer by the names of their columns."""
    with store.query(sql) as answer:
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def everything(store: Store, run_id: str) -> Stored:
    """By table and key, the values of every column but times and places, of a run or its shards.

    The key is in the values, too.
    """
    ids = [shard.id for shard in store.shards(run_id)] or [run_id]
    return {row.__tablename__: _rows_of(store, ids, row.__table__) for row in _TABLES}


def _rows_of(store: Store, run_ids: list[str], table: sa.Table) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    names = [column.name for column in table.columns if column.name not in _OF_THE_OCCASION]
    keys = [i for i, name in enumerate(names) if name in table.primary_key.columns]
    columns = [table.columns[name] for name in names]
    runs = ", ".join(f"'{run_id}'" for run_id in run_ids)
    with store.query(f"select {', '.join(names)} from {table.name} where run_id in ({runs})") as answer:
        found = [tuple(map(_value, columns, row)) for row in answer.rows]
    by_key = {tuple(row[i] for i in keys): row for row in found}
    assert table.name == "systems" or len(by_key) == len(found), "no row is in two shards"
    return by_key


def _value(column: sa.Column[Any], value: Any) -> Any:
    """The same on every database: SQLite hands out JSON as text, Postgres bytes as a view of them."""
    if isinstance(column.type, sa.JSON) and isinstance(value, str):
        return json.loads(value)
    return bytes(value) if isinstance(value, memoryview) else value


def difference(one: Stored, other: Stored) -> str | None:
    """The first thing in which they differ, in words."""
    for table, rows in one.items():
        others = other[table]
        if rows.keys() != others.keys():
            here, there = len(rows.keys() - others.keys()), len(others.keys() - rows.keys())
            key = min(rows.keys() ^ others.keys(), key=repr)
            return f"{table}: {here} rows only here, {there} only there, e.g. {key}"
        for key, row in rows.items():
            if row != others[key]:
                return f"{table} {key}: {row} here, {others[key]} there"
    return None
