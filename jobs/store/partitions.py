"""The partitions of `summaries` on Postgres: a run's rows lie in a table of their own, which goes with the run.

No foreign keys lead out of them. They took half of the server's time to store a row, and a partition with one can only
be made or dropped while nobody writes to the other table. A row of a run that is not there finds no partition. That a
row has its article is up to the transactions: a driver stores both in one, and who removes articles locks their table
(`jobs.store.removal`). On SQLite nothing of this exists; there `summaries` is one table with foreign keys.
"""

from collections.abc import Sequence

from sqlalchemy import Connection

from core.errors import StoreUnavailableError
from jobs.store.database import Database

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
