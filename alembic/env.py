"""Runs the migrations, for `nws` on a connection it hands over, or for the `alembic` command on NWS_STORE."""

import os
from typing import Any

from alembic import context
from sqlalchemy import Connection

from jobs.store.address import DEFAULT_STORE, parse_address
from jobs.store.engine import transaction, writer_engine
from jobs.store.tables import Base
from jobs.store.views import make_views


def run(connection: Connection) -> None:
    is_postgres = connection.dialect.name == "postgresql"

    def is_compared(found: Any, name: str | None, kind: str, reflected: bool, compare_to: Any) -> bool:
        """On Postgres summaries have a partition for each run, and no foreign keys, see `jobs.store.partitions`."""
        if kind == "table" and reflected and compare_to is None and is_postgres:
            return not name.startswith("summaries_")
        return not (is_postgres and kind == "foreign_key_constraint" and found.parent.name == "summaries")

    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        include_object=is_compared,
        # SQLite alters a table by copying it.
        render_as_batch=not is_postgres,
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
