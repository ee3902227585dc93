"""The articles of a run with their summaries, and the summaries of other runs that it may copy.

Each query finds its rows by an index: a store may hold ten million summaries.

Rows of two runs are equal if they have the same key (`SystemRow.reuse_key`, see `nws.jobs.drive.reuse`), article, n and
arithmetic (`nws.core.arithmetic.describe_arithmetic`). What a generator wrote in 16 bits is not copied: there a text
depends on its batch. Nor is what a run has that is `mixed`. Only rows that a run has computed itself are copied, so
`reused_from` always names the run where a number was made.
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
"""The fewest characters of an id that may stand for it: fewer are a part of many texts, too."""
_HEX = frozenset("0123456789abcdef")
_TEXTS_AT_ONCE = 200
"""The number of articles that one step of a search reads."""
SUMMARY_COLUMNS: Mapping[str, type] = {
    column.name: dict if isinstance(column.type, JSON) else column.type.python_type
    for column in SummaryRow.__table__.columns
    if column.name != "kinds"  # packed, for the analysis
}
"""The columns of `summaries` in its order, each with the type of its values."""


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


@dataclass(frozen=True, slots=True)
class Reusable:
    """The rows of other runs that a stage may copy.

    Attributes:
        sources: the runs that may have such rows.
        arithmetic: how the workers of these runs multiplied.
        reuse_keys: the keys of those systems of the stage whose rows may be copied, see `nws.jobs.drive.reuse`.
        systems: all systems of the stage.
        lengths: every n of the stage; 0 for the uncut summaries of systems that have them.
        rows: the number of summaries that the stage has of an article.
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
    """Parameters that are lists of texts: Postgres asks for the type where one is empty."""
    return [bindparam(name, expanding=True, type_=String) for name in names]


# Literal for its CROSS JOIN: SQLite reads the tables in this order, and so goes to summaries by their key. Left to
# itself it might read all rows of a run.
_EQUAL = """
FROM summaries AS s
CROSS JOIN systems AS y
WHERE s.run_id IN :sources AND s.article_id IN :articles AND s.n IN :lengths AND s.reused_from IS NULL
    AND COALESCE(s.extra ->> 'dtype', 'float32') = 'float32'
    AND y.run_id = s.run_id AND y.system = s.system AND y.reuse_key IN :reuse_keys"""
_PARAMETERS = (*_lists("sources", "articles", "reuse_keys"), bindparam("lengths", expanding=True))
_KNOWN = text(f"SELECT s.article_id, s.system, s.n {_EQUAL}").bindparams(*_PARAMETERS)
# Those of `SummaryRow` that a copy has as they were; content kept only where the others are the same, too.
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
    """The articles of these ids with their summaries, in the order of the ids, without those that have none."""
    # The columns, not the class: a mapped object for each of a million rows takes longer than to read them.
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
    """The ids, in rising order, of the articles with a summary in a run that has nothing in one of these columns."""
    lacks = or_(*(SummaryRow.__table__.columns[name].is_(None) for name in columns))
    query = select(SummaryRow.article_id).distinct().where(SummaryRow.run_id == run_id, lacks)
    return sorted(connection.execute(query).scalars())


def systems(connection: Connection, run_id: str) -> dict[str, SystemKind]:
    """The kind of each system of a run that has summaries."""
    written = exists().where(in_run(connection, run_id), SummaryRow.system == SystemRow.system)
    query = select(SystemRow.system, SystemRow.kind).where(SystemRow.run_id == run_id, written)
    return {row.system: row.kind for row in connection.execute(query)}


def lengths(connection: Connection, run_id: str, system: str) -> list[int]:
    """Every n at which a system has summaries, rising."""
    query = select(SummaryRow.n).distinct().where(in_run(connection, run_id), SummaryRow.system == system)
    return sorted(connection.execute(query).scalars())


def find_articles(connection: Connection, run_id: str, wanted: str, most: int) -> list[Article]:
    """At most `most` articles of a run, by a key, an id, the beginning of an id, or a part of the key or text.

    The beginning of an id has four characters or more. Parts are searched only if no key and no id fits. Case and
    white space do not matter then, and all texts of the run are read.
    """
    is_named = or_(ArticleRow.key == wanted, ArticleRow.id == wanted)
    if len(wanted) >= _SHORTEST_ID and _HEX.issuperset(wanted):
        # No LIKE, which uses no index on Postgres. "g" comes after all hexadecimal digits.
        is_named = or_(is_named, and_(ArticleRow.id > wanted, ArticleRow.id < wanted + "g"))
    runs = runs_with_rows(connection, run_id)
    failed = select(FailureRow.article_id).where(FailureRow.run_id.in_(runs))
    ids: CompoundSelect[tuple[str]] = union(articles_of_runs(RunRow.id.in_(runs)), failed)
    query = select(ArticleRow).where(ArticleRow.id.in_(ids)).order_by(ArticleRow.id)
    if rows := connection.execute(query.where(is_named).limit(most)).all():
        return list(map(_article, rows))
    return list(itertools.islice(_with_part(connection, query, wanted), most))


def summaries(connection: Connection, run_id: str, article_id: str) -> list[Summary]:
    """All summaries of an article."""
    query = select(SummaryRow).where(in_run(connection, run_id), SummaryRow.article_id == article_id)
    return list(map(_summary, connection.execute(query.order_by(SummaryRow.system, SummaryRow.n))))


