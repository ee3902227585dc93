"""Runs the migrations, for `nws` on a connection it hands over, or for the `alembic` command on NWS_STORE."""

import os

from alembic import context
from sqlalchemy import Connection

from nws.jobs.store.address import DEFAULT_STORE, parse_address
from nws.jobs.store.engine import transaction, writer_engine
from nws.jobs.store.schema import HEAD_REVISION, schema_hash
from nws.jobs.store.tables import Base


def run(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=Base.metadata)
    with context.begin_transaction():
        context.run_migrations()


connection = context.config.attributes.get("connection")
if connection is not None:
    run(connection)
else:
    if schema_hash() != HEAD_REVISION:  # here and not in `nws`: another SQLAlchemy may write the same in other words
        raise SystemExit(f'the tables or views have changed: set HEAD_REVISION = "{schema_hash()}" in schema.py')
    address = parse_address(os.environ.get("NWS_STORE", DEFAULT_STORE))
    engine = writer_engine(address)
    with transaction(engine, address) as own:
        run(own)
    engine.dispose()
