"""The schema of a store: it is made where there is none, and stores of another version are refused."""

import hashlib
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement

from nws.core.errors import StoreError
from nws.jobs.installation import MIGRATIONS
from nws.jobs.store.address import Address, parse_address
from nws.jobs.store.engine import reader_engine, transaction, writer_engine
from nws.jobs.store.queries import VIEWS
from nws.jobs.store.tables import Base

HEAD_REVISION = "6889aae0f60a"
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
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


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
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
