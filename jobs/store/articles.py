"""The articles of a run with their summaries: single ones, and many at a time.

Each query finds its rows by an index: a store may hold ten million summaries.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import JSON, ColumnElement, Connection, Row, Select, and_, exists, func, or_, select, union

from core.metrics.specs import BY_COLUMN
from core.types import CHOSEN_SCORES, Article, Summary, SystemKind
from jobs.store.database import Database, reads
from jobs.store.runs import runs_with_rows
from jobs.store.tables import ArticleRow, FailureRow, RunBestRow, RunRow, SummaryRow, SystemRow

_LEAST_OF_ID = 4
"""Characters of an id that may stand for it: fewer are a part of many texts, too."""
_HEX = frozenset("0123456789abcdef")
_TEXTS_AT_ONCE = 200
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
        """Articles with all that a run wrote of them, in the order of the ids; only those with a summary in the run."""
        # The columns, not the class: a mapped object for each of a million rows takes longer than to read them.
        in_run = SummaryRow.run_id.in_(runs_with_rows(connection, run_id))
        columns = (SummaryRow.__table__.columns[name] for name in SUMMARY_COLUMNS)
        query = select(*columns).where(in_run, SummaryRow.article_id.in_(article_ids))
        summaries: dict[str, list[Mapping[str, Any]]] = {}
        for row in connection.execute(query):
            summaries.setdefault(row.article_id, []).append(_with_chosen_scores(row))
        told = (ArticleRow.dataset, ArticleRow.split, ArticleRow.key, ArticleRow.text)
        query = select(ArticleRow.id, ArticleRow.reference_summaries, *told).where(ArticleRow.id.in_(list(summaries)))
        articles = {
            of: ArticleTexts(of, dataset, split, key, text, tuple(references), tuple(summaries[of]))
            for of, references, dataset, split, key, text in connection.execute(query)
        }
        return [articles[article_id] for article_id in article_ids if article_id in articles]

    @reads
    def articles_without(self, connection: Connection, run_id: str, metric: str) -> list[str]:
        """The ids of the articles with summaries in a run of which any lacks a score, rising."""
        lacks = SummaryRow.__table__.columns[metric].is_(None)
        query = select(SummaryRow.article_id).distinct().where(SummaryRow.run_id == run_id, lacks)
        return sorted(connection.execute(query).scalars())

    @reads
    def systems(self, connection: Connection, run_id: str) -> dict[str, SystemKind]:
        """The kind of each system that has written anything."""
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
        """The articles that fit `wanted`, at most `most`: those whose key or id it is, or whose id begins with it.

        That takes four characters of an id or more. If there is none, those whose text contains it, ignoring case and
        white space: for that all texts of the run are read.
        """
        is_named = or_(ArticleRow.key == wanted, ArticleRow.id == wanted)
        if len(wanted) >= _LEAST_OF_ID and _HEX.issuperset(wanted):
            # No LIKE, which uses no index on Postgres. "g" comes after all hexadecimal digits.
            is_named = or_(is_named, and_(ArticleRow.id > wanted, ArticleRow.id < wanted + "g"))
        queries = [
            select(ArticleRow).where(ArticleRow.id.in_(_article_ids(part))).order_by(ArticleRow.id)
            for part in runs_with_rows(connection, run_id)
        ]
        if rows := [row for query in queries for row in connection.execute(query.where(is_named).limit(most))]:
            return _first(map(_article, rows), most)
        found = (article for query in queries for article in _with_text(connection, query, wanted))
        return _first(itertools.islice(found, most), most)

    @reads
    def summaries(self, connection: Connection, run_id: str, article_id: str) -> list[Summary]:
        """All summaries of an article."""
        in_run = SummaryRow.run_id.in_(runs_with_rows(connection, run_id))
        query = select(SummaryRow).where(in_run, SummaryRow.article_id == article_id)
        return list(map(_summary, connection.execute(query.order_by(SummaryRow.system, SummaryRow.n))))


def _first(articles: Iterable[Article], most: int) -> list[Article]:
    return sorted(articles, key=lambda article: article.id)[:most]


def _article_ids(run_id: str) -> Select[Any]:
    """The ids of a run's articles with summaries or failures."""
    failed = select(FailureRow.article_id).where(FailureRow.run_id == run_id)
    either = union(articles_of_runs(SummaryRow, RunRow.id == run_id), failed).subquery()
    return select(either.c.id)


def articles_of_runs(table: type[SummaryRow | RunBestRow], *conditions: ColumnElement[bool]) -> Select[tuple[str]]:
    """The articles that the runs which fit the conditions have in a table whose key begins with run and article.

    Each is looked up from the one before: a key has an entry for every summary, a hundred times as many as articles.
    """
    first = select(func.min(table.article_id)).where(table.run_id == RunRow.id).scalar_subquery()
    begin = select(RunRow.id.label("run_id"), first.label("id")).where(*conditions)
    found = begin.cte(f"of_{table.__name__}", recursive=True)
    behind = (table.run_id == found.c.run_id, table.article_id > found.c.id)
    following = select(func.min(table.article_id)).where(*behind).scalar_subquery()
    found = found.union_all(select(found.c.run_id, following).where(found.c.id.is_not(None)))
    return select(found.c.id).where(found.c.id.is_not(None))


def _with_text(connection: Connection, articles_of_run: Select[Any], wanted: str) -> Iterator[Article]:
    """Found here and not in SQL: SQLite folds the case of ASCII only, and blanks may be new lines."""
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
