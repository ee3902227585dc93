"""Means over a run's summaries, and its report document, which are stored when a run has ended.

While a run goes on, the views compute its means from its summaries (`live_means` and `live_best_n`, see
`nws.jobs.store.queries`). When it has ended, the means are stored, a piece at a time, so that no other writer waits for
a large run. The views compute the means until all are stored, and again once a driver claims the run.

The run's report document is stored with them; no view computes it while a run goes on. The tables `content_kept`,
`kept_by_kind` and `smallest_n` have the numbers of the document that people query.
"""

import zlib
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
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

from nws.core.metrics.specs import DEFAULT_METRIC, F1S, Metric
from nws.jobs.store.articles import in_run
from nws.jobs.store.database import Database
from nws.jobs.store.engine import dump_json, insert_new
from nws.jobs.store.run_progress import greedy_rewards, learning_curve
from nws.jobs.store.runs import ENDED, read_run, read_shards
from nws.jobs.store.tables import (
    Base,
    ContentKeptRow,
    DocumentRow,
    KeptByKindRow,
    RunBestRow,
    RunMeanRow,
    RunRow,
    ScoreColumnRow,
    SmallestNRow,
    SummaryRow,
)

if TYPE_CHECKING:  # importing pydantic would delay `nws ls`
    from nws.core.findings.lengths import Obedience
    from nws.core.findings.report_document import ReportDocument

ROWS_AT_ONCE = 10_000
"""The rows of one transaction: SQLite inserts them in less than 0.1 s."""

_LIVE: tuple[tuple[type[Base], str], ...] = (
    (RunMeanRow, "live_means"),
    (RunMeanRow, "live_sharded_means"),
    (RunBestRow, "live_best_n"),
)
OF_DOCUMENT: tuple[type[Base], ...] = (ContentKeptRow, KeptByKindRow, SmallestNRow, DocumentRow)
CACHED_TABLES: tuple[type[Base], ...] = (RunMeanRow, RunBestRow, ScoreColumnRow, *OF_DOCUMENT)

Rows: TypeAlias = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class EndpointUse:
    """The cost of a system behind an endpoint, over all n.

    Attributes:
        system: the name of the system.
        articles: the number of articles.
        requests: the number of requests that were sent.
        read, written: the numbers of input and output tokens, as the endpoint counts them; 0 if it does not.
        cached: the number of input tokens that came from the endpoint's cache.
        models: the number of models that answered, by the names that the endpoint gives; 0 if it gives none.
    """

    system: str
    articles: int
    requests: int
    read: int
    written: int
    cached: int
    models: int


_ASKED, _WRITTEN, _FIRST = (
    func.coalesce(*(SummaryRow.extra[f"{unit}_{count}"].as_integer() for unit in ("words", "characters")))
    for count in ("asked", "written", "first")
)
_DRAFTS = SummaryRow.extra["drafts"].as_integer()
_REQUESTS = SummaryRow.extra["requests"].as_integer()
_PROMPT = SummaryRow.extra["prompt_tokens"].as_integer()
_COMPLETION = SummaryRow.extra["completion_tokens"].as_integer()
_CACHED = SummaryRow.extra["cached_tokens"].as_integer()
_ANSWERED_BY = SummaryRow.extra["answered_by"].as_string()
_NUMBERS = ("articles", *(f"{metric}_mean" for metric in F1S))
_CURVE = table("sweep_curve", *map(column, ("run_id", "dataset", "system", "n", *_NUMBERS)))


def curve_means(connection: Connection, run_id: str) -> dict[tuple[str, str, int], dict[str, float]]:
    """Read the number of `articles` and mean scores such as `bertscore_f1`, by dataset, system and n (0: uncut)."""
    query = select(*(_CURVE.c[name] for name in ("dataset", "system", "n", *_NUMBERS)))
    rows = connection.execute(query.where(_CURVE.c.run_id == run_id))
    names = [name.removesuffix("_mean") for name in _NUMBERS]
    means = {(dataset, system, n): dict(zip(names, values, strict=True)) for dataset, system, n, *values in rows}
    return dict(sorted(means.items()))


