"""The scores of a run that has ended, kept a second time as columns, which a report reads a hundred times as fast.

A row of Python for each of ten million summaries takes minutes, and as arrays they lie there as they are needed. They
are written with the run's means (`jobs.store.means`), hold for as long as these, and are removed with them.
What is not in them is read from the summaries: other metrics than `METRICS`, and runs whose n count characters.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, or_, select

from core.metrics.specs import F1S, KEPT
from jobs.store.tables import RunRow, ScoreColumnRow

if TYPE_CHECKING:  # with NumPy, which `nws ls` need not wait for
    import numpy as np
    from numpy.typing import NDArray

    from core.analysis import Points
    from core.types import SystemKind

METRICS = (*F1S, KEPT.column)
"""Those of a report that is asked for nothing else."""
ROWS_OF_PART = 250_000
"""Of a value in the database: 2 MB of each score."""
ABOUT = "about"
"""The name of what says which systems, datasets and articles the numbers in columns stand for: as JSON, one part."""
TYPES = {"system": "<i2", "article": "<i4", "n": "<i4", "words": "<i4", "text": "<i8"}


def read_columns(
    connection: Connection, run_ids: Sequence[str], metrics: Sequence[str], texts: bool, whole: str | None = None
) -> "Points | None":
    """The points of runs, of whose systems the kinds are not known here; None where one has no columns of these.

    One column of all runs is read after the other, so that little more than what is returned is held. Columns are
    whole of runs whose means are kept, and of the run `whole`.
    """
    row = ScoreColumnRow
    about = select(row.run_id, row.column_values).join(RunRow, RunRow.id == row.run_id)
    about = about.where(row.run_id.in_(run_ids), row.name == ABOUT, or_(RunRow.means_kept, RunRow.id == whole))
    found = {run_id: json.loads(values) for run_id, values in connection.execute(about)}
    if not set(METRICS).issuperset(metrics) or len(found) < len(run_ids):
        return None
    import numpy as np

    from core.analysis import Points

    systems: dict[str, int] = {}
    articles: dict[tuple[str, str], int] = {}
    of_system, of_article = {}, {}
    for run_id in run_ids:
        known = found.pop(run_id)
        of_system[run_id] = np.array([systems.setdefault(one, len(systems)) for one in known["systems"]], np.int32)
        datasets = (known["datasets"][number] for number in known["of_dataset"])
        pairs = zip(datasets, known["articles"], strict=True)
        of_article[run_id] = np.array([articles.setdefault(one, len(articles)) for one in pairs], np.int32)

    def column(name: str, codes: "Mapping[str, NDArray[np.int32]] | None" = None) -> Any:
        kind = TYPES.get(name, "<f8")
        parts = []
        for run_id in run_ids:
            values = select(row.column_values).where(row.run_id == run_id, row.name == name).order_by(row.part)
            for stored in connection.execute(values).scalars():
                part = np.frombuffer(stored, kind)
                parts.append(part if codes is None else codes[run_id][part])
        return np.concatenate(parts)

    n = column("n")
    kind: SystemKind = "system"
    return Points(
        systems=tuple(systems),
        kinds=(kind,) * len(systems),
        articles=tuple(articles),
        system=column("system", of_system),
        article=column("article", of_article),
        n=n,
        words=column("words"),
        text=column("text") if texts else np.zeros(len(n), np.int64),
        scores={metric: column(metric) for metric in metrics},
    )
