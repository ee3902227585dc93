"""Engines and transactions. What differs between SQLite and Postgres is here.

Three facts about SQLite shape this file:

* A plain BEGIN that reads and then writes fails at once with "database is locked" if somebody else has written in
  between, whatever the timeout. So the writer uses BEGIN IMMEDIATE.
* DDL belongs to a transaction only after an explicit BEGIN, since Python's sqlite3 begins one only before INSERT and
  the like.
* The switch of a new file to WAL fails at once while another connection switches it, too, or writes to it: the busy
  timeout does not cover the step from reading to writing.
"""

import json
import math
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection, Engine, NullPool, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError, StatementError
from sqlalchemy.pool import ConnectionPoolEntry

from nws.core.errors import StoreError, StoreUnavailableError
from nws.jobs.store.address import Address
from nws.jobs.store.tables import Base

if TYPE_CHECKING:  # a store needs only one of the two
    from sqlalchemy.dialects import postgresql, sqlite

BUSY_SECONDS = 30
_SWITCH_AGAIN_SECONDS = 0.05
_LOCK_NOT_AVAILABLE = "55P03"
_SQLITE_AWAY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL")
# A machine that vanishes in the middle of a transaction must not hold its run for hours. So the server ends such a
# session, and a client notices a server that is gone. (These are libpq's parameters; those in the URL take precedence.)
_POSTGRES = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "options": f"-c idle_in_transaction_session_timeout=60s -c lock_timeout={BUSY_SECONDS}s",
}

dump_json = partial(json.dumps, ensure_ascii=False, allow_nan=False)
"""Dump JSON for the store, so that Korean references stay readable in SQL and both databases can read it."""


def writer_engine(address: Address, foreign_keys: Literal["ON", "OFF"] = "ON") -> Engine:
    """Make an engine whose transactions may write. A missing SQLite file is created, readable by its owner alone.

    `foreign_keys` is OFF for migrations on SQLite: they replace tables that others refer to, and inside a transaction
    it cannot be switched.

    Raises:
        StoreError: the SQLite file cannot be created, or psycopg is not installed.
    """
    if address.path is None:
        # A driver may be silent for minutes between two bundles, so check whether the server is still there.
        return _postgres_engine(address, pool_pre_ping=True)
    _create_private(address.path, address)
    engine = create_engine(address.url, json_serializer=dump_json)
    _listen(engine, "BEGIN IMMEDIATE", "synchronous=NORMAL", f"foreign_keys={foreign_keys}")
    event.listen(engine, "connect", _switch_to_wal)
    return engine


def reader_engine(address: Address) -> Engine:
    """Make an engine whose transactions can only read. Its connections do not outlive their transaction.

    Raises:
        StoreError: there is no such SQLite file, or psycopg is not installed.
    """
    if address.path is None:
        return _postgres_engine(address, poolclass=NullPool, execution_options={"postgresql_readonly": True})
    if not os.path.exists(address.path):
        raise StoreError(f"there is no store at {address.path}: check --store, or submit a run first")
    # mode=rw never creates the file, unlike a plain connect. mode=ro would leave its -wal and -shm files behind.
    uri = f"{address.path.as_uri()}?mode=rw"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(uri, uri=True)
        # ATTACH would create the file it names, query_only or not.
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)
    _listen(engine, "BEGIN", "query_only=ON")
    return engine


def file_identity(address: Address) -> tuple[int, int] | None:
    """Return device and inode of a SQLite store's file; None if there is no file, and for Postgres."""
    if address.path is None:
        return None
    try:
        status = address.path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def transaction(engine: Engine, address: Address) -> Iterator[Connection]:
    """Open a transaction that is committed at the end of the block, or rolled back if anything is raised.

    Raises:
        StoreUnavailableError: the database cannot be reached now.
        StoreError: the database refused. The message is the database's own, on one line, without the password.
    """
    try:
        with engine.begin() as connection:
            yield connection
    except UnicodeEncodeError as error:
        raise not_text(error) from error
    except SQLAlchemyError as error:
        kind = StoreUnavailableError if _is_away(error) else StoreError
        raise kind(f"store {address.shown}: {database_message(error, address)}") from error


def upsert(connection: Connection, table: type[Base]) -> "postgresql.Insert | sqlite.Insert":
    """Make an INSERT that supports ON CONFLICT, whose syntax both databases share but SQLAlchemy's core lacks."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)


def insert_new(connection: Connection, table: type[Base], rows: list[dict[str, Any]]) -> None:
    """Insert the rows whose keys are not in the table yet."""
    if rows:
        connection.execute(upsert(connection, table).on_conflict_do_nothing(), rows)


def is_storable(text: str) -> bool:
    """Return whether every database can store the text unchanged: it has no NUL and no half of a surrogate pair."""
    try:
        return b"\0" not in text.encode("utf-8")
    except UnicodeEncodeError:
        return False


def require_storable(values: Mapping[str, object], owner: str) -> None:
    """Refuse values that a database cannot store exactly; `owner` says in the error whose values they are.

    Raises:
        StoreError: a number is NaN or infinite, or a text holds NUL or half of a surrogate pair.
    """
    for name, value in values.items():
        if isinstance(value, Real) and not math.isfinite(value):
            raise StoreError(f"{owner} has {name} = {value}, and only finite numbers can be stored")
        texts = value if isinstance(value, tuple) else (value,)
        if not all(is_storable(text) for text in texts if isinstance(text, str)):
            raise StoreError(f"{owner} has a NUL or half a surrogate pair, which a database cannot store. Use UTF-8")


def escaped(text: str) -> str:
    """Escape the characters of a text that no database stores. Errors may quote such bytes."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


