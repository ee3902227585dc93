"""The articles of a run with their summaries: single ones, and many at a time.

Each query finds its rows by an index: a store may hold ten million summaries.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import JSON, ColumnElement, Connection, Row, Select, and_, exists, func, or_, select, union

from core.metrics.specs import BY_COLUMN
from core.types import CHOSEN_SCORES, Article, Summary, SystemKind
from jobs.store.database import Database, reads
from jobs.store.runs import runs_with_rows
from jobs.store.tables import ArticleRow, FailureRow, RunBestRow, RunRow, SummaryRow, SystemRow

_SHORTEST_ID = 4
"""The fewest characters of an id that may stand for it: fewer are a part of many texts, too."""
_HEX = frozenset("0123456789abcdef")
_TEXTS_AT_ONCE = 200
"""The number of articles that one step of a search reads."""
SUMMARY_COLUMNS: Mapping[str, type] = {
    column.name: dict if isinstance(column.type, JSON) else column.type.python_type
    for column in SummaryRow.__table__.columns
    if column.name != "raw_text"
}
"""The columns of `summaries` that readers get, in its order, each with the type of its values."""


@dataclass(frozen=True, slots=True)
class ArticleTexts:
    """An article, its references, and its summaries.

    Each summary has the columns `SUMMARY_COLUMNS`. Scores by metrics of plugins are not in `extra`, but beside
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


class Articles(Database):
    """The methods of a store that read articles with their texts and summaries."""

    @reads
    def article_texts(self, connection: Connection, run_id: str, article_ids: Sequence[str]) -> list[ArticleTexts]:
        """The articles of these ids with their summaries, in the order of the ids, without those that have none."""
        # The columns, not the class: a mapped object for each of a million rows takes longer than to read them.
        in_run = SummaryRow.run_id.in_(runs_with_rows(connection, run_id))
        summary_columns = (SummaryRow.__table__.columns[name] for name in SUMMARY_COLUMNS)
        query = select(*summary_columns).where(in_run, SummaryRow.article_id.in_(article_ids))
        summaries: dict[str, list[Mapping[str, Any]]] = {}
        for row in connection.execute(query):
            summaries.setdefault(row.article_id, []).append(_with_chosen_scores(row))
        columns = (ArticleRow.dataset, ArticleRow.split, ArticleRow.key, ArticleRow.text)
        query = select(ArticleRow.id, ArticleRow.reference_summaries, *columns).where(
            ArticleRow.id.in_(list(summaries))
        )
        articles = {
            id_: ArticleTexts(id_, dataset, split, key, text, tuple(references), tuple(summaries[id_]))
            for id_, references, dataset, split, key, text in connection.execute(query)
        }
        return [articles[article_id] for article_id in article_ids if article_id in articles]

    @reads
    def articles_without(self, connection: Connection, run_id: str, metric: str) -> list[str]:
        """The ids, in rising order, of the articles with a summary in a run that lacks a score by the metric."""
        lacks = SummaryRow.__table__.columns[metric].is_(None)
        query = select(SummaryRow.article_id).distinct().where(SummaryRow.run_id == run_id, lacks)
        return sorted(connection.execute(query).scalars())

    @reads
    def systems(self, connection: Connection, run_id: str) -> dict[str, SystemKind]:
        """The kind of each system of a run that has summaries."""
        in_run = SummaryRow.run_id.in_(runs_with_rows(connection, run_id))
        written = exists().where(in_run, SummaryRow.system == SystemRow.system)
        query = select(SystemRow.system, SystemRow.kind).where(SystemRow.run_id == run_id, written)
        return {row.system: row.kind for row in connection.execute(query)}

    @reads
    def lengths(self, connection: Connection, run_id: str, system: str) -> list[int]:
        """Every n at which a system has summaries, rising."""
        by_system = (SummaryRow.run_id.in_(runs_with_rows(connection, run_id)), SummaryRow.system == system)
        return sorted(connection.execute(select(SummaryRow.n).distinct().where(*by_system)).scalars())

    @reads
    def find_articles(self, connection: Connection, run_id: str, wanted: str, most: int) -> list[Article]:
        """At most `most` articles of a run, by a key, an id, the beginning of an id, or a part of the text.

        The beginning of an id has four characters or more. Texts are searched only if no key and no id fits. Case and
        white space do not matter then, and all texts of the run are read.
        """
        is_named = or_(ArticleRow.key == wanted, ArticleRow.id == wanted)
        if len(wanted) >= _SHORTEST_ID and _HEX.issuperset(wanted):
            # No LIKE, which uses no index on Postgres. "g" comes after all hexadecimal digits.
            is_named = or_(is_named, and_(ArticleRow.id > wanted, ArticleRow.id < wanted + "g"))
        in_run = _article_ids(runs_with_rows(connection, run_id))
        query = select(ArticleRow).where(ArticleRow.id.in_(in_run)).order_by(ArticleRow.id)
        if rows := connection.execute(query.where(is_named).limit(most)).all():
            return list(map(_article, rows))
        return list(itertools.islice(_with_text(connection, query, wanted), most))

    @reads
    def summaries(self, connection: Connection, run_id: str, article_id: str) -> list[Summary]:
        """All summaries of an article."""
        in_run = SummaryRow.run_id.in_(runs_with_rows(connection, run_id))
        query = select(SummaryRow).where(in_run, SummaryRow.article_id == article_id)
        return list(map(_summary, connection.execute(query.order_by(SummaryRow.system, SummaryRow.n))))


