"""The articles of a run with their summaries, and the summaries of other runs that it may copy.

Each query finds its rows by an index, since a store may hold ten million summaries.

Rows of two runs are equal if they have the same key (`SystemRow.reuse_key`, see `nws.jobs.drive.reuse`), article, n and
arithmetic (`nws.core.arithmetic.describe_arithmetic`). Texts that a generator wrote in 16 bits are not copied, since
they depend on the batch. Rows of a `mixed` run are not copied either. Only rows that a run has computed itself are
copied, so `reused_from` always names the run that computed the number.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    JSON,
    BindParameter,
    ColumnElement,
    CompoundSelect,
    Connection,
    Row,
    Select,
    String,
    and_,
    bindparam,
    exists,
    func,
    or_,
    select,
    text,
    union,
)

from nws.core.article import Article
from nws.core.errors import StoreError
from nws.core.metrics.specs import BY_COLUMN, OPTIONAL
from nws.core.types import CHOSEN_SCORES, Summary, SystemKind
from nws.jobs.store.engine import id_batches
from nws.jobs.store.runs import runs_with_rows
from nws.jobs.store.tables import ArticleRow, FailureRow, RunRow, SummaryRow, SystemRow

_ARTICLES_AT_ONCE = 1_000
_SHORTEST_ID = 4
"""The fewest characters of an id that may stand for it. Fewer also occur in many texts."""
_HEX = frozenset("0123456789abcdef")
_TEXTS_AT_ONCE = 200
"""The number of articles that one step of a search reads."""
SUMMARY_COLUMNS: Mapping[str, type] = {
    column.name: dict if isinstance(column.type, JSON) else column.type.python_type
    for column in SummaryRow.__table__.columns
    if column.name != "kinds"  # packed numbers, which only the analysis reads
}
"""The columns of `summaries` in the table's order, each with the type of its values."""


