"""The results of runs (articles, summaries and failures): how they are written as rows, and read again."""

import math
import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Double,
    Integer,
    LargeBinary,
    and_,
    bindparam,
    func,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.exc import DBAPIError

from nws.core.article import Article
from nws.core.metrics.specs import BY_COLUMN, OPTIONAL
from nws.core.text.model_outputs import RAW
from nws.core.text.word_kinds import KIND_TERMS
from nws.core.types import CHOSEN_SCORES, BundleResult, Failure, Summary
from nws.jobs.store.engine import dump_json, escaped, id_batches, is_storable, require_storable, upsert
from nws.jobs.store.runs import runs_with_rows
from nws.jobs.store.tables import ArticleRow, FailureRow, SummaryRow

if TYPE_CHECKING:  # importing NumPy and SciPy would delay `nws ls`
    from nws.core.analysis import Points
    from nws.core.article_id_sets import ArticleIds
    from nws.core.metrics.specs import Metric

_SUMMARIES_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class FailureInfo:
    """An article that a stage of a run could not finish, with its key in its dataset. `failed_at` is aware, in UTC."""

    dataset: str
    key: str
    article_id: str
    stage: str
    error_class: str
    message: str
    attempts: int
    node: str
    failed_at: datetime


def finished_article_ids(connection: Connection, run_id: str, systems: Sequence[str] = ()) -> "ArticleIds":
    """Return the ids of the articles with summaries by these systems of a stage; by any system if none is given."""
    from nws.core.article_id_sets import ArticleIds

    runs = runs_with_rows(connection, run_id)
    query = select(SummaryRow.article_id).distinct().where(_of_stage(runs, systems))
    return ArticleIds.of(connection.execute(query).scalars())


def failures(
    connection: Connection, run_id: str, article_id: str | None = None, newest: int | None = None
) -> list[FailureInfo]:
    """List the failures of a run, by dataset and key; those of one article, by stage; or the `newest`, newest first."""
    columns = (column for column in FailureRow.__table__.columns if column.name != "run_id")
    query = (
        select(ArticleRow.dataset, ArticleRow.key, *columns)
        .join(ArticleRow, ArticleRow.id == FailureRow.article_id)
        .where(FailureRow.run_id.in_(runs_with_rows(connection, run_id)))
    )
    if article_id is not None:
        query = query.where(FailureRow.article_id == article_id)
    if newest is not None:
        query = query.order_by(FailureRow.failed_at.desc(), FailureRow.article_id).limit(newest)
    infos = [FailureInfo(**row._mapping) for row in connection.execute(query)]
    if newest is None:  # sorted here: in Postgres the order of text depends on the locale of the database
        infos.sort(key=lambda failure: (failure.dataset, failure.key, failure.article_id, failure.stage))
    return infos


def content_hashes(connection: Connection, run_id: str) -> dict[str, str]:
    """Return the content hash of each article with a summary in a run, by its id. It does not depend on the file."""
    summarized = select(SummaryRow.article_id).where(SummaryRow.run_id.in_(runs_with_rows(connection, run_id)))
    query = select(ArticleRow.id, ArticleRow.content_hash).where(ArticleRow.id.in_(summarized))
    return {row.id: row.content_hash for row in connection.execute(query)}


def points(
    connection: Connection, run_id: str, metrics: "Sequence[Metric] | None" = None, repeated_words: bool = False
) -> "Points":
    """Read the summaries of a run with their scores in `metrics` (default: all), and their shares of repeated words."""
    from nws.jobs.store.points import read_points

    return read_points(connection, run_id, metrics, repeated_words)


def written_texts(
    connection: Connection, run_id: str, system: str, behind: tuple[str, int]
) -> list[tuple[str, int, str, str | None]]:
    """Read the next summaries by a system after the place `behind` (an article's id and n), in the order of id and n.

    Each is the article's id, n, the text, and the model's raw output where that differs (`RAW`).
    """
    place = SummaryRow.article_id, SummaryRow.n
    query = select(*place, SummaryRow.text, SummaryRow.extra[RAW].as_string())
    query = query.where(SummaryRow.run_id == run_id, SummaryRow.system == system, tuple_(*place) > behind)
    return [tuple(row) for row in connection.execute(query.order_by(*place).limit(_SUMMARIES_AT_ONCE))]


