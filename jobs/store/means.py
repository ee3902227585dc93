"""Means over a run's summaries, and its answer; when a run has ended, they are stored.

While a run goes on, the views compute their means from its summaries (`live_means` and `live_best_n`, see
`nws.jobs.store.queries`). When it has ended, they are stored, a piece at a time, so that no other writer waits for a
large run. The views compute them until all are stored, and again once a driver takes the run.

With them the answer of the run is stored, which no view computes while a run goes on: the table `answers` has all of
it, `content_kept` and `smallest_n` have the numbers that people query.
"""

from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import (
    Connection,
    Float,
    and_,
    case,
    cast,
    column,
    delete,
    exists,
    func,
    or_,
    select,
    table,
    update,
)

from nws.core.metrics.specs import F1S
from nws.core.types import SystemKind
from nws.jobs.store.articles import in_run
from nws.jobs.store.database import Database, reads
from nws.jobs.store.engine import insert_new
from nws.jobs.store.runs import ENDED, read_shards
from nws.jobs.store.tables import (
    AnswerRow,
    Base,
    ContentKeptRow,
    RunBestRow,
    RunMeanRow,
    RunRow,
    ScoreColumnRow,
    SmallestNRow,
    SummaryRow,
)

if TYPE_CHECKING:  # with NumPy and SciPy, which `nws ls` need not wait for
    from pydantic import TypeAdapter

    from nws.core.analysis.answer import Answer

ROWS_AT_ONCE = 10_000
"""The rows of one transaction: SQLite inserts them in less than 0.1 s."""

_LIVE: tuple[tuple[type[Base], str], ...] = (
    (RunMeanRow, "live_means"),
    (RunMeanRow, "live_sharded_means"),
    (RunBestRow, "live_best_n"),
)
OF_ANSWER: tuple[type[Base], ...] = (ContentKeptRow, SmallestNRow, AnswerRow)
KEPT_TABLES: tuple[type[Base], ...] = (RunMeanRow, RunBestRow, ScoreColumnRow, *OF_ANSWER)

Rows: TypeAlias = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class AskedWords:
    """How well a system keeps to n, in the unit of its run's lengths.

    Attributes:
        system: its name.
        n: the number of words or characters that it was asked for.
        summaries: the number of its summaries at n.
        written: their mean length before any was cut.
        exactly, over: the shares, in [0, 1], of summaries of length n, and of longer ones.
        off: the mean absolute difference between their length and n.
    """

    system: str
    n: int
    summaries: int
    written: float
    exactly: float
    over: float
    off: float


@dataclass(frozen=True, slots=True)
class EndpointUse:
    """The cost of a system behind an endpoint, over all n.

    Attributes:
        system: its name.
        articles: the number of articles.
        requests: the number of requests that it was sent.
        read, written: tokens, as the endpoint counts them; 0 if it does not.
        models: the number of different models that have answered, by the names that the endpoint gives; 0 without any.
    """

    system: str
    articles: int
    requests: int
    read: int
    written: int
    models: int


@dataclass(frozen=True, slots=True)
class KeptShare:
    """The share of the reference's content that a system keeps at n words (0: uncut), once its run has ended.

    `half` is the smallest n from which on it keeps half of it; None where none does.
    """

    run_id: str
    dataset: str
    system: str
    kind: SystemKind
    n: int
    share: float
    half: int | None


_ASKED, _WRITTEN = (
    func.coalesce(*(SummaryRow.extra[f"{unit}_{count}"].as_integer() for unit in ("words", "characters")))
    for count in ("asked", "written")
)
_REQUESTS = SummaryRow.extra["requests"].as_integer()
_PROMPT = SummaryRow.extra["prompt_tokens"].as_integer()
_COMPLETION = SummaryRow.extra["completion_tokens"].as_integer()
_ANSWERED_BY = SummaryRow.extra["answered_by"].as_string()
_NUMBERS = ("articles", *(f"{metric}_mean" for metric in F1S))
_CURVE = table("sweep_curve", *map(column, ("run_id", "dataset", "system", "n", *_NUMBERS)))


