"""The schema's version: read it, bring it up to date, and refuse to work on another one."""

import os
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, inspect

from core.errors import StoreError
from jobs.store.address import Address, parse_address
from jobs.store.engine import reader_engine, transaction, writer_engine

_MIGRATIONS = Path(__file__).resolve().parents[2] / "alembic"


def head_revision() -> str:
    """The schema revision this code works with.

    Raises:
        StoreError: The migrations do not lie beside the `jobs` package.
    """
    head = ScriptDirectory.from_config(_config()).get_current_head()
    if head is None:
        raise StoreError(f"there are no migrations in {_MIGRATIONS}: restore the folder from the repository")
    return head


def current_revision(url: str) -> str | None:
    """The schema revision of a store, None where it has no NWS schema.

    Raises:
        StoreError: The store cannot be read.
    """
    address = parse_address(url)
    return _current(reader_engine(address), address)


def upgrade_schema(url: str) -> tuple[str | None, str]:
    """Bring a store's schema to this code's revision; a SQLite file that does not exist is created.

    Returns:
        The revision before and the revision now.

    Raises:
        StoreError: The store cannot be written, or was made by newer code.
    """
    address = parse_address(url)
    head = head_revision()
    engine = writer_engine(address)
    try:
        with transaction(engine, address) as connection:
            before = _read(connection)
            if before is not None and not _is_known(before):
                raise _refusal(address, before, head)
            _migrate(connection)
    finally:
        engine.dispose()
    return before, head


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
    """Make sure that a store has the schema this code works with.

    Raises:
        StoreError: It has another; the message names both revisions and what to run.
    """
    head = head_revision()
    current = _current(reader, address)
    if current != head:
        raise _refusal(address, current, head)


def _refusal(address: Address, current: str | None, head: str) -> StoreError:
    if current is not None and not _is_known(current):
        return StoreError(
            f"the store {address.shown} has schema revision {current}, which this code, at revision {head}, does "
            "not know: the code is older than the store. Update NWS, or name another store"
        )
    found = "no NWS schema" if current is None else f"schema revision {current}"
    return StoreError(
        f"the store {address.shown} has {found}, and this code needs revision {head}. "
        f"Run: nws db upgrade --store {address.shown}"
    )


def _current(engine: Engine, address: Address) -> str | None:
    with transaction(engine, address) as connection:
        return _read(connection)


def _read(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _is_known(revision: str) -> bool:
    try:
        return ScriptDirectory.from_config(_config()).get_revision(revision) is not None
    except CommandError:
        return False


def _is_empty(address: Address) -> bool:
    with transaction(reader_engine(address), address) as connection:
        return not inspect(connection).get_table_names()


def _migrate(connection: Connection) -> None:
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _config() -> Config:
    if not _MIGRATIONS.is_dir():
        raise StoreError(f"the migrations are missing: {_MIGRATIONS} does not exist. Run NWS from its repository")
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config
