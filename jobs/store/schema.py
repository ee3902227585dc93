"""The schema of a store: how it is made, how a store of an earlier release is upgraded, and which stores are refused.

A schema is named after the release that brings it, and `alembic/versions` has a migration for each. A migration never
reads the tables or views of today's code, which will have changed by the time that somebody runs it. It only changes
tables: the views are dropped before the first migration, and made again after the last one, in the same transaction.

To change tables or views, write a migration named after the next release (an empty one if only views change), set
`HEAD_REVISION` to its name, and then `SCHEMA_HASH` to the hash that `make check` names. Until the release, the
migration may still be edited: make your own stores anew then.
"""

import contextlib
import hashlib
import itertools
import os
import re
import socket
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, column, inspect, make_url, select, table, text, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement

from nws.core.errors import StoreError
from nws.core.whole_files import replacing
from nws.jobs.installation import MIGRATIONS
from nws.jobs.store.address import Address, parse_address
from nws.jobs.store.engine import reader_engine, transaction, writer_engine
from nws.jobs.store.queries import VIEWS
from nws.jobs.store.runs import is_driven
from nws.jobs.store.tables import Base, UtcDateTime

HEAD_REVISION = "1.0"
"""The schema that this code works with: the name of the newest migration."""
SCHEMA_HASH = "6889aae0f60a"
"""`schema_hash()`, written down, so that `make check` fails if tables or views have changed without a migration."""
RELEASED_VIEWS = {
    "1.0": ("learning_curve", "live_means", "live_sharded_means", "live_best_n", "sweep_curve", "best_n", "leaderboard")
}
"""The views of each release. An upgrade drops those of the release whose schema it finds, and no other views."""
# Of an advisory lock of Postgres. Any number will do that no other program takes: "nws" in ASCII.
_MIGRATING = int.from_bytes(b"nws")
# What the upgrade itself reads of runs: columns that every release since 1.0 has.
_RUNS = table(
    "runs",
    *map(column, ("id", "parent", "state", "driver_host", "driver_pid", "driver_epoch")),
    column("heartbeat_at", UtcDateTime),
)


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What `upgrade_schema` has found and done.

    Attributes:
        before: the schema that the store had, None if it had none.
        copy: the copy that was made of a SQLite store before its tables were changed, None if none was made.
    """

    before: str | None
    copy: Path | None = None


def schema_hash() -> str:
    """The hash of the SQL, for both databases, that makes the tables, indexes and views of this code."""
    tables = Base.metadata.sorted_tables
    indexes = [index for table in tables for index in sorted(table.indexes, key=lambda index: str(index.name))]
    made: list[DDLElement] = [*map(CreateTable, tables), *map(CreateIndex, indexes)]
    dialects = [make_url(name).get_dialect()() for name in ("sqlite://", "postgresql+psycopg://")]
    sql = [str(statement.compile(dialect=dialect)) for dialect in dialects for statement in made]
    return hashlib.sha256("\n".join((*sql, *VIEWS, *VIEWS.values())).encode()).hexdigest()[:12]


def upgrade_schema(url: str) -> Upgrade:
    """Bring a store to this code's schema: one that has none, or that of an earlier release.

    A SQLite file that does not exist is created. Of several processes that do this at once, one does it, and the others
    wait for it. If the process is killed, the store is as it was before.

    Raises:
        StoreError: The store cannot be written, a driver is at work in it, it was made by a newer NWS or by one from
            before release 1.0, or it is the SQLite file of another program.
    """
    address = parse_address(url)
    done = _migrate_store(address) if _is_to_migrate(address) else Upgrade(HEAD_REVISION)
    check_schema(reader_engine(address), address)
    return done


def create_if_fresh(address: Address) -> None:
    """Give a SQLite store that does not exist yet, or is an empty file, its schema; leave every other store alone.

    Raises:
        StoreError: The file cannot be created, or is not a SQLite database.
    """
    if address.path is not None and _is_fresh(address.path, address):
        _migrate_store(address)


def check_schema(reader: Engine, address: Address) -> None:
    """Refuse a store with another schema than this code works with.

    Raises:
        StoreError: It has another, or none; the message says what can be done.
    """
    with transaction(reader, address) as connection:
        current = _read(connection)
        code = _newest_code(connection) if current is not None and _release(current) is None else None
    if current == HEAD_REVISION:
        return
    upgrade = f"Run: nws db upgrade --store {address.shown}"
    if current is None:
        is_file = address.path is not None
        advice = ": it is empty, or the database of another program. Name another file" if is_file else f". {upgrade}"
        raise StoreError(f"the store {address.shown} has no NWS schema{advice}")
    if _is_older(current):
        raise StoreError(f"the store {address.shown} has the schema of NWS {current}, an earlier release. {upgrade}")
    if _release(current) is not None:
        raise StoreError(
            f"the store {address.shown} was made by a newer NWS: its schema is that of {current}, and this code knows "
            f"those up to {HEAD_REVISION}. Upgrade NWS"
        )
    if code is None:
        raise StoreError(
            f"the store {address.shown} has a schema called {current}. It belongs to another program, or to an NWS "
            "from before release 1.0. Name another store. On Postgres, a schema of its own will do: add "
            "?options=-csearch_path%3DNAME to the URL"
        )
    raise StoreError(
        f"the store {address.shown} was made before release 1.0 of NWS (its schema is {current}), and cannot be "
        f"upgraded: its newest run is of commit {code}: `nws export` of that code can export its runs. Name another "
        "store for new ones"
    )


def require_not_upgraded(connection: Connection) -> None:
    """Refuse to go on in a store that was upgraded since this process opened it.

    Raises:
        StoreError: it was.
    """
    current = _stored_revision(connection)
    if current != HEAD_REVISION:
        raise StoreError(f"the store was upgraded to the schema of NWS {current} since it was opened: upgrade this NWS")


@contextlib.contextmanager
def making_views_anew(connection: Connection) -> Iterator[None]:
    """Drop the views of NWS, and make today's after the block: a table that a view reads cannot be replaced.

    Raises:
        StoreError: on SQLite, if a row of NWS refers to one that is not there after the block.
    """
    names = RELEASED_VIEWS.get(_read(connection) or "", ())
    is_postgres = connection.dialect.name == "postgresql"
    # Postgres drops views that read each other only in one statement, and SQLite drops one view in a statement.
    for dropped in [", ".join(names)] * bool(names) if is_postgres else names:
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS {dropped}")
    yield
    checked = () if is_postgres else connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    if broken := next((row for row in checked if row[0] in Base.metadata.tables), None):
        raise StoreError(
            f"the store was not changed: row {broken[1]} of its table {broken[0]} refers to a row of {broken[2]} that "
            "is not there"
        )
    for name, query in VIEWS.items():
        connection.exec_driver_sql(f"CREATE VIEW {name} AS {query}")


def _newest_code(connection: Connection) -> str | None:
    """The commit, or the version of the package, that last worked on the newest run; None where nothing tells."""
    try:
        newest = connection.execute(text("SELECT code_version FROM runs ORDER BY created_at DESC LIMIT 1")).scalar()
    except SQLAlchemyError:
        return None
    return str(newest).split(", ")[-1].partition("+")[0].removesuffix("-dirty") if newest else None


def _release(revision: str) -> tuple[int, ...] | None:
    """The numbers of the release that a schema is named after; None for those from before 1.0, named after hashes."""
    return tuple(map(int, revision.split("."))) if re.fullmatch(r"\d+(\.\d+)+", revision) else None


def _is_older(revision: str | None) -> bool:
    release, head = _release(revision or ""), _release(HEAD_REVISION)
    return release is not None and head is not None and release < head


def _read(connection: Connection) -> str | None:
    return _stored_revision(connection) if inspect(connection).has_table("alembic_version") else None


def _stored_revision(connection: Connection) -> str | None:
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _is_fresh(path: Path, address: Address) -> bool:
    """Whether a SQLite file does not exist, or has nothing in it. Its writer's engine would change its mode."""
    if not path.exists():
        return True
    with transaction(reader_engine(address), address) as connection:
        return connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first() is None


