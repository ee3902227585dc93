"""Articles with all their summaries in a run, many at a time, for pages and files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import JSON, Connection, RowMapping, select

from core.types import PLUGIN_SCORES
from jobs.store.tables import ArticleRow, SummaryRow

SUMMARY_COLUMNS: Mapping[str, type] = {
    column.name: dict if isinstance(column.type, JSON) else column.type.python_type
    for column in SummaryRow.__table__.columns
}
"""The columns of the table `summaries`, in its order, each with the type of its values."""


@dataclass(frozen=True, slots=True)
class ArticleTexts:
    """An article, its references, and its summaries.

    Each summary has the columns of the table `summaries`. Scores by metrics of plugins are not in `extra`, but beside
    the other scores, by name.
    """

    id: str
    dataset: str
    split: str
    key: str
    text: str
    references: tuple[str, ...]
    summaries: tuple[Mapping[str, Any], ...]

    def with_summaries(self, summaries: tuple[Mapping[str, Any], ...]) -> "ArticleTexts":
        return replace(self, summaries=summaries)


def read(connection: Connection, run_id: str, article_ids: Sequence[str]) -> list[ArticleTexts]:
    """In the order of the ids; an article without a summary in the run is left out."""
    # The columns, not the class: a mapped object for each of a million rows takes longer than to read them.
    query = select(SummaryRow.__table__).where(SummaryRow.run_id == run_id, SummaryRow.article_id.in_(article_ids))
    summaries: dict[str, list[Mapping[str, Any]]] = {}
    for row in connection.execute(query).mappings():
        summaries.setdefault(row["article_id"], []).append(_summary(row))
    query = select(ArticleRow.__table__).where(ArticleRow.id.in_(list(summaries)))
    articles = {
        row["id"]: ArticleTexts(
            id=row["id"],
            dataset=row["dataset"],
            split=row["split"],
            key=row["key"],
            text=row["text"],
            references=tuple(row["reference_summaries"]),
            summaries=tuple(summaries[row["id"]]),
        )
        for row in connection.execute(query).mappings()
    }
    return [articles[article_id] for article_id in article_ids if article_id in articles]


def _summary(row: RowMapping) -> dict[str, Any]:
    extra = dict(row["extra"])
    return {**row, **extra.pop(PLUGIN_SCORES, {}), "extra": extra}