class Means(Database):
    """The methods of a store that read means over a run's summaries, and its answer (`nws.core.analysis.answer`)."""

    @reads
    def curve_means(self, connection: Connection, run_id: str) -> dict[tuple[str, str, int], dict[str, float]]:
        """By dataset, system and n (0: uncut), the number of `articles` and the mean scores, such as `bertscore_f1`."""
        query = select(*(_CURVE.c[name] for name in ("dataset", "system", "n", *_NUMBERS)))
        rows = connection.execute(query.where(_CURVE.c.run_id == run_id))
        names = [name.removesuffix("_mean") for name in _NUMBERS]
        means = {(dataset, system, n): dict(zip(names, values, strict=True)) for dataset, system, n, *values in rows}
        return dict(sorted(means.items()))

    @reads
    def asked_words(self, connection: Connection, run_id: str, systems: Collection[str]) -> list[AskedWords]:
        """How well systems keep to n that were asked for n words or characters, by system and n."""
        written = cast(_WRITTEN, Float)
        shares = [cast(case((is_so, 1), else_=0), Float) for is_so in (_WRITTEN == _ASKED, _WRITTEN > _ASKED)]
        means = map(func.avg, (written, *shares, func.abs(written - cast(_ASKED, Float))))
        query = (
            select(SummaryRow.system, SummaryRow.n, func.count(), *means)
            .where(in_run(connection, run_id), SummaryRow.system.in_(systems), _ASKED.is_not(None))
            .group_by(SummaryRow.system, SummaryRow.n)
            .order_by(SummaryRow.system, SummaryRow.n)
        )
        return [AskedWords(*row) for row in connection.execute(query)]

    @reads
    def endpoint_use(self, connection: Connection, run_id: str, systems: Collection[str]) -> list[EndpointUse]:
        """The cost of each of these systems that has an endpoint, by system.

        An answer that was cut to every n counts once, with the row that has it uncut.
        """
        articles = func.count(SummaryRow.article_id.distinct())
        sums = (func.sum(func.coalesce(count, 0)) for count in (_REQUESTS, _PROMPT, _COMPLETION))
        query = (
            select(SummaryRow.system, articles, *sums, func.count(_ANSWERED_BY.distinct()))
            .where(in_run(connection, run_id), SummaryRow.system.in_(systems))
            .where(_REQUESTS.is_not(None))
            .where(or_(_ASKED.is_not(None), SummaryRow.n == 0))
            .group_by(SummaryRow.system)
            .order_by(SummaryRow.system)
        )
        return [EndpointUse(*row) for row in connection.execute(query)]

    @reads
    def answer(self, connection: Connection, run_id: str) -> "Answer":
        """The answer of a run: the stored one, if the run has ended, or else one computed from its summaries."""
        stored = _stored_answer(connection, run_id)
        return computed_answer(connection, run_id) if stored is None else stored

    @reads
    def stored_answer(self, connection: Connection, run_id: str) -> "Answer | None":
        """The answer that was stored when the run ended; None if it has to be computed."""
        return _stored_answer(connection, run_id)

    @reads
    def kept_shares(self, connection: Connection, run_ids: Collection[str]) -> list[KeptShare]:
        """The shares of the reference's content that systems keep, in those of these runs whose answer is stored."""
        kept, half = ContentKeptRow, SmallestNRow
        is_same = (getattr(half, name) == getattr(kept, name) for name in ("run_id", "dataset", "system", "of"))
        query = (
            select(kept.run_id, kept.dataset, kept.system, kept.kind, kept.n, kept.share, half.n.label("half"))
            .join(RunRow, RunRow.id == kept.run_id)
            .outerjoin(half, and_(*is_same, half.x == 0.5))
            .where(kept.run_id.in_(run_ids), kept.of == "reference", RunRow.means_kept)
        )
        return [KeptShare(**row._mapping) for row in connection.execute(query)]


