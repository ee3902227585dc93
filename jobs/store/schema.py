"""The schema's version: read it, make the schema where there is none, and refuse to work on another one.

On Postgres the rows of a run in `summaries` lie in a partition of their own, which goes with the run. No foreign keys
lead out of them. They took half of the server's time to store a row, and a partition with one can only be made or
dropped while nobody writes to the other table. A row of a run that is not there finds no partition. That a row has its
article is up to the transactions: a driver stores both in one, and who removes articles locks their table
(`jobs.store.lifecycle`). On SQLite `summaries` is one table with foreign keys.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement

from core.errors import StoreError, StoreUnavailableError
from jobs.installation import migrations
from jobs.store.address import Address, parse_address
from jobs.store.database import Database
from jobs.store.engine import reader_engine, transaction, writer_engine
from jobs.store.queries import VIEWS
from jobs.store.tables import Base

HEAD_REVISION = "884c3fe0008e"
"""The schema that this code works with: `schema_hash()`, written down, for it takes too long to be computed each time.

`make check` and the tests say so where it is another. A store of another one is refused and left as it is.
"""
# Of an advisory lock of Postgres. Any number will do that no other program takes: "nws" in ASCII.
_MIGRATING = int.from_bytes(b"nws")


def schema_hash() -> str:
    """The hash of the SQL, for both databases, that makes the tables, indexes and views of this code."""
    tables = Base.metadata.sorted_tables
    indexes = [index for table in tables for index in sorted(table.indexes, key=lambda index: str(index.name))]
    made: list[DDLElement] = [*map(CreateTable, tables), *map(CreateIndex, indexes)]
    dialects = [make_url(name).get_dialect()() for name in ("sqlite://", "postgresql+psycopg://")]
    sql = [str(statement.compile(dialect=dialect)) for dialect in dialects for statement in made]
    return hashlib.sha256("\n".join((*sql, *VIEWS, *VIEWS.values())).encode()).hexdigest()[:12]


def upgrade_schema(url: str) -> bool:
    """Give a store that has no schema this code's; a SQLite file that does not exist is created.

    Of several that do so at once, one makes it, and the others wait for it.

    Returns:
        Whether there was none.

    Raises:
        StoreError: The store cannot be written, has another schema, or is the SQLite file of another program.
    """
    address = parse_address(url)
    is_new = create_if_fresh(address) if address.path else _make_schema(address)
    check_schema(reader_engine(address), address)
    return is_new


def create_if_fresh(address: Address) -> bool:
    """Give a SQLite store that does not exist yet, or is an empty file, its schema; leave every other store alone.

    Returns:
        Whether there was none.

    Raises:
        StoreError: The file cannot be created, or is not a SQLite database.
    """
    return address.path is not None and _is_fresh(address.path, address) and _make_schema(address)


def check_schema(reader: Engine, address: Address) -> None:
    """Refuse a store with another schema than this code works with.

    Raises:
        StoreError: It has another, or none; the message says what can be done.
    """
    with transaction(reader, address) as connection:
        current = _read(connection)
        code = _newest_code(connection) if current not in (None, HEAD_REVISION) else None
    if current == HEAD_REVISION:
        return
    if current is None:
        advice = f". Run: nws db upgrade --store {address.shown}"
        if address.path is not None:
            advice = ": it is empty, or the database of another program. Name another file"
        raise StoreError(f"the store {address.shown} has no NWS schema{advice}")
    advice = "to export its runs, use the NWS that made it"
    if code is not None:
        advice = f"its newest run is of commit {code}: `nws export` of that code can export its runs"
    raise StoreError(
        f"the store {address.shown} has the schema of another version of NWS ({current}, and this code needs "
        f"{HEAD_REVISION}): {advice}. Name another store for new ones"
    )


def _newest_code(connection: Connection) -> str | None:
    """The commit, or the version of the package, that last worked on the newest run; None where nothing tells."""
    try:
        newest = connection.execute(text("SELECT code_version FROM runs ORDER BY created_at DESC LIMIT 1")).scalar()
    except SQLAlchemyError:
        return None
    return str(newest).split(", ")[-1].partition("+")[0].removesuffix("-dirty") if newest else None


def _read(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return revision


def _is_fresh(path: Path, address: Address) -> bool:
    """Whether a SQLite file does not exist, or has no tables. Its writer's engine would change its mode."""
    if not path.exists():
        return True
    with transaction(reader_engine(address), address) as connection:
        return not inspect(connection).get_table_names()


def _make_schema(address: Address) -> bool:
    """Make the schema where there is none; whether there was none."""
    engine = writer_engine(address)
    try:
        with transaction(engine, address) as connection:
            if connection.dialect.name == "postgresql":  # SQLite's writers take turns anyway
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATING})")
            is_new = _read(connection) is None
            if is_new:
                _migrate(connection)
    finally:
        engine.dispose()
    return is_new


def _migrate(connection: Connection) -> None:
    from alembic import command  # only who makes a schema waits for it
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations()).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


# Shorter than Postgres's deadlock_timeout of 1 s: whoever reads meanwhile is never the one who is stopped.
_LOCK_TIMEOUT = "200ms"
_UNUSED = """
SELECT c.relname
FROM pg_inherits AS i
JOIN pg_class AS c ON c.oid = i.inhrelid
WHERE i.inhparent = 'summaries'::regclass
    AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE 'summaries_' || r.id = c.relname)
"""


def make_partition(connection: Connection, run_id: str) -> None:
    """Make a run's partition, before its row. It is attached, which stops neither readers nor writers of others."""
    if not _has_partitions(connection):
        return
    name = _quoted(run_id)
    connection.exec_driver_sql(f"CREATE TABLE {name} (LIKE summaries)")
    connection.exec_driver_sql(f"ALTER TABLE summaries ATTACH PARTITION {name} FOR VALUES IN ('{run_id}')")


def lock_own_partition(connection: Connection) -> None:
    """Plan the statements of this transaction for the run that they name, and not once for all runs.

    A plan for all locks every partition, and so waits for whoever removes any run. (Readers have a new connection for
    each transaction, for which nothing is planned so often that Postgres would do so.)
    """
    if _has_partitions(connection):
        connection.exec_driver_sql("SET LOCAL plan_cache_mode = force_custom_plan")


def truncate_partitions(connection: Connection, ids: Sequence[str]) -> None:
    """Delete all summaries of runs at once, however many, where there are partitions."""
    if _has_partitions(connection):
        connection.exec_driver_sql(f"TRUNCATE TABLE {', '.join(map(_quoted, ids))}")


def drop_unused(store: Database) -> None:
    """Drop the empty partitions of runs that were removed. While somebody reads, they are left to the next removal.

    Only the table that has all partitions can be locked for it, which must wait for every query of any run.
    """
    try:
        with store.writing() as connection:
            if not _has_partitions(connection):
                return
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
            for name in connection.exec_driver_sql(_UNUSED).scalars().all():
                if connection.exec_driver_sql(f'SELECT 1 FROM "{name}" LIMIT 1').first() is None:  # else not ours
                    connection.exec_driver_sql(f'DROP TABLE "{name}"')
    except StoreUnavailableError:
        return


def _has_partitions(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _quoted(run_id: str) -> str:
    """The partition's name in SQL. Run ids are made by NWS, of letters, digits and '-', see `new_run_id`."""
    return f'"summaries_{run_id}"'