def _is_to_migrate(address: Address) -> bool:
    """Whether a store has no schema, or that of an earlier release. The SQLite file of another program is not touched.

    A database of Postgres may be shared with other programs.
    """
    if address.path is not None and _is_fresh(address.path, address):
        return True
    with transaction(reader_engine(address), address) as connection:
        current = _read(connection)
    return _is_older(current) or (current is None and address.path is None)


def _migrate_store(address: Address) -> Upgrade:
    """Run the migrations that a store lacks, all in one transaction."""
    engine = writer_engine(address, foreign_keys="OFF")
    with contextlib.ExitStack() as undo:
        undo.callback(engine.dispose)
        with transaction(engine, address) as connection:
            if connection.dialect.name == "postgresql":  # SQLite's writers take turns anyway
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATING})")
            before, copy = _read(connection), None
            if _is_older(before):
                _fence_drivers(connection)
                copy = _copied(address)
                if copy is not None:
                    undo.callback(copy.unlink, missing_ok=True)
            if before is None or _is_older(before):
                with making_views_anew(connection):
                    _migrate(connection)
        undo.pop_all()
    engine.dispose()
    return Upgrade(before, copy)


def _fence_drivers(connection: Connection) -> None:
    """Refuse a store in which a driver is at work; one that only seems dead can write no more.

    Raises:
        StoreError: names the run.
    """
    if connection.dialect.name == "postgresql":  # SQLite has one writer, which this transaction is
        connection.exec_driver_sql("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
    host, now, is_running = socket.gethostname(), datetime.now(UTC), _RUNS.c.state == "running"
    for run in connection.execute(select(_RUNS).where(is_running).order_by(_RUNS.c.parent.is_not(None))):
        if is_driven(run, host, now):
            named = run.parent or run.id
            raise StoreError(
                f"the store is not upgraded while run {named!r} is being driven by pid {run.driver_pid} on "
                f"{run.driver_host}: wait for it, or stop it with the NWS that started it, `nws cancel {named}`"
            )
    connection.execute(update(_RUNS).where(is_running).values(driver_epoch=_RUNS.c.driver_epoch + 1))


def _copied(address: Address) -> Path | None:
    """Copy a SQLite store, as it was when this transaction began, to a new file beside it; None for Postgres.

    Raises:
        StoreError: it cannot be copied.
    """
    if address.path is None:
        return None
    name = f"{address.path.name}.before-{HEAD_REVISION}"
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    target = next(path for path in map(address.path.with_name, names) if not os.path.lexists(path))
    try:
        with replacing(target) as unfinished:
            os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL, 0o600))
            with (
                contextlib.closing(sqlite3.connect(address.path)) as store,
                contextlib.closing(sqlite3.connect(unfinished)) as copy,
            ):
                copy.execute("PRAGMA journal_mode=MEMORY")  # leaves no second file if this process is killed
                store.backup(copy)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"the store is not upgraded, for it cannot be copied to {target}: {error}") from error
    return target


def _migrate(connection: Connection) -> None:
    from alembic import command  # only who makes a schema waits for it
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
