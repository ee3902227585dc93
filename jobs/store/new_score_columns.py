"""Of a run that has ended, the scores as the columns that reports read, see `jobs.store.score_columns`."""

import json
from collections.abc import Generator, Sequence
from typing import Any

from sqlalchemy import Connection, exists, select

from jobs.store.score_columns import ABOUT, METRICS, TYPES
from jobs.store.tables import RunRow, SummaryRow

ROWS_OF_PART = 250_000
"""Of a value in the database: 2 MB of each score."""


def column_rows(connection: Connection, run_id: str) -> Generator[list[dict[str, Any]], None, None]:
    """The rows to store for a run, in pieces; none for a sharded run, or where n is of characters."""
    if not connection.execute(select(exists().where(SummaryRow.run_id == run_id))).scalar_one():
        return
    # With NumPy, which the end of a run without rows need not wait for.
    from jobs.store.points import piece_columns, read_datasets, read_pieces

    recipe = connection.execute(select(RunRow.recipe).where(RunRow.id == run_id)).scalar_one()
    if recipe.get("max_chars"):
        return
    systems: dict[str, int] = {}
    articles: dict[str, int] = {}
    part, held, pieces = 0, 0, []
    for piece in read_pieces(connection, run_id, METRICS):
        pieces.append(piece_columns(piece, systems, articles))
        held += len(piece[0])
        if held >= ROWS_OF_PART:
            yield _rows(run_id, part, pieces)
            part, held, pieces = part + 1, 0, []
    if pieces:
        yield _rows(run_id, part, pieces)
    if articles:
        datasets = read_datasets(connection, run_id)
        names = sorted(set(datasets.values()))
        code = {name: number for number, name in enumerate(names)}
        about: dict[str, Any] = {"systems": list(systems), "datasets": names, "articles": list(articles)}
        about["of_dataset"] = [code[datasets[article]] for article in articles]
        yield [{"run_id": run_id, "name": ABOUT, "part": 0, "column_values": json.dumps(about).encode()}]


def _rows(run_id: str, part: int, pieces: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    import numpy as np

    names = [*TYPES, *METRICS]
    columns = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return [
        {
            "run_id": run_id,
            "name": name,
            "part": part,
            "column_values": column.astype(TYPES.get(name, "<f8")).tobytes(),
        }
        for name, column in zip(names, columns, strict=True)
    ]