@dataclass(frozen=True, slots=True)
class ArticleTexts:
    """An article, its references, and its summaries.

    Each summary has the columns `SUMMARY_COLUMNS`. Scores of plugins' metrics stand beside the other scores, by name,
    and not in `extra`.
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


@dataclass(frozen=True, slots=True)
class Reusable:
    """The rows of other runs that a stage may copy.

    Attributes:
        sources: the runs that may have such rows.
        arithmetic: the way in which the workers of these runs multiplied.
        reuse_keys: the keys of the systems whose rows may be copied, see `nws.jobs.drive.reuse`.
        systems: all systems of the stage.
        lengths: every n of the stage; 0 for uncut summaries.
        rows: the number of summaries that the stage has for each article.
    """

    sources: tuple[str, ...]
    arithmetic: str
    reuse_keys: tuple[str, ...]
    systems: tuple[str, ...]
    lengths: tuple[int, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class EndpointText:
    """A summary that an endpoint has written in another run: its text, its cost in seconds, and its `extra`."""

    run_id: str
    text: str
    seconds: float
    extra: Mapping[str, Any]


def _lists(*names: str) -> list[BindParameter[str]]:
    """Make parameters for lists of texts, with their type, which Postgres needs if a list is empty."""
    return [bindparam(name, expanding=True, type_=String) for name in names]


# Literal SQL for its CROSS JOIN: it makes SQLite read the tables in this order, and find summaries by their key.
# Otherwise SQLite might read all rows of a run.
_EQUAL = """
FROM summaries AS s
CROSS JOIN systems AS y
WHERE s.run_id IN :sources AND s.article_id IN :articles AND s.n IN :lengths AND s.reused_from IS NULL
    AND COALESCE(s.extra ->> 'dtype', 'float32') = 'float32'
    AND y.run_id = s.run_id AND y.system = s.system AND y.reuse_key IN :reuse_keys"""
_PARAMETERS = (*_lists("sources", "articles", "reuse_keys"), bindparam("lengths", expanding=True))
_KNOWN = text(f"SELECT s.article_id, s.system, s.n {_EQUAL}").bindparams(*_PARAMETERS)
# The columns of `SummaryRow` that are copied. Content kept is copied only if the other articles are the same.
_COPIED = [c.name for c in SummaryRow.__table__.columns if c.name not in ("run_id", "reused_from")]
_ONLY_OF = dict.fromkeys(OPTIONAL, "of_same_panel") | {"kinds": "of_same_kinds"}
_VALUES = (
    f"CASE WHEN s.run_id IN :{_ONLY_OF[name]} THEN s.{name} END" if name in _ONLY_OF else f"s.{name}"
    for name in _COPIED
)
_COPY = text(f"""
INSERT INTO summaries (run_id, reused_from, {", ".join(_COPIED)})
SELECT :run_id, s.run_id, {", ".join(_VALUES)} {_EQUAL}
ORDER BY s.run_id
ON CONFLICT DO NOTHING
""").bindparams(*_PARAMETERS, *_lists("of_same_panel", "of_same_kinds"))


def article_texts(connection: Connection, run_id: str, article_ids: Sequence[str]) -> list[ArticleTexts]:
    """Read the articles of these ids with their summaries, in the order of the ids, without those that have none."""
    # Columns instead of the class: to make mapped objects of a million rows takes longer than to read them.
    query = select(*(SummaryRow.__table__.columns[name] for name in SUMMARY_COLUMNS))
    query = query.where(in_run(connection, run_id), SummaryRow.article_id.in_(article_ids))
    summaries: dict[str, list[Mapping[str, Any]]] = {}
    for row in connection.execute(query):
        summaries.setdefault(row.article_id, []).append(_with_chosen_scores(row))
    of_article = (ArticleRow.dataset, ArticleRow.split, ArticleRow.key, ArticleRow.text)
    query = select(ArticleRow.id, ArticleRow.reference_summaries, *of_article).where(ArticleRow.id.in_(list(summaries)))
    articles = {
        id_: ArticleTexts(id_, dataset, split, key, text, tuple(references), tuple(summaries[id_]))
        for id_, references, dataset, split, key, text in connection.execute(query)
    }
    return [articles[article_id] for article_id in article_ids if article_id in articles]


def articles_without(connection: Connection, run_id: str, *columns: str) -> list[str]:
    """List the ids of the articles with a summary in a run that lacks one of these columns, in rising order."""
    lacks = or_(*(SummaryRow.__table__.columns[name].is_(None) for name in columns))
    query = select(SummaryRow.article_id).distinct().where(SummaryRow.run_id == run_id, lacks)
    return sorted(connection.execute(query).scalars())


def systems(connection: Connection, run_id: str) -> dict[str, SystemKind]:
    """Return the kind of each system of a run that has summaries."""
    written = exists().where(in_run(connection, run_id), SummaryRow.system == SystemRow.system)
    query = select(SystemRow.system, SystemRow.kind).where(SystemRow.run_id == run_id, written)
    return {row.system: row.kind for row in connection.execute(query)}


def lengths(connection: Connection, run_id: str, system: str) -> list[int]:
    """Return every n at which a system has summaries, in rising order."""
    query = select(SummaryRow.n).distinct().where(in_run(connection, run_id), SummaryRow.system == system)
    return sorted(connection.execute(query).scalars())


def find_articles(connection: Connection, run_id: str, wanted: str, most: int) -> list[Article]:
    """Find at most `most` articles of a run, by a key, an id, the beginning of an id, or a part of the key or text.

    The beginning of an id needs at least four characters. Parts are searched only if no key and no id matches. Then
    case and white space do not matter, and all texts of the run are read.
    """
    is_named = or_(ArticleRow.key == wanted, ArticleRow.id == wanted)
    if len(wanted) >= _SHORTEST_ID and _HEX.issuperset(wanted):
        # Not LIKE, since Postgres would use no index. "g" comes after all hexadecimal digits.
        is_named = or_(is_named, and_(ArticleRow.id > wanted, ArticleRow.id < wanted + "g"))
    runs = runs_with_rows(connection, run_id)
    failed = select(FailureRow.article_id).where(FailureRow.run_id.in_(runs))
    ids: CompoundSelect[tuple[str]] = union(articles_of_runs(RunRow.id.in_(runs)), failed)
    query = select(ArticleRow).where(ArticleRow.id.in_(ids)).order_by(ArticleRow.id)
    if rows := connection.execute(query.where(is_named).limit(most)).all():
        return list(map(_article, rows))
    return list(itertools.islice(_with_part(connection, query, wanted), most))


def summaries(connection: Connection, run_id: str, article_id: str) -> list[Summary]:
    """Read all summaries of an article in a run."""
    query = select(SummaryRow).where(in_run(connection, run_id), SummaryRow.article_id == article_id)
    return list(map(_summary, connection.execute(query.order_by(SummaryRow.system, SummaryRow.n))))


def runs_with_reuse_keys(connection: Connection, run_id: str, reuse_keys: Sequence[str]) -> dict[str, str]:
    """Return the runs that have computed rows of any of these keys, the newest first, with the arithmetic of each."""
    own_parent = select(RunRow.parent).where(RunRow.id == run_id).scalar_subquery()
    query = (
        select(RunRow.id, RunRow.arithmetic)
        .where(RunRow.id.in_(select(SystemRow.run_id).where(SystemRow.reuse_key.in_(reuse_keys))), RunRow.id != run_id)
        .where(RunRow.mixed.is_(False), RunRow.summaries > RunRow.reused)
        # A run computes all its articles itself, so its shards do not copy from each other.
        .where(or_(own_parent.is_(None), RunRow.parent.is_(None), RunRow.parent != own_parent))
        .order_by(RunRow.created_at.desc(), RunRow.id.desc())
    )
    return {source: ways[0] for source, ways in connection.execute(query) if ways}


def known_summaries(
    connection: Connection, reusable: Reusable, article_ids: Sequence[str]
) -> dict[str, set[tuple[str, int]]]:
    """Return, by article, the system and n of every summary that can be copied. Articles without any are left out."""
    places: dict[str, set[tuple[str, int]]] = {}
    for parameters in _parameters(connection, reusable, article_ids):
        for article_id, system, n in connection.execute(_KNOWN, parameters):
            places.setdefault(article_id, set()).add((system, n))
    return places


def runs_that_asked(connection: Connection, run_id: str, system: str) -> list[str]:
    """List the other runs in which an endpoint got the same requests, the newest first."""
    query = select(RunRow.id, RunRow.seed, RunRow.revisions).where(
        RunRow.id.in_(select(SystemRow.run_id).where(SystemRow.system == system))
    )
    runs = connection.execute(query.order_by(RunRow.created_at.desc(), RunRow.id.desc())).all()
    requests = {run.id: (run.seed, run.revisions["generators"][system]) for run in runs}
    return [source for source in requests if source != run_id and requests[source] == requests[run_id]]


def endpoint_texts(
    connection: Connection, sources: Sequence[str], system: str, article_ids: Sequence[str]
) -> dict[str, dict[int, EndpointText]]:
    """Read the texts of an endpoint in these runs, by article and n. If several runs have a text, the first counts."""
    paid: dict[str, dict[int, EndpointText]] = {}
    origin = func.coalesce(SummaryRow.reused_from, SummaryRow.run_id)
    columns = (SummaryRow.article_id, SummaryRow.n, origin, SummaryRow.text, SummaryRow.seconds, SummaryRow.extra)
    in_sources = (SummaryRow.run_id.in_(sources), SummaryRow.system == system)
    for ids in id_batches(article_ids, _ARTICLES_AT_ONCE):
        query = select(SummaryRow.run_id, *columns).where(*in_sources, SummaryRow.article_id.in_(ids))
        rows = connection.execute(query).all()
        for _, article_id, n, *values in sorted(rows, key=lambda row: sources.index(row.run_id)):
            paid.setdefault(article_id, {}).setdefault(n, EndpointText(*values))
    return paid


def in_run(connection: Connection, run_id: str) -> ColumnElement[bool]:
    """Return the condition for the summaries of a run, or of its shards."""
    return SummaryRow.run_id.in_(runs_with_rows(connection, run_id))


def articles_of_runs(*conditions: ColumnElement[bool]) -> Select[tuple[str]]:
    """Return a query for the ids of the articles with summaries in the runs that meet the conditions.

    Each id is looked up from the one before: the index has an entry for every summary, a hundred times as many as there
    are articles.
    """
    first = select(func.min(SummaryRow.article_id)).where(SummaryRow.run_id == RunRow.id).scalar_subquery()
    articles = select(RunRow.id.label("run_id"), first.label("id")).where(*conditions).cte("ids", recursive=True)
    is_behind = (SummaryRow.run_id == articles.c.run_id, SummaryRow.article_id > articles.c.id)
    following = select(func.min(SummaryRow.article_id)).where(*is_behind).scalar_subquery()
    articles = articles.union_all(select(articles.c.run_id, following).where(articles.c.id.is_not(None)))
    return select(articles.c.id).where(articles.c.id.is_not(None))


def _with_part(connection: Connection, articles_of_run: Select[Any], wanted: str) -> Iterator[Article]:
    """Yield the articles whose key or text contains `wanted`. Not in SQL, as SQLite folds the case of ASCII only."""
    sought = _folded(wanted)
    with closing(connection.execute(articles_of_run, execution_options={"yield_per": _TEXTS_AT_ONCE})) as rows:
        yield from (_article(row) for row in rows if any(sought in _folded(part) for part in (row.key, row.text)))


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


def _parameters(connection: Connection, reusable: Reusable, article_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the parameters of `_EQUAL`, for a batch of articles each."""
    # Asked again, since a source that is still running may have got a worker with another arithmetic or other code.
    query = select(RunRow.id, RunRow.arithmetic).where(RunRow.id.in_(reusable.sources), RunRow.mixed.is_(False))
    sources = [source for source, ways in connection.execute(query) if ways == [reusable.arithmetic]]
    parameters = {"sources": sources, "lengths": reusable.lengths, "reuse_keys": reusable.reuse_keys}
    return [{**parameters, "articles": ids} for ids in id_batches(article_ids, _ARTICLES_AT_ONCE)]