def _article_ids(run_ids: Sequence[str]) -> Select[Any]:
    """The ids of the articles of which runs without shards have summaries or failures."""
    failed = select(FailureRow.article_id).where(FailureRow.run_id.in_(run_ids))
    either = union(articles_of_runs(SummaryRow, RunRow.id.in_(run_ids)), failed).subquery()
    return select(either.c.id)


def articles_of_runs(table: type[SummaryRow | RunBestRow], *conditions: ColumnElement[bool]) -> Select[tuple[str]]:
    """The ids of the articles of some runs in a table whose key begins with run and article.

    The conditions choose the runs. Each id is looked up from the one before, since the index has an entry for every
    summary, a hundred times as many as articles.
    """
    first = select(func.min(table.article_id)).where(table.run_id == RunRow.id).scalar_subquery()
    begin = select(RunRow.id.label("run_id"), first.label("id")).where(*conditions)
    articles = begin.cte(f"ids_of_{table.__name__}", recursive=True)
    is_behind = (table.run_id == articles.c.run_id, table.article_id > articles.c.id)
    following = select(func.min(table.article_id)).where(*is_behind).scalar_subquery()
    articles = articles.union_all(select(articles.c.run_id, following).where(articles.c.id.is_not(None)))
    return select(articles.c.id).where(articles.c.id.is_not(None))


def _with_text(connection: Connection, articles_of_run: Select[Any], wanted: str) -> Iterator[Article]:
    """The articles whose text contains `wanted`. SQL cannot tell: SQLite folds the case of ASCII letters only."""
    sought = _folded(wanted)
    with closing(connection.execute(articles_of_run, execution_options={"yield_per": _TEXTS_AT_ONCE})) as rows:
        yield from (_article(row) for row in rows if sought in _folded(row.text))


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _article(row: Row[Any]) -> Article:
    return Article(row.dataset, row.split, row.key, row.text, tuple(row.reference_summaries))


def _summary(row: Row[Any]) -> Summary:
    extra: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in row.extra.items()}
    chosen_scores = extra.pop(CHOSEN_SCORES, {})
    scores = {column: value for column in BY_COLUMN if (value := row._mapping[column]) is not None}
    return Summary(row.article_id, row.system, row.n, row.text, row.words, row.seconds, scores, extra, chosen_scores)


def _with_chosen_scores(row: Row[Any]) -> dict[str, Any]:
    extra = dict(row.extra)
    return {**row._mapping, **extra.pop(CHOSEN_SCORES, {}), "extra": extra}