def keep_means(store: Database, run_id: str) -> None:
    """Store what the views read of a run that has ended, and its answer. A driver that takes it meanwhile ends this.

    Of a sharded run, these are made of what is stored of its shards.
    """
    with store.reading() as reader:
        shards = read_shards(reader, run_id)
    for shard in shards:
        keep_means(store, shard.id)
    with store.reading() as reader:
        query = select(RunRow.driver_epoch).where(RunRow.id == run_id, RunRow.state.in_(ENDED), ~RunRow.means_kept)
        epoch = reader.execute(query).scalar()
        if epoch is None:
            return
        with closing(live_pieces(reader, run_id)) as pieces:
            for piece in pieces:
                with store.writing() as writer:
                    if not set_kept(writer, run_id, epoch, False):
                        return
                    insert_new(writer, *piece)
    with store.reading() as reader:  # which sees the columns that were stored
        has_rows = reader.execute(select(exists().where(in_run(reader, run_id)))).scalar_one()
        rows = answer_rows(run_id, computed_answer(reader, run_id)) if has_rows else {}
    with store.writing() as writer:
        if set_kept(writer, run_id, epoch, True):
            for piece in rows.items():
                insert_new(writer, *piece)


def live_pieces(connection: Connection, run_id: str) -> Generator[tuple[type[Base], Rows], None, None]:
    """The rows to store for a run, in pieces."""
    for stored_table, live in _LIVE:
        names = stored_table.__table__.columns.keys()
        view = table(live, *map(column, names))
        query = select(*(view.c[name] for name in names)).where(view.c.run_id == run_id)
        with connection.execute(query, execution_options={"yield_per": ROWS_AT_ONCE}) as result:
            for rows in result.mappings().partitions():
                yield stored_table, [dict(row) for row in rows]
    if connection.execute(select(exists().where(SummaryRow.run_id == run_id))).scalar_one():
        from nws.jobs.store.points import (
            column_rows,  # with NumPy, which the end of a run without rows need not wait for
        )

        for columns in column_rows(connection, run_id):
            yield ScoreColumnRow, columns


def forget(connection: Connection, run_id: str, tables: Sequence[type[Base]] = KEPT_TABLES) -> None:
    """Remove the rows that were stored when the run ended before: in the transaction that ends it again.

    Until then `means_kept` is false, and nobody reads most of them. A driver that takes the run would wait seconds for
    it. It only removes those `OF_ANSWER`, which people read as they are.
    """
    for stored_table in tables:
        connection.execute(delete(stored_table).where(stored_table.__table__.columns["run_id"] == run_id))


def set_kept(connection: Connection, run_id: str, epoch: int, means_kept: bool) -> bool:
    """Let the views read the stored rows, or not yet, if the run has still ended in `epoch`; whether it has."""
    # The row stays locked until the transaction ends, so that no driver takes the run in between.
    is_this_epoch = (RunRow.id == run_id, RunRow.driver_epoch == epoch, RunRow.state != "running")
    return connection.execute(update(RunRow).where(*is_this_epoch).values(means_kept=means_kept)).rowcount == 1


def _stored_answer(connection: Connection, run_id: str) -> "Answer | None":
    query = select(AnswerRow.answer).join(RunRow, RunRow.id == AnswerRow.run_id)
    stored = connection.execute(query.where(AnswerRow.run_id == run_id, RunRow.means_kept)).scalar()
    return None if stored is None else _adapter().validate_python(stored)


def computed_answer(connection: Connection, run_id: str) -> "Answer":
    """The answer from the summaries of a run."""
    from nws.core.analysis.answer import answer_of
    from nws.core.analysis.own_words import metrics_of_answer
    from nws.jobs.store.points import read_points

    signatures = connection.execute(select(RunRow.signatures).where(RunRow.id == run_id)).scalar()
    return answer_of(read_points(connection, run_id, metrics_of_answer(signatures or {})))


def answer_rows(run_id: str, answer: "Answer") -> dict[type[Base], Rows]:
    """The rows of a run by table."""
    rows: dict[type[Base], Rows] = {
        ContentKeptRow: [{name: row[name] for name in row if name != "words"} for row in answer.share_rows()],
        SmallestNRow: answer.smallest_rows(),
        AnswerRow: [{"answer": _adapter().dump_python(answer, mode="json")}],
    }
    return {table: [{"run_id": run_id} | row for row in part] for table, part in rows.items()}


@cache
def _adapter() -> "TypeAdapter[Answer]":
    from pydantic import TypeAdapter

    from nws.core.analysis.answer import Answer

    return TypeAdapter(Answer)