def id_batches(ids: Sequence[str], at_once: int = 10_000) -> Iterator[Sequence[str]]:
    """Yield the ids in batches that fit into a statement: SQLite takes 32,766 parameters, Postgres 65,535."""
    for start in range(0, len(ids), at_once):
        yield ids[start : start + at_once]


def not_text(error: UnicodeEncodeError) -> StoreError:
    """Return the error for a text with half of a surrogate pair, which stands for a byte that is not UTF-8."""
    return StoreError(f"a database cannot read the text {escaped(str(error.object))!r} ({error.reason}). Use UTF-8")


def _is_away(error: SQLAlchemyError) -> bool:
    """Return whether a retry may succeed: the database restarts, is unreachable or busy, or its disk is full."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    if isinstance(error.orig, sqlite3.Error):
        return getattr(error.orig, "sqlite_errorname", "").startswith(_SQLITE_AWAY)
    # Without SQLSTATE, the connection failed. The classes are from Postgres's appendix A: connection exceptions, too
    # few resources (such as a full disk), and intervention by an operator (such as a restart).
    state = getattr(error.orig, "sqlstate", None)
    return state is None or state[:2] in ("08", "53", "57") or state == _LOCK_NOT_AVAILABLE


def database_message(error: SQLAlchemyError, address: Address) -> str:
    """Return the database's own message, on one line, without SQL, parameters or password."""
    cause = error.orig if isinstance(error, StatementError) and error.orig is not None else error
    message = address.scrub(" ".join(str(cause).split()))
    if message == "database is locked":
        return f"another process has been writing for {BUSY_SECONDS} s ({message}). Wait for it, or end it"
    return message


def _listen(engine: Engine, begin: str, *pragmas: str) -> None:
    def on_connect(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # Keeps sqlite3 from beginning transactions itself: on_begin does.
        cursor = connection.cursor()
        for pragma in (f"busy_timeout={BUSY_SECONDS * 1000}", *pragmas):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def on_begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", on_connect)
    event.listen(engine, "begin", on_begin)


def _switch_to_wal(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() >= deadline:
                raise
            time.sleep(_SWITCH_AGAIN_SECONDS)
    cursor.close()


def _postgres_engine(address: Address, **options: object) -> Engine:
    connect = {name: value for name, value in _POSTGRES.items() if name not in address.url.query}
    try:
        engine = create_engine(address.url, json_serializer=dump_json, connect_args=connect, **options)
    except ImportError as error:
        raise StoreError(
            f'the store {address.shown} needs psycopg 3, which is not installed. Run `pip install "psycopg[binary]"`'
        ) from error
    event.listen(engine, "connect", _plain_numbers)
    # Before SQLAlchemy's own listener, which reads text.
    event.listen(engine, "connect", partial(_require_utf8, address), insert=True)
    return engine


def _require_utf8(address: Address, connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    """Refuse a database or a client that cannot store every text: in SQL_ASCII, text even comes back as bytes.

    Raises:
        StoreError: the encoding of one of them is not UTF-8.
    """
    for whose, name, advice in (
        ("database", b"server_encoding", "Create one in UTF-8: createdb -T template0 -E UTF8 NAME"),
        ("client", b"client_encoding", "Set PGCLIENTENCODING, or client_encoding in the URL, to UTF8"),
    ):
        encoding = connection.pgconn.parameter_status(name)
        if encoding not in (b"UTF8", None):  # None if a connection pooler does not tell
            has = f"the {whose} of the store {address.shown} has the encoding {encoding.decode()}"
            raise StoreError(f"{has}, which cannot store every text. {advice}")


def _plain_numbers(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    """Make psycopg read `numeric`, the type of sums and means of integers, as int or float, as SQLite does."""
    from psycopg.abc import Buffer
    from psycopg.adapt import Loader

    class PlainNumber(Loader):
        def load(self, data: Buffer) -> int | float:
            written = bytes(data)
            return int(written) if written.lstrip(b"-").isdigit() else float(written)

    connection.adapters.register_loader("numeric", PlainNumber)


def _create_private(path: Path, address: Address) -> None:
    """Create the file of a SQLite store, readable by its owner alone. Its -wal and -shm files get the same mode."""
    if path.exists():
        return
    try:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StoreError(f"the store {address.shown} cannot be created: {error}") from error
