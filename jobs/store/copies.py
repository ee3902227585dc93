"""Copies of summaries that other runs of the store have, if they equal what a stage would compute.

Rows are equal if they have the same work (`SystemRow.work`, see `jobs.plan.work`), the same n, articles of the same
content in whatever dataset, and the same arithmetic (`core.arithmetic.describe_arithmetic`). Of systems that look at an
article's key, they are of the very same article. What a generator wrote in 16 bits is not copied: there a text depends
on its batch. Only rows that a run has computed itself are copied, so `reused_from` always names the run where a number
was made.

The SQL is literal for its CROSS JOINs: with them SQLite reads the tables in the order in which they stand, and goes
from a content to its articles and on to their rows by their key. Left to itself it might read all rows of a run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, Connection, String, bindparam, func, or_, select, text

from core.errors import StoreError
from core.metrics.specs import OPTIONAL
from jobs.store.engine import Database, reads
from jobs.store.tables import RunRow, SummaryRow, SystemRow

_ARTICLES_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class StageWork:
    """What a stage is about to compute.

    Attributes:
        works: of those systems of the stage that can be copied, see `jobs.plan.work`.
        systems: all of the stage.
        lengths: every n of the stage; 0 for the uncut summaries of systems that have them.
        rows: how many summaries the stage has of an article.
        by_article: those of `systems` that may look at an article's key, dataset or split.
    """

    works: Mapping[str, str]
    systems: tuple[str, ...]
    lengths: tuple[int, ...]
    rows: int
    by_article: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reusable:
    """Where the rows lie that equal those of a stage.

    Attributes:
        sources: the runs that have any, and which of the stage's systems each has.
        stage: what it is about to compute.
        arithmetic: how the workers of all sources multiplied.
        answered_by: the model that must have answered, of an endpoint.
        system_fingerprint: what must have run it, as the endpoint says; of one that does not say, None.
        is_assumed: whether nobody knows yet that the run's own workers multiply so, too.
    """

    sources: Mapping[str, frozenset[str]]
    stage: StageWork
    arithmetic: str
    answered_by: str | None = None
    system_fingerprint: str | None = None
    is_assumed: bool = False


def _lists(*names: str) -> list[BindParameter[str]]:
    """Parameters that are lists of texts: Postgres asks for the type where one is empty."""
    return [bindparam(name, expanding=True, type_=String) for name in names]


_MADE_ALIKE = """s.run_id IN :sources AND s.n IN :lengths AND s.reused_from IS NULL
    AND COALESCE(s.extra ->> 'dtype', 'float32') = 'float32'
    AND (CAST(:answered_by AS TEXT) IS NULL OR s.extra ->> 'answered_by' = CAST(:answered_by AS TEXT)
        AND COALESCE(s.extra ->> 'system_fingerprint', '') = COALESCE(CAST(:system_fingerprint AS TEXT), ''))"""
_KNOWN = text(f"""
SELECT a.content_hash, a.id, s.run_id, s.system, s.n
FROM articles AS a
CROSS JOIN summaries AS s
WHERE a.content_hash IN :hashes AND s.article_id = a.id AND {_MADE_ALIKE}
""").bindparams(*_lists("hashes", "sources"), bindparam("lengths", expanding=True))


_ANY = text(f"SELECT 1 FROM summaries AS s WHERE {_MADE_ALIKE} LIMIT 1").bindparams(
    *_lists("sources"), bindparam("lengths", expanding=True)
)


class Copies(Database):
    """The methods of a store that find summaries to be copied."""

    @reads
    def rows_of_equal_work(
        self, connection: Connection, run_id: str, stage: StageWork, arithmetic: str | None
    ) -> Reusable | None:
        """What can be copied to a stage of a run, None where no other run has its work in one arithmetic.

        `arithmetic` is that of the run's workers; where it is None, that of the newest run that has the work is taken.
        """
        own_parent = select(RunRow.parent).where(RunRow.id == run_id).scalar_subquery()
        query = (
            select(SystemRow.run_id, SystemRow.system, RunRow.arithmetic)
            .join(RunRow, RunRow.id == SystemRow.run_id)
            .where(SystemRow.work.in_(stage.works.values()), SystemRow.run_id != run_id)
            # One run computes all its articles, so shards of one run do not copy from each other.
            .where(or_(own_parent.is_(None), RunRow.parent.is_(None), RunRow.parent != own_parent))
            .order_by(RunRow.created_at.desc(), RunRow.id.desc())
        )
        sources: dict[str, frozenset[str]] = {}
        for source, system, ways in connection.execute(query):
            if len(ways) == 1 and arithmetic in (None, ways[0]):
                arithmetic = ways[0]
                sources[source] = sources.get(source, frozenset()) | {system}
        if arithmetic is None or not sources:
            return None
        return Reusable(sources, stage, arithmetic)

    @reads
    def has_rows(self, connection: Connection, reusable: Reusable) -> bool:
        """Whether its sources have any row that was made as it says."""
        return connection.execute(_ANY, _values(connection, reusable)).first() is not None

    @reads
    def known_summaries(
        self, connection: Connection, reusable: Reusable, content_hashes: Mapping[str, str]
    ) -> dict[str, set[tuple[str, int]]]:
        """For each article, the system and n of every summary that can be copied; articles without any are left out.

        `content_hashes` are those of the articles, by their ids.
        """
        alike: dict[str, list[str]] = {}
        for article_id, content_hash in content_hashes.items():
            alike.setdefault(content_hash, []).append(article_id)
        copyable: dict[str, set[tuple[str, int]]] = {}
        hashes, of_all = sorted(alike), _values(connection, reusable)
        for start in range(0, len(hashes), _ARTICLES_AT_ONCE):
            values = of_all | {"hashes": hashes[start : start + _ARTICLES_AT_ONCE]}
            for content_hash, of, source, system, n in connection.execute(_KNOWN, values):
                if system in reusable.sources[source]:
                    for article_id in [of] if system in reusable.stage.by_article else alike[content_hash]:
                        copyable.setdefault(article_id, set()).add((system, n))
        return {article_id: rows for article_id, rows in copyable.items() if article_id in content_hashes}


def _values(connection: Connection, reusable: Reusable) -> dict[str, Any]:
    # Asked anew: a source that is still running may have got a worker that multiplies in another way.
    query = select(RunRow.id, RunRow.arithmetic).where(RunRow.id.in_(reusable.sources))
    return {
        "sources": [source for source, ways in connection.execute(query) if ways == [reusable.arithmetic]],
        "lengths": reusable.stage.lengths,
        "answered_by": reusable.answered_by,
        "system_fingerprint": reusable.system_fingerprint,
    }


# Those of `SummaryRow` that a copy has as they were.
_COPIED = [c.name for c in SummaryRow.__table__.columns if c.name not in ("run_id", "article_id", "reused_from")]
# What others keep of a reference: it is the same where they are the same others, which are of the article's dataset.
_OF_PANEL = "CASE WHEN s.run_id IN :of_same_panel AND a.dataset = t.dataset THEN s.{name} END"
_VALUES = (_OF_PANEL.format(name=name) if name in OPTIONAL else f"s.{name}" for name in _COPIED)
_COPY = text(f"""
INSERT INTO summaries (run_id, article_id, reused_from, {", ".join(_COPIED)})
SELECT :run_id, t.id, s.run_id, {", ".join(_VALUES)}
FROM articles AS t
CROSS JOIN articles AS a
CROSS JOIN summaries AS s
CROSS JOIN systems AS y
WHERE t.id IN :articles AND a.content_hash = t.content_hash AND s.article_id = a.id AND {_MADE_ALIKE}
    AND y.run_id = s.run_id AND y.system = s.system AND y.work IN :works
    AND (a.id = t.id OR s.system NOT IN :by_article)
