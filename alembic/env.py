"""Runs the migrations, for `nws` on a connection it hands over, or for the `alembic` command on NWS_STORE.

The command makes no copy of the store, and does not ask whether a driver is at work: `nws db upgrade` does.
"""

import os
from contextlib import nullcontext
from typing import Literal

from alembic import command, context
from sqlalchemy import Connection

from nws.jobs.store.address import DEFAULT_STORE, parse_address
from nws.jobs.store.engine import transaction, writer_engine
from nws.jobs.store.schema import SCHEMA_HASH, making_views_anew, schema_hash
from nws.jobs.store.tables import Base, UtcDateTime


def render_item(kind: str, item: object, _: object) -> str | Literal[False]:
    """Write a type into a new migration, which must not read the code of today."""
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, UtcDateTime) else False


def run(connection: Connection) -> None:
    context.configure(connection, target_metadata=Base.metadata, render_as_batch=True, render_item=render_item)
    with context.begin_transaction():
        context.run_migrations()


connection = context.config.attributes.get("connection")
if connection is not None:
    run(connection)
else:
    (typed, *_) = getattr(context.config.cmd_opts, "cmd", [None])
    # Here and not in `nws`: another SQLAlchemy may write the same in other words.
    if typed is command.check and schema_hash() != SCHEMA_HASH:
        raise SystemExit(
            "The tables or views have changed: write a migration in alembic/versions (an empty one if only views have "
            "changed), set HEAD_REVISION in jobs/store/schema.py to its name, and then "
            f'SCHEMA_HASH = "{schema_hash()}".'
        )
    address = parse_address(os.environ.get("NWS_STORE", DEFAULT_STORE))
    engine = writer_engine(address, foreign_keys="OFF")
    with transaction(engine, address) as own, making_views_anew(own) if typed is command.upgrade else nullcontext():
        run(own)
    engine.dispose()