def obedience(connection: Connection, run_id: str, systems: Collection[str]) -> "list[Obedience]":
    """Measure how well systems follow a request for n words or characters, by system and n."""
    from nws.core.findings.lengths import Obedience

    def share(is_so: ColumnElement[bool], of: ColumnElement[int]) -> ColumnElement[float]:
        return func.avg(cast(case((of.is_(None), None), (is_so, 1), else_=0), Float))

    def off(length: ColumnElement[int]) -> ColumnElement[float]:
        return func.avg(func.abs(cast(length, Float) - cast(_ASKED, Float)))

    written = share(_WRITTEN == _ASKED, _WRITTEN), share(_WRITTEN <= _ASKED, _WRITTEN), off(_WRITTEN)
    first = share(_FIRST == _ASKED, _FIRST), off(_FIRST)
    sums = (func.sum(func.coalesce(count, 0)) for count in (_REQUESTS, _DRAFTS))
    query = (
        select(SummaryRow.system, SummaryRow.n, func.count(), func.avg(cast(_WRITTEN, Float)), *written, *first, *sums)
        .where(in_run(connection, run_id), SummaryRow.system.in_(systems), _ASKED.is_not(None))
        .group_by(SummaryRow.system, SummaryRow.n)
        .order_by(SummaryRow.system, SummaryRow.n)
    )
    return [Obedience(*row) for row in connection.execute(query)]


def endpoint_use(connection: Connection, run_id: str, systems: Collection[str]) -> list[EndpointUse]:
    """Return the cost of each of these systems that has an endpoint, in the order of their names.

    An answer that was cut to every n counts once, with the row that has it uncut.
    """
    articles = func.count(SummaryRow.article_id.distinct())
    sums = (func.sum(func.coalesce(count, 0)) for count in (_REQUESTS, _PROMPT, _COMPLETION, _CACHED))
    query = (
        select(SummaryRow.system, articles, *sums, func.count(_ANSWERED_BY.distinct()))
        .where(in_run(connection, run_id), SummaryRow.system.in_(systems))
        .where(_REQUESTS.is_not(None))
        .where(or_(_ASKED.is_not(None), SummaryRow.n == 0))
        .group_by(SummaryRow.system)
        .order_by(SummaryRow.system)
    )
    return [EndpointUse(*row) for row in connection.execute(query)]


def document(
    connection: Connection, run_ids: Sequence[str], metric: Metric = DEFAULT_METRIC, claim: str | int | None = None
) -> "ReportDocument":
    """Return the report document of a run or of several runs: the stored one, if there is one for this metric.

    Args:
        connection: the connection of the transaction.
        run_ids: one run or several.
        metric: the metric of the document.
        claim: a claim to check, see `build_document`.

    Raises:
        RecipeError, StoreError: see `build_document`.
    """
    is_usual = len(run_ids) == 1 and metric == DEFAULT_METRIC and claim is None
    stored = stored_document(connection, run_ids[0]) if is_usual else None
    return stored or document_from_rows(connection, run_ids, metric, claim)


def headlines(connection: Connection, run_ids: Collection[str]) -> dict[str, dict[str, dict[str, Any]]]:
    """Read the first statement (`Headline`) of the stored documents of runs, by run and dataset."""
    query = select(DocumentRow.run_id, DocumentRow.headlines).join(RunRow, RunRow.id == DocumentRow.run_id)
    return {
        run: of for run, of in connection.execute(query.where(DocumentRow.run_id.in_(run_ids), RunRow.means_cached))
    }


def cache_means(store: Database, run_id: str) -> None:
    """Store the means and the document of a run that has ended. Stops if a driver claims the run meanwhile.

    Those of a sharded run are made of what is stored of its shards.
    """
    with store.reading() as reader:
        shards = read_shards(reader, run_id)
    for shard in shards:
        cache_means(store, shard.id)
    with store.reading() as reader:
        query = select(RunRow.driver_epoch).where(RunRow.id == run_id, RunRow.state.in_(ENDED), ~RunRow.means_cached)
        epoch = reader.execute(query).scalar()
        if epoch is None:
            return
        with closing(live_pieces(reader, run_id)) as pieces:
            for piece in pieces:
                with store.writing() as writer:
                    if not mark_cached(writer, run_id, epoch, False):
                        return
                    insert_new(writer, *piece)
    with store.reading() as reader:  # which sees the columns that were stored
        has_rows = reader.execute(select(exists().where(in_run(reader, run_id)))).scalar_one()
        rows = document_rows(run_id, document_from_rows(reader, [run_id])) if has_rows else {}
    with store.writing() as writer:
        if mark_cached(writer, run_id, epoch, True):
            for piece in rows.items():
                insert_new(writer, *piece)