def check_result(result: BundleResult) -> None:
    """Refuse summaries that a store cannot hold exactly, before anything is written. Readers have cleaned the articles.

    Raises:
        StoreError: a number is NaN or infinite, or a text has a NUL or a lone surrogate (Postgres stores neither).
    """
    for summary in result.summaries:
        if not _is_plain(summary):
            values = {"seconds": summary.seconds, **summary.scores, **summary.chosen_scores, **summary.extra}
            where = f"the summary of article {summary.article_id} by {summary.system!r} at n={summary.n}"
            require_storable(values | {"texts": (summary.text, summary.system)}, where)


def _is_plain(summary: Summary) -> bool:
    """Return whether a quick check shows that a store can hold the summary. A sum is finite only if all terms are."""
    return (
        not summary.extra
        and not summary.chosen_scores
        and math.isfinite(sum(summary.scores.values(), summary.seconds))
        and is_storable(summary.text)
        and is_storable(summary.system)
    )


def count(connection: Connection, run_id: str, article_ids: Sequence[str]) -> dict[str, int]:
    """Count `articles_done`, `summaries`, `reused` and `failures` of a run among these articles, which are distinct."""
    counts = dict.fromkeys(("articles_done", "summaries", "reused", "failures"), 0)
    for ids in id_batches(article_ids):
        row = connection.execute(_COUNTS, {"run_id": run_id, "article_ids": ids}).one()
        for name, number in row._mapping.items():
            counts[name] += number
    return counts


_COUNTS = text("""
SELECT
    COUNT(*) FILTER (WHERE a.systems >= (SELECT systems FROM runs WHERE id = :run_id)) AS articles_done,
    CAST(COALESCE(SUM(a.summaries), 0) AS INTEGER) AS summaries,
    CAST(COALESCE(SUM(a.reused), 0) AS INTEGER) AS reused,
    (SELECT COUNT(DISTINCT article_id) FROM failures WHERE run_id = :run_id AND article_id IN :article_ids) AS failures
FROM (
    SELECT COUNT(*) AS summaries, COUNT(reused_from) AS reused, COUNT(DISTINCT system) AS systems
    FROM summaries WHERE run_id = :run_id AND article_id IN :article_ids GROUP BY article_id
) AS a
""").bindparams(bindparam("article_ids", expanding=True))


