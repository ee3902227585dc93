"""Stored means of a run that has ended, which the views read: by system and n, and the best n of each article.

While a run goes on, the views compute these from its summaries (`live_means` and `live_best_n`, see revision 0007).
When it has ended, they are stored, a piece at a time, so that no other writer waits for a large run. The views compute
them until all are stored, and again once a driver takes the run.
"""

from collections.abc import Generator
from typing import Any, TypeAlias

from sqlalchemy import Connection, column, delete, select, table, update

from jobs.store.on_conflict import insert_new
from jobs.store.tables import Base, RunBestRow, RunMeanRow, RunRow

ROWS_AT_ONCE = 10_000
"""Of a transaction: SQLite inserts them in less than 0.1 s."""

_LIVE: dict[type[Base], str] = {RunMeanRow: "live_means", RunBestRow: "live_best_n"}

Piece: TypeAlias = tuple[type[Base], list[dict[str, Any]]]
"""Rows of one table."""


def epoch_to_keep(connection: Connection, run_id: str) -> int | None:
    """The epoch of a run that has ended and whose means are not kept; None for any other run."""
    ended = RunRow.state.in_(("done", "failed", "interrupted"))
    query = select(RunRow.driver_epoch).where(RunRow.id == run_id, ended, ~RunRow.means_kept)
    return connection.execute(query).scalar()


def live_pieces(connection: Connection, run_id: str) -> Generator[Piece, None, None]:
    """The rows to store for a run, in pieces."""
    for stored_table, live in _LIVE.items():
        names = stored_table.__table__.columns.keys()
        view = table(live, *map(column, names))
        query = select(*(view.c[name] for name in names)).where(view.c.run_id == run_id)
        with connection.execute(query, execution_options={"yield_per": ROWS_AT_ONCE}) as result:
            for rows in result.mappings().partitions():
                yield stored_table, [dict(row) for row in rows]


def keep(connection: Connection, run_id: str, epoch: int, piece: Piece) -> bool:
    """Store a piece, if the run has still ended in `epoch`; whether it has."""
    is_ours = _set_kept(connection, run_id, epoch, False)
    if is_ours:
        insert_new(connection, *piece)
    return is_ours


def all_is_kept(connection: Connection, run_id: str, epoch: int) -> None:
    """Let the views read the stored rows from now on, if the run has still ended in `epoch`."""
    _set_kept(connection, run_id, epoch, True)


def forget(connection: Connection, run_id: str) -> None:
    """Remove the rows that were stored when the run ended before."""
    for stored_table in _LIVE:
        connection.execute(delete(stored_table).where(stored_table.__table__.columns["run_id"] == run_id))


def _set_kept(connection: Connection, run_id: str, epoch: int, means_kept: bool) -> bool:
    # The row stays locked until the transaction ends, so that no driver takes the run in between.
    is_this_epoch = (RunRow.id == run_id, RunRow.driver_epoch == epoch, RunRow.state != "running")
    return connection.execute(update(RunRow).where(*is_this_epoch).values(means_kept=means_kept)).rowcount == 1
