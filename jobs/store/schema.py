"""The schema's version: read it, bring it up to date, and refuse to work on another one."""

import os
import shlex
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text

from core.errors import StoreError
from jobs.installation import migrations
from jobs.store.address import Address, parse_address
from jobs.store.engine import reader_engine, transaction, writer_engine

if TYPE_CHECKING:  # only who migrates waits for Alembic
    from alembic.config import Config

HEAD_REVISION = "0019"
"""The schema revision that this code works with: that of the newest migration."""
# Of an advisory lock of Postgres. Any number will do that no other program takes: "nws" in ASCII.
_MIGRATING = int.from_bytes(b"nws")
# Of every schema since the first.
_FIRST_TABLES = ("runs", "articles", "summaries", "failures")
_NAMED = 3


def current_revision(url: str) -> str | None:
    """The schema revision of a store, None where it has no NWS schema.

    Raises:
        StoreError: The store cannot be read.
    """
    address = parse_address(url)
    return _current(reader_engine(address), address)


def upgrade_schema(url: str) -> tuple[str | None, str]:
    """Bring a store's schema to this code's revision; a SQLite file that does not exist is created.

    Of several that do so at once, one migrates, and the others wait for it.

    Returns:
        The revision before and the revision now.

    Raises:
        StoreError: The store cannot be written, was made by newer code, or is the SQLite file of another program.
    """
    address = parse_address(url)
    _refuse_others(address)
    engine = writer_engine(address)
    try:
        with transaction(engine, address) as connection:
            _wait_for_others(connection)
            before = _read(connection)
            if before is not None and not _is_known(before):
                raise _refusal(address, before)
            _migrate(connection)
    finally:
        engine.dispose()
    return before, HEAD_REVISION


def create_if_fresh(address: Address) -> None:
    """Give a SQLite store that does not exist yet, or is an empty file, its schema; leave every other store alone.

    Raises:
        StoreError: The file cannot be created, or is not a SQLite database.
    """
    if address.path is None or (os.path.exists(address.path) and not _is_empty(address)):
        return
    engine = writer_engine(address)
    try:
        with transaction(engine, address) as connection:
            _migrate(connection)
    finally:
        engine.dispose()


def check_schema(reader: Engine, address: Address) -> None:
    """Refuse a store with another schema than this code works with.

    Raises:
        StoreError: It has another; the message names both revisions and what to run.
    """
    current = _current(reader, address)
    if current != HEAD_REVISION:
        raise _refusal(address, current)


def _refusal(address: Address, current: str | None) -> StoreError:
    if current is not None and not _is_known(current):
        return StoreError(
            f"the store {address.shown} has schema revision {current}, which this code, at revision {HEAD_REVISION}, "
            "does not know: the code is older than the store. Update NWS, or name another store"
        )
    problem = "no NWS schema" if current is None else f"schema revision {current}"
    return StoreError(
        f"the store {address.shown} has {problem}, and this code needs revision {HEAD_REVISION}. "
        f"Run: nws db upgrade --store {shlex.quote(address.shown) if address.path else address.shown}"
    )


def _current(engine: Engine, address: Address) -> str | None:
    with transaction(engine, address) as connection:
        return _read(connection)


def _read(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return revision


def _is_known(revision: str) -> bool:
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    try:
        return ScriptDirectory.from_config(_config()).get_revision(revision) is not None
    except CommandError:
        return False


def _is_empty(address: Address) -> bool:
    with transaction(reader_engine(address), address) as connection:
        return not inspect(connection).get_table_names()


def _wait_for_others(connection: Connection) -> None:
    """Until no other process migrates, however long that takes. SQLite's writers take turns anyway."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATING})")
        connection.exec_driver_sql("SET LOCAL lock_timeout TO DEFAULT")


def _refuse_others(address: Address) -> None:
    """Refuse the SQLite file of another program. A database of Postgres may be meant to be shared."""
    if address.path is None or not os.path.exists(address.path):
        return
    with transaction(reader_engine(address), address) as connection:  # the writer's would change the file's mode
        tables, revision = {*inspect(connection).get_table_names()} - {"alembic_version"}, _read(connection)
    if tables and (revision is None or not tables.issuperset(_FIRST_TABLES)):
        named = ", ".join(sorted(tables)[:_NAMED]) + (", …" if len(tables) > _NAMED else "")
        raise StoreError(
            f"the store {address.shown} is the database of another program, with the tables {named}: name another file"
        )


def _migrate(connection: Connection) -> None:
    from alembic import command

    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _config() -> "Config":
    from alembic.config import Config

    folder = migrations()
    if not folder.is_dir():
        raise StoreError(f"the migrations are missing: {folder} does not exist. Install NWS anew")
    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    return config
