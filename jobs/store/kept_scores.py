"""Scores of content kept that are stored later than their summaries, see `jobs.drive.kept`."""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select, update

from core.metrics.specs import OPTIONAL
from core.types import Summary
from jobs.store.tables import SummaryRow
from jobs.store.texts import texts_of

_KEY = ("article_id", "system", "n")
_GUARDED = (*_KEY, "text", "text_file")
_COLUMNS = SummaryRow.__table__.columns


def store_kept(connection: Connection, run_id: str, summaries: Sequence[Summary]) -> None:
    """Store the `OPTIONAL` scores of summaries of a run that are there with the same text, and lack them.

    A file of texts never changes, so what was read from one is still the text of a row that names it.
    """
    lacks = (SummaryRow.run_id == run_id, _COLUMNS[OPTIONAL[0]].is_(None))
    of_articles = SummaryRow.article_id.in_({summary.article_id for summary in summaries})
    stored = connection.execute(select(*(_COLUMNS[name] for name in _GUARDED)).where(*lacks, of_articles)).all()
    found = {tuple(row[:3]): (row, text) for row, text in zip(stored, texts_of(connection, stored), strict=True)}
    rows = []
    for summary in summaries:
        row, text = found.get((summary.article_id, summary.system, summary.n), (None, None))
        if row is not None and text == summary.text:
            new = {f"new_{name}": summary.scores[name] for name in OPTIONAL}
            rows.append({f"of_{name}": getattr(row, name) for name in _GUARDED} | new)
    statement = (
        update(SummaryRow)
        .where(*lacks, *(_COLUMNS[name] == bindparam(f"of_{name}") for name in _KEY))
        .where(*(_COLUMNS[name].is_not_distinct_from(bindparam(f"of_{name}")) for name in ("text", "text_file")))
        .values({name: bindparam(f"new_{name}") for name in OPTIONAL})
    )
    if rows:
        connection.execute(statement, rows)
