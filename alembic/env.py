"""Runs the migrations, for `nws` on a connection it hands over, or for the `alembic` command on NWS_STORE."""

import os

from alembic import context
from sqlalchemy import Connection

from jobs.store.address import DEFAULT_STORE, parse_address
from jobs.store.engine import transaction, writer_engine
from jobs.store.tables import Base
from jobs.store.views import make_views


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        # SQLite alters a table by copying it.
        render_as_batch=connection.dialect.name == "sqlite",
    )
    with context.begin_transaction():
        before = context.get_context().get_current_revision()
        context.run_migrations()
        if before != context.get_context().get_current_revision() == context.get_head_revision():
            make_views(connection)


connection = context.config.attributes.get("connection")
if connection is not None:
    run(connection)
else:
    address = parse_address(os.environ.get("NWS_STORE", DEFAULT_STORE))
    engine = writer_engine(address)
    with transaction(engine, address) as own:
        run(own)
    engine.dispose()
