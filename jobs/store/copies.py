"""Rows that other runs of the store have and that equal what a stage would compute; and what endpoints have written.

Rows are equal if they have the same key (`SystemRow.work`, see `jobs.drive.reuse`), article, n and arithmetic
(`core.arithmetic.describe_arithmetic`). What a generator wrote in 16 bits is not copied: there a text depends on its
batch. Nor is what a run has that is `mixed`. Only rows that a run has computed itself are copied, so `reused_from`
always names the run where a number was made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, Connection, String, bindparam, func, or_, select, text

from core.errors import StoreError
from core.metrics.specs import OPTIONAL
from jobs.store.database import Database, reads
from jobs.store.engine import id_batches
from jobs.store.tables import RunRow, SummaryRow, SystemRow

_ARTICLES_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Reusable:
    """The rows of other runs that a stage may copy.

    Attributes:
        sources: the runs that may have such rows.
        arithmetic: how the workers of these runs multiplied.
        works: the keys of those systems of the stage whose rows may be copied, see `jobs.drive.reuse`.
        systems: all systems of the stage.
        lengths: every n of the stage; 0 for the uncut summaries of systems that have them.
        rows: the number of summaries that the stage has of an article.
    """

    sources: tuple[str, ...]
    arithmetic: str
    works: tuple[str, ...]
    systems: tuple[str, ...]
    lengths: tuple[int, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class PaidText:
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
    AND y.run_id = s.run_id AND y.system = s.system AND y.work IN :works"""
_PARAMETERS = (*_lists("sources", "articles", "works"), bindparam("lengths", expanding=True))
_KNOWN = text(f"SELECT s.article_id, s.system, s.n {_EQUAL}").bindparams(*_PARAMETERS)
# Those of `SummaryRow` that a copy has as they were; content kept only where the others are the same.
_COPIED = [c.name for c in SummaryRow.__table__.columns if c.name not in ("run_id", "reused_from")]
_OF_PANEL = "CASE WHEN s.run_id IN :of_same_panel THEN s.{name} END"
_VALUES = (_OF_PANEL.format(name=name) if name in OPTIONAL else f"s.{name}" for name in _COPIED)
_COPY = text(f"""
INSERT INTO summaries (run_id, reused_from, {", ".join(_COPIED)})
SELECT :run_id, s.run_id, {", ".join(_VALUES)} {_EQUAL}
ORDER BY s.run_id
ON CONFLICT DO NOTHING
""").bindparams(*_PARAMETERS, *_lists("of_same_panel"))


class Copies(Database):
    """The methods of a store that find summaries of other runs."""

    @reads
    def runs_of_equal_work(self, connection: Connection, run_id: str, works: Sequence[str]) -> dict[str, str]:
        """The runs that have computed rows of any of these keys, the newest first, and the arithmetic of each."""
        own_parent = select(RunRow.parent).where(RunRow.id == run_id).scalar_subquery()
        query = (
            select(RunRow.id, RunRow.arithmetic)
            .where(RunRow.id.in_(select(SystemRow.run_id).where(SystemRow.work.in_(works))), RunRow.id != run_id)
            .where(RunRow.mixed.is_(False), RunRow.summaries > RunRow.reused)
            # One run computes all its articles, so shards of one run do not copy from each other.
            .where(or_(own_parent.is_(None), RunRow.parent.is_(None), RunRow.parent != own_parent))
            .order_by(RunRow.created_at.desc(), RunRow.id.desc())
        )
        return {source: ways[0] for source, ways in connection.execute(query) if ways}

    @reads
    def known_summaries(
        self, connection: Connection, reusable: Reusable, article_ids: Sequence[str]
    ) -> dict[str, set[tuple[str, int]]]:
        """For each article, the system and n of every summary that can be copied; articles without any are left out."""
        places: dict[str, set[tuple[str, int]]] = {}
        for parameters in _parameters(connection, reusable, article_ids):
            for article_id, system, n in connection.execute(_KNOWN, parameters):
                places.setdefault(article_id, set()).add((system, n))
        return places

    @reads
    def runs_that_asked(self, connection: Connection, run_id: str, system: str) -> list[str]:
        """The other runs in which an endpoint got the same requests, the newest first."""
        query = select(RunRow.id, RunRow.seed, RunRow.revisions).where(
            RunRow.id.in_(select(SystemRow.run_id).where(SystemRow.system == system))
        )
        runs = connection.execute(query.order_by(RunRow.created_at.desc(), RunRow.id.desc())).all()
        requests = {run.id: (run.seed, run.revisions["generators"][system]) for run in runs}
        return [source for source in requests if source != run_id and requests[source] == requests[run_id]]

    @reads
    def paid_texts(
        self, connection: Connection, sources: Sequence[str], system: str, article_ids: Sequence[str]
    ) -> dict[str, dict[int, PaidText]]:
        """The texts of an endpoint in these runs, by article and n. Of several runs, the first counts."""
        paid: dict[str, dict[int, PaidText]] = {}
        origin = func.coalesce(SummaryRow.reused_from, SummaryRow.run_id)
        columns = (SummaryRow.article_id, SummaryRow.n, origin, SummaryRow.text, SummaryRow.seconds, SummaryRow.extra)
        in_sources = (SummaryRow.run_id.in_(sources), SummaryRow.system == system)
        for ids in id_batches(article_ids, _ARTICLES_AT_ONCE):
            query = select(SummaryRow.run_id, *columns).where(*in_sources, SummaryRow.article_id.in_(ids))
            rows = connection.execute(query).all()
            for _, article_id, n, *values in sorted(rows, key=lambda row: sources.index(row.run_id)):
                paid.setdefault(article_id, {}).setdefault(n, PaidText(*values))
        return paid


def _parameters(connection: Connection, reusable: Reusable, article_ids: Sequence[str]) -> list[dict[str, Any]]:
    """The parameters of `_EQUAL`, for a batch of articles each."""
    # Asked anew: a source that is still running may have got a worker with another arithmetic or other code.
    query = select(RunRow.id, RunRow.arithmetic).where(RunRow.id.in_(reusable.sources), RunRow.mixed.is_(False))
    sources = [source for source, ways in connection.execute(query) if ways == [reusable.arithmetic]]
    parameters = {"sources": sources, "lengths": reusable.lengths, "works": reusable.works}
    return [{**parameters, "articles": ids} for ids in id_batches(article_ids, _ARTICLES_AT_ONCE)]


def copy(connection: Connection, run_id: str, reusable: Reusable, article_ids: Sequence[str]) -> None:
    """Copy the summaries of these stored articles that the run lacks and other runs have.

    Content kept is copied from runs with the same panel.
    """
    own_panel = select(RunRow.panel).where(RunRow.id == run_id).scalar_subquery()
    of_same_panel = select(RunRow.id).where(RunRow.id.in_(reusable.sources), RunRow.panel == own_panel)
    runs = {"run_id": run_id, "of_same_panel": list(connection.execute(of_same_panel).scalars())}
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