def live_pieces(connection: Connection, run_id: str) -> Generator[tuple[type[Base], Rows], None, None]:
    """Yield the rows to store for a run, in pieces."""
    for stored_table, live in _LIVE:
        names = stored_table.__table__.columns.keys()
        view = table(live, *map(column, names))
        query = select(*(view.c[name] for name in names)).where(view.c.run_id == run_id)
        with connection.execute(query, execution_options={"yield_per": ROWS_AT_ONCE}) as result:
            for rows in result.mappings().partitions():
                yield stored_table, [dict(row) for row in rows]
    if connection.execute(select(exists().where(SummaryRow.run_id == run_id))).scalar_one():
        from nws.jobs.store.points import column_rows  # imports NumPy, which takes time

        for columns in column_rows(connection, run_id):
            yield ScoreColumnRow, columns


def forget(connection: Connection, run_id: str, tables: Sequence[type[Base]] = CACHED_TABLES) -> None:
    """Remove the rows that were stored when the run ended before, in the transaction that ends it again.

    Until then `means_cached` is false, and nobody reads most of these rows. To remove all of them would take seconds,
    so a driver that claims the run removes only those `OF_DOCUMENT`, which people read directly.
    """
    for stored_table in tables:
        connection.execute(delete(stored_table).where(stored_table.__table__.columns["run_id"] == run_id))


def mark_cached(connection: Connection, run_id: str, epoch: int, means_cached: bool) -> bool:
    """Set whether the views read the stored rows, unless a driver has claimed the run since `epoch`.

    Returns whether the run has still ended in `epoch`.
    """
    # The row stays locked until the transaction ends, so that no driver claims the run in between.
    is_this_epoch = (RunRow.id == run_id, RunRow.driver_epoch == epoch, RunRow.state != "running")
    return connection.execute(update(RunRow).where(*is_this_epoch).values(means_cached=means_cached)).rowcount == 1


def stored_document(connection: Connection, run_id: str) -> "ReportDocument | None":
    """Read the document that was stored when the run ended; None if it has to be built."""
    from nws.core.findings.report_document import ReportDocument

    query = select(DocumentRow.document).join(RunRow, RunRow.id == DocumentRow.run_id)
    stored = connection.execute(query.where(DocumentRow.run_id == run_id, RunRow.means_cached)).scalar()
    return None if stored is None else ReportDocument.model_validate_json(zlib.decompress(stored))


def document_from_rows(
    connection: Connection, run_ids: Sequence[str], metric: Metric = DEFAULT_METRIC, claim: str | int | None = None
) -> "ReportDocument":
    """Build the document from the summaries of runs, and from the updates of a training."""
    from nws.core.analysis.build_document import Training, build_document
    from nws.core.analysis.points import combine
    from nws.core.text.checks.all_checks import Finding
    from nws.jobs.store.points import document_metrics, read_kind_terms, read_points

    runs = [read_run(connection, run_id) for run_id in run_ids]
    metrics = document_metrics(runs, metric)
    is_training = len(runs) == 1 and "reward" in runs[0].signatures
    points = [read_points(connection, run.id, metrics, is_training) for run in runs]
    together, sources = combine(list(zip(run_ids, points, strict=True)))
    training = None
    if is_training:
        (run,) = runs
        reward = run.signatures["reward"]
        curve, greedy = learning_curve(connection, run.id), greedy_rewards(connection, run.id)
        training = Training(reward, reward == run.signatures["bertscore"], curve, greedy)
    findings = tuple(Finding(**finding) for run in runs for finding in run.findings)
    kinds = read_kind_terms(connection, sources)
    obeyed = tuple(
        replace(of, system=sources[run.id].get(of.system, of.system))
        for run in runs
        for of in obedience(connection, run.id, run.revisions.get("generators", {}))
    )
    return build_document(together, metric, training, claim, sources, findings, *kinds, obeyed)


def document_rows(run_id: str, document: "ReportDocument") -> dict[type[Base], Rows]:
    """Return the rows of a run's document, by table."""
    values = document.model_dump(mode="json", exclude_computed_fields=True)
    rows: dict[type[Base], Rows] = {
        ContentKeptRow: [{name: row[name] for name in row if name != "words"} for row in document.share_rows()],
        KeptByKindRow: document.kind_rows(),
        SmallestNRow: document.smallest_rows(),
        DocumentRow: [{"document": zlib.compress(dump_json(values).encode()), "headlines": _headlines(values)}],
    }
    return {table: [{"run_id": run_id} | row for row in part] for table, part in rows.items() if part}


def _headlines(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the headline of each dataset."""
    said = document["statements"].items()
    return {dataset: one for dataset, of in said for one in of if one["type"] == "headline"}
