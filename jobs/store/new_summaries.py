"""Summaries on their way into their table, with as few objects a row as it takes, and on Postgres by COPY.

No ON CONFLICT, which COPY does not know: what the run has of the articles is read before. Nobody else can add to it in
between, since every transaction of a driver holds the run's row, see `jobs.store.fence`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from sqlalchemy import BigInteger, Connection, Double, Integer, select
from sqlalchemy.exc import DBAPIError

from core.metrics.specs import BY_COLUMN
from core.types import CHOSEN_SCORES, Summary
from jobs.store.engine import dump_json
from jobs.store.tables import SummaryRow

Key: TypeAlias = tuple[str, str, int]
"""Article, system and n: a summary's place in its run."""
NewSummaries: TypeAlias = Mapping[Key, tuple[Any, ...]]
"""Values of rows, in the order of `_COLUMNS`."""

IDS_AT_ONCE = 10_000
"""Of articles in a statement: SQLite takes 32,766 parameters, Postgres 65,535."""

_BEFORE = ("run_id", "article_id", "system", "n", "text", "words", "seconds")
_ORDER = (*_BEFORE, *BY_COLUMN, "extra", "reused_from")
_COLUMNS = [SummaryRow.__table__.columns[name] for name in _ORDER]
_NAMES = ", ".join(_ORDER)
_INSERT = f"INSERT INTO summaries ({_NAMES}) VALUES ({', '.join('?' * len(_ORDER))})"
_COPY = f"COPY summaries ({_NAMES}) FROM STDIN (FORMAT BINARY)"
# In COPY's binary format JSON is a text.
_BINARY = {Integer: "int4", BigInteger: "int8", Double: "float8"}
_POSTGRES_TYPES = [_BINARY.get(type(column.type), "text") for column in _COLUMNS]
_NO_EXTRA = dump_json({})


def new_summaries(run_id: str, summaries: Iterable[Summary]) -> NewSummaries:
    """The rows of a run's summaries. Of several in the same place it is the first."""
    rows: dict[Key, tuple[Any, ...]] = {}
    for summary in summaries:
        key = (summary.article_id, summary.system, summary.n)
        scores = map(summary.scores.get, BY_COLUMN)
        of_row = (summary.text, summary.words, summary.seconds, *scores, _extra(summary), None)
        rows.setdefault(key, (run_id, *key, *of_row))
    return rows


def _extra(summary: Summary) -> str:
    """The column `extra`: what the summary has there, and its `chosen_scores`, if any, under `CHOSEN_SCORES`."""
    if not summary.extra and not summary.chosen_scores:
        return _NO_EXTRA
    scores = {CHOSEN_SCORES: dict(summary.chosen_scores)} if summary.chosen_scores else {}
    return dump_json({**summary.extra, **scores})


def stored_keys(connection: Connection, run_id: str, article_ids: Sequence[str]) -> set[Key]:
    """The places of the summaries that a run has of these articles."""
    place = (SummaryRow.article_id, SummaryRow.system, SummaryRow.n)
    stored: set[Key] = set()
    for start in range(0, len(article_ids), IDS_AT_ONCE):
        ids = article_ids[start : start + IDS_AT_ONCE]
        query = select(*place).where(SummaryRow.run_id == run_id, SummaryRow.article_id.in_(ids))
        stored.update((article_id, system, n) for article_id, system, n in connection.execute(query))
    return stored


def insert_summaries(connection: Connection, new: NewSummaries, stored: Collection[Key] = ()) -> None:
    """Insert those whose places are not in `stored`, which has all that the run has of the articles."""
    rows = [row for key, row in new.items() if key not in stored] if stored else list(new.values())
    if rows and connection.dialect.name == "postgresql":
        _copy(connection, rows)
    elif rows:
        connection.exec_driver_sql(_INSERT, rows)


def _copy(connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    import psycopg

    driver = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
    try:
        with driver.cursor() as cursor, cursor.copy(_COPY) as copy:
            copy.set_types(_POSTGRES_TYPES)
            for row in rows:
                copy.write_row(row)
    except psycopg.Error as error:
        # SQLAlchemy, whose errors `jobs.store.engine` tells apart, knows nothing of COPY.
        if driver.broken:
            connection.invalidate(error)
        raise DBAPIError.instance(_COPY, None, error, psycopg.Error, dialect=connection.dialect) from error