def _of_stage(run_ids: Sequence[str], systems: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition for summaries of a stage: by one of these systems, or by any if none is given."""
    in_runs = SummaryRow.run_id.in_(run_ids)
    return and_(in_runs, SummaryRow.system.in_(systems)) if systems else in_runs


def record_failures(
    connection: Connection, run_id: str, failed: Sequence[Failure], stage: str, systems: Sequence[str]
) -> None:
    """Store failures in a stage with these systems, or add their attempts to failures that are stored already."""
    # A late failure means nothing if the article has its summaries by now.
    ids = [failure.article_id for failure in failed]
    query = select(SummaryRow.article_id).where(_of_stage([run_id], systems), SummaryRow.article_id.in_(ids))
    done = set(connection.execute(query).scalars()) if ids else set()
    shared = {"run_id": run_id, "stage": stage, "failed_at": datetime.now(UTC)}
    rows = [
        {**asdict(failure), **shared, "message": escaped(failure.message)}
        for failure in failed
        if failure.article_id not in done
    ]
    if not rows:
        return
    statement = upsert(connection, FailureRow)
    new = statement.excluded
    values: dict[str, Any] = {name: new[name] for name in ("error_class", "message", "node", "failed_at")}
    values["attempts"] = FailureRow.attempts + new["attempts"]
    key = ("run_id", "article_id", "stage")
    connection.execute(statement.on_conflict_do_update(index_elements=key, set_=values), rows)


def article_row(article: Article) -> dict[str, Any]:
    """Return the row of an article."""
    names = ("id", "dataset", "split", "key", "text", "content_hash")
    return {name: getattr(article, name) for name in names} | {"reference_summaries": article.references}


Key: TypeAlias = tuple[str, str, int]
"""Article, system and n: the place of a summary in its run."""
NewSummaries: TypeAlias = Mapping[Key, tuple[Any, ...]]
"""The values of rows, in the order of `_ORDER`, by place."""

_BEFORE = ("run_id", "article_id", "system", "n", "text", "words", "seconds")
_ORDER = (*_BEFORE, *BY_COLUMN, "extra", "reused_from", "kinds")
_NAMES = ", ".join(_ORDER)
_INSERT = f"INSERT INTO summaries ({_NAMES}) VALUES ({', '.join('?' * len(_ORDER))})"
_COPY = f"COPY summaries ({_NAMES}) FROM STDIN (FORMAT BINARY)"
# In COPY's binary format JSON is a text.
_BINARY = {Integer: "int4", BigInteger: "int8", Double: "float8", LargeBinary: "bytea"}
_POSTGRES_TYPES = [_BINARY.get(type(SummaryRow.__table__.columns[name].type), "text") for name in _ORDER]
_NO_EXTRA = dump_json({})


def new_summaries(run_id: str, summaries: Iterable[Summary]) -> NewSummaries:
    """Make the rows of a run's summaries, by place, with few objects per row. The first summary of a place counts."""
    rows: dict[Key, tuple[Any, ...]] = {}
    for summary in summaries:
        key = (summary.article_id, summary.system, summary.n)
        scores = map(summary.scores.get, BY_COLUMN)
        values = (summary.text, summary.words, summary.seconds, *scores, _extra(summary), None, _kinds(summary))
        rows.setdefault(key, (run_id, *key, *values))
    return rows


def _kinds(summary: Summary) -> bytes | None:
    """Return the column `kinds`; None if no kinds of words were found."""
    terms = [summary.scores.get(name, math.nan) for name in KIND_TERMS]
    return None if all(map(math.isnan, terms)) else struct.pack(f"<{len(terms)}e", *terms)


def _extra(summary: Summary) -> str:
    """Return the column `extra`: the summary's `extra`, and its `chosen_scores`, if any, under `CHOSEN_SCORES`."""
    if not summary.extra and not summary.chosen_scores:
        return _NO_EXTRA
    scores = {CHOSEN_SCORES: dict(summary.chosen_scores)} if summary.chosen_scores else {}
    return dump_json({**summary.extra, **scores})


def stored_keys(connection: Connection, run_id: str, article_ids: Sequence[str]) -> set[Key]:
    """Read the places of the summaries that a run has of these articles."""
    place = (SummaryRow.article_id, SummaryRow.system, SummaryRow.n)
    stored: set[Key] = set()
    for ids in id_batches(article_ids):
        query = select(*place).where(SummaryRow.run_id == run_id, SummaryRow.article_id.in_(ids))
        stored.update((article_id, system, n) for article_id, system, n in connection.execute(query))
    return stored


def insert_summaries(connection: Connection, new: NewSummaries, stored: Collection[Key] = ()) -> None:
    """Insert the summaries whose places are not in `stored`, which has all places that the run has of the articles.

    Not with ON CONFLICT, which COPY lacks. Nobody else can insert meanwhile, since every transaction of a driver locks
    the run's row, see `nws.jobs.store.lifecycle`.
    """
    rows = [row for key, row in new.items() if key not in stored] if stored else list(new.values())
    if rows and connection.dialect.name == "postgresql":
        _copy(connection, rows)
    elif rows:
        connection.exec_driver_sql(_INSERT, rows)


def _copy(connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    import psycopg

    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    try:
        with driver.cursor() as cursor, cursor.copy(_COPY) as copy:
            copy.set_types(_POSTGRES_TYPES)
            for row in rows:
                copy.write_row(row)
    except psycopg.Error as error:
        # SQLAlchemy does not know COPY, so its error is made here: `nws.jobs.store.engine` tells these errors apart.
        if driver.broken:
            connection.invalidate(error)
        raise DBAPIError.instance(_COPY, None, error, psycopg.Error, dialect=connection.dialect) from error


_KEY = ("article_id", "system", "n", "text")


def store_kept(connection: Connection, run_id: str, summaries: Sequence[Summary]) -> None:
    """Store the `OPTIONAL` scores and kinds that stored summaries of a run with the same text lack.

    Scores that they have already stay, to the last bit.
    """
    columns = SummaryRow.__table__.columns
    rows = [
        {f"of_{name}": getattr(summary, name) for name in _KEY}
        | {f"new_{name}": summary.scores[name] for name in OPTIONAL}
        | {"new_kinds": _kinds(summary)}
        for summary in summaries
    ]
    is_this = (SummaryRow.run_id == run_id, *(columns[name] == bindparam(f"of_{name}") for name in _KEY))
    values = {name: func.coalesce(columns[name], bindparam(f"new_{name}")) for name in (*OPTIONAL, "kinds")}
    if rows:
        connection.execute(update(SummaryRow).where(*is_this).values(values), rows)