ORDER BY s.run_id
ON CONFLICT DO NOTHING
""").bindparams(
    *_lists("articles", "sources", "of_same_panel", "works", "by_article"), bindparam("lengths", expanding=True)
)


def copy(connection: Connection, run_id: str, reusable: Reusable, article_ids: Sequence[str]) -> None:
    """Copy the summaries of these stored articles that the run lacks and other runs have.

    Content kept is copied from runs with the same panel.
    """
    of_all = _values(connection, reusable)
    own_panel = select(RunRow.panel).where(RunRow.id == run_id).scalar_subquery()
    same = select(RunRow.id).where(RunRow.id.in_(reusable.sources), RunRow.panel == own_panel)
    of_all["of_same_panel"] = list(connection.execute(same).scalars())
    for start in range(0, len(article_ids), _ARTICLES_AT_ONCE):
        values = of_all | {
            "run_id": run_id,
            "articles": article_ids[start : start + _ARTICLES_AT_ONCE],
            "works": list(reusable.stage.works.values()),
            "by_article": list(reusable.stage.by_article),
        }
        connection.execute(_COPY, values)


def require_complete(connection: Connection, run_id: str, reusable: Reusable, article_ids: Sequence[str]) -> None:
    """Refuse a transaction that would leave an article with some of its stage's summaries.

    Raises:
        StoreError: summaries that were to be copied have gone, or are of another work now.
    """
    for start in range(0, len(article_ids), _ARTICLES_AT_ONCE):
        ids = article_ids[start : start + _ARTICLES_AT_ONCE]
        in_stage = (SummaryRow.system.in_(reusable.stage.systems), SummaryRow.article_id.in_(ids))
        query = select(func.count()).where(SummaryRow.run_id == run_id, *in_stage)
        stored = connection.execute(query).scalar_one()
        expected = len(ids) * reusable.stage.rows
        if stored != expected:
            raise StoreError(
                f"of {len(ids)} articles, run {run_id!r} would have {stored} summaries and not {expected}: some that "
                f"were to be copied from {', '.join(reusable.sources)} were deleted meanwhile, or are of "
                f"other code or machines now. Compute them with: nws resume {run_id}"
            )