def runs_with_reuse_keys(connection: Connection, run_id: str, reuse_keys: Sequence[str]) -> dict[str, str]:
    """The runs that have computed rows of any of these keys, the newest first, and the arithmetic of each."""
    own_parent = select(RunRow.parent).where(RunRow.id == run_id).scalar_subquery()
    query = (
        select(RunRow.id, RunRow.arithmetic)
        .where(RunRow.id.in_(select(SystemRow.run_id).where(SystemRow.reuse_key.in_(reuse_keys))), RunRow.id != run_id)
        .where(RunRow.mixed.is_(False), RunRow.summaries > RunRow.reused)
        # One run computes all its articles, so shards of one run do not copy from each other.
        .where(or_(own_parent.is_(None), RunRow.parent.is_(None), RunRow.parent != own_parent))
        .order_by(RunRow.created_at.desc(), RunRow.id.desc())
    )
    return {source: ways[0] for source, ways in connection.execute(query) if ways}


def known_summaries(
    connection: Connection, reusable: Reusable, article_ids: Sequence[str]
) -> dict[str, set[tuple[str, int]]]:
    """For each article, the system and n of every summary that can be copied; articles without any are left out."""
    places: dict[str, set[tuple[str, int]]] = {}
    for parameters in _parameters(connection, reusable, article_ids):
        for article_id, system, n in connection.execute(_KNOWN, parameters):
            places.setdefault(article_id, set()).add((system, n))
    return places


def runs_that_asked(connection: Connection, run_id: str, system: str) -> list[str]:
    """The other runs in which an endpoint got the same requests, the newest first."""
    query = select(RunRow.id, RunRow.seed, RunRow.revisions).where(
        RunRow.id.in_(select(SystemRow.run_id).where(SystemRow.system == system))
    )
    runs = connection.execute(query.order_by(RunRow.created_at.desc(), RunRow.id.desc())).all()
    requests = {run.id: (run.seed, run.revisions["generators"][system]) for run in runs}
    return [source for source in requests if source != run_id and requests[source] == requests[run_id]]


def endpoint_texts(
    connection: Connection, sources: Sequence[str], system: str, article_ids: Sequence[str]
) -> dict[str, dict[int, EndpointText]]:
    """The texts of an endpoint in these runs, by article and n. Of several runs, the first counts."""
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
    """The condition for the summaries of a run, or of its shards."""
    return SummaryRow.run_id.in_(runs_with_rows(connection, run_id))


def articles_of_runs(*conditions: ColumnElement[bool]) -> Select[tuple[str]]:
    """The ids of the articles with summaries in the runs that fit the conditions.

    Each id is looked up from the one before, since the index has an entry for every summary, a hundred times as many as
    articles.
    """
    first = select(func.min(SummaryRow.article_id)).where(SummaryRow.run_id == RunRow.id).scalar_subquery()
    articles = select(RunRow.id.label("run_id"), first.label("id")).where(*conditions).cte("ids", recursive=True)
    is_behind = (SummaryRow.run_id == articles.c.run_id, SummaryRow.article_id > articles.c.id)
    following = select(func.min(SummaryRow.article_id)).where(*is_behind).scalar_subquery()
    articles = articles.union_all(select(articles.c.run_id, following).where(articles.c.id.is_not(None)))
    return select(articles.c.id).where(articles.c.id.is_not(None))


def _with_part(connection: Connection, articles_of_run: Select[Any], wanted: str) -> Iterator[Article]:
    """The articles whose key or text contains `wanted`. SQL cannot tell: SQLite folds the case of ASCII only."""
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
    """The parameters of `_EQUAL`, for a batch of articles each."""
    # Asked anew: a source that is still running may have got a worker with another arithmetic or other code.
    query = select(RunRow.id, RunRow.arithmetic).where(RunRow.id.in_(reusable.sources), RunRow.mixed.is_(False))
    sources = [source for source, ways in connection.execute(query) if ways == [reusable.arithmetic]]
    parameters = {"sources": sources, "lengths": reusable.lengths, "reuse_keys": reusable.reuse_keys}
    return [{**parameters, "articles": ids} for ids in id_batches(article_ids, _ARTICLES_AT_ONCE)]


def copy(connection: Connection, run_id: str, reusable: Reusable, article_ids: Sequence[str]) -> None:
    """Copy the summaries of these stored articles that the run lacks and other runs have.

    Content kept is copied from runs with the same panel, its kinds of words from those that have told the same, too.
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
    """Refuse a transaction that would leave an article with some of its stage's summaries.

    Raises:
        StoreError: summaries that were to be copied have gone, or are of a mixed run now.
    """
    for ids in id_batches(article_ids, _ARTICLES_AT_ONCE):
        in_stage = (SummaryRow.system.in_(reusable.systems), SummaryRow.article_id.in_(ids))
        query = select(func.count()).where(SummaryRow.run_id == run_id, *in_stage)
        stored = connection.execute(query).scalar_one()
        expected = len(ids) * reusable.rows
        if stored != expected:
            raise StoreError(
                f"of {len(ids)} articles, run {run_id!r} would have {stored} summaries and not {expected}: some that "
                f"were to be copied from {', '.join(reusable.sources)} were deleted meanwhile, or are of "
                f"other code or machines now. Compute them with: nws resume {run_id}"
            )