def copy(connection: Connection, run_id: str, reusable: Reusable, article_ids: Sequence[str]) -> None:
    """Copy the summaries of these stored articles that the run lacks and other runs have.

    Content kept is copied from runs with the same panel; its kinds of words only if these runs found the same kinds.
    """
    panel, kinds = connection.execute(select(RunRow.panel, RunRow.word_kinds).where(RunRow.id == run_id)).one()
    of_same_panel = select(RunRow.id).where(RunRow.id.in_(reusable.sources), RunRow.panel == panel)
    runs = {
        "run_id": run_id,
        "of_same_panel": list(connection.execute(of_same_panel).scalars()),
        "of_same_kinds": list(connection.execute(of_same_panel.where(RunRow.word_kinds == kinds)).scalars()),
    }
    for parameters in _parameters(connection, reusable, article_ids):
        connection.execute(_COPY, runs | parameters)


def require_complete(connection: Connection, run_id: str, reusable: Reusable, article_ids: Sequence[str]) -> None:
    """Refuse a transaction that would leave an article with only some of its stage's summaries.

    Raises:
        StoreError: summaries that were to be copied were deleted, or belong to a run that is mixed now.
    """
    for ids in id_batches(article_ids, _ARTICLES_AT_ONCE):
        in_stage = (SummaryRow.system.in_(reusable.systems), SummaryRow.article_id.in_(ids))
        query = select(func.count()).where(SummaryRow.run_id == run_id, *in_stage)
        stored = connection.execute(query).scalar_one()
        expected = len(ids) * reusable.rows
        if stored != expected:
            raise StoreError(
                f"for {len(ids)} articles, run {run_id!r} would have {stored} summaries instead of {expected}. Some to "
                f"be copied from {', '.join(reusable.sources)} were deleted meanwhile, or their run has used "
                f"other code or machines since. Compute them with: nws resume {run_id}"
            )
