"""Scores of content kept that are stored later than their summaries, see `jobs.drive.kept`."""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, update

from core.metrics.specs import OPTIONAL
from core.types import Summary
from jobs.store.tables import SummaryRow

_KEY = ("article_id", "system", "n", "text")
_COLUMNS = SummaryRow.__table__.columns


def store_kept(connection: Connection, run_id: str, summaries: Sequence[Summary]) -> None:
    """Store the `OPTIONAL` scores of summaries of a run that are there with the same text, and lack them."""
    lacks = (SummaryRow.run_id == run_id, _COLUMNS[OPTIONAL[0]].is_(None))
    rows = [
        {f"of_{name}": getattr(summary, name) for name in _KEY}
        | {f"new_{name}": summary.scores[name] for name in OPTIONAL}
        for summary in summaries
    ]
    statement = update(SummaryRow).where(*lacks, *(_COLUMNS[name] == bindparam(f"of_{name}") for name in _KEY))
    if rows:
        connection.execute(statement.values({name: bindparam(f"new_{name}") for name in OPTIONAL}), rows)
