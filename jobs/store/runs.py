"""The state of runs, whether a driver works on them, and which metrics they have."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, Connection, Row, Select, func, or_, select

from nws.core.errors import FencedError, StoreError
from nws.core.metrics.specs import BY_COLUMN, BY_MODEL, METRIC_OF_PLUGIN, METRICS, OPTIONAL, Metric
from nws.core.text.length import LengthUnit
from nws.jobs.store.engine import id_batches
from nws.jobs.store.tables import RunRow

SILENT_SECONDS = 60.0
"""A driver without a heartbeat for this long counts as dead. Drivers send one every few seconds."""

DRIVER_DIED = "DriverDiedError"
"""The beginning of the error of a run whose driver died without a message, see `nws.jobs.drive.watchdog`."""

RunState = Literal["pending", "running", "done", "failed", "interrupted"]
FinalState = Literal["done", "failed", "interrupted"]
ENDED: tuple[FinalState, ...] = get_args(FinalState)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The definition of a run, as plain values: enough to run it again, and to name what made each number.

    Attributes:
        revisions: the versions of libraries, models, datasets and the segmentation.
        signatures: the options of each metric.
        systems: the number of systems. An article is done when it has summaries by that many.
        address: the address of the Ray dashboard that it was submitted to; None for a run that its own machine drives.
        reuse: whether summaries are copied from other runs of the store.
        name, note: a name and a note for people.
        findings: what checks found in its texts (`nws.core.text.checks.all_checks.Finding`).
    """

    job: str
    recipe: Mapping[str, Any]
    recipe_hash: str
    seed: int
    code_version: str
    revisions: Mapping[str, Any]
    signatures: Mapping[str, str]
    systems: int
    address: str | None = None
    reuse: bool = False
    name: str | None = None
    note: str | None = None
    findings: list[Mapping[str, Any]] = field(default_factory=list)


def length_unit_of(recipe: Mapping[str, Any]) -> LengthUnit:
    """Return the unit of the n of a stored recipe."""
    return "characters" if recipe.get("max_chars") else "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo(RunSpec):
    """The state of a run: its definition and its progress. Times are aware, in UTC.

    A shard names its sharded run in `parent`, and has the number `shard`, from 1. For a sharded run, `shards` is the
    number of its shards, the counts are the totals of its shards, and `device`, `arithmetic` and `code_version` combine
    those of its shards.

    Attributes:
        claimed_at: the time when its newest driver claimed it.
        worked_seconds: the time that earlier drivers worked on it.
        arithmetic: the ways in which its workers have multiplied, see `nws.core.arithmetic.describe_arithmetic`.
        mixed: whether different code, libraries or arithmetic have computed it.
        articles_done: the number of articles with summaries by every system.
        summaries: the number of summaries of any article.
        reused: the number of summaries that were copied.
        failures: the number of articles that some stage could not finish.
    """

    id: str
    state: RunState
    device: str | None
    driver_epoch: int
    driver_host: str | None
    driver_pid: int | None
    heartbeat_at: datetime | None
    total_articles: int | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    error: str | None
    cancel_requested_at: datetime | None
    arithmetic: list[str]
    claimed_at: datetime | None
    worked_seconds: float
    mixed: bool
    articles_done: int
    summaries: int
    reused: int
    failures: int
    word_kinds: str | None = None
    parent: str | None = None
    shard: int | None = None
    shards: int | None = None

    @property
    def length_unit(self) -> LengthUnit:
        """The unit of the n of its summaries."""
        return length_unit_of(self.recipe)


_COLUMNS = [RunRow.__table__.columns[field.name] for field in fields(RunInfo) if field.name != "shards"]
_COUNTS = ("articles_done", "summaries", "reused", "failures")
_MOST_NAMED = 5
_NEWEST_FIRST = (RunRow.created_at.desc(), RunRow.id.desc())


def full_id(connection: Connection, name: str) -> str:
    """Return the id of a run by its beginning, or by the beginning of its last part.

    For `phase1-20261123-b9b7e3` that may be `b9b`.

    Raises:
        StoreError: no run matches, or several do, which are listed.
    """
    rows = connection.execute(select(RunRow.id, RunRow.parent).order_by(*_NEWEST_FIRST))
    parents: dict[str, str | None] = {run_id: parent for run_id, parent in rows}
    if name in parents:
        return name
    fitting = [id_ for id_ in parents if id_.startswith(name) or id_.split("-")[-1].startswith(name)]
    # The id of a shard begins with that of its parent.
    matches = [run_id for run_id in fitting if parents[run_id] is None] or fitting
    if len(matches) == 1:
        return matches[0]
    if name and matches:
        several = ", ".join(matches[:_MOST_NAMED]) + (", …" if len(matches) > _MOST_NAMED else "")
        raise StoreError(f"{name!r} matches {len(matches)} runs: {several}. Give more of the id")
    return read_run(connection, name).id  # which raises the error that there is none


def list_runs(connection: Connection, with_shards: bool = False) -> list[RunInfo]:
    """List all runs, the newest first. With `with_shards`, shards come after their parents."""
    query = select(*_COLUMNS).order_by(*_NEWEST_FIRST)
    runs = _infos(connection, query.where(RunRow.parent.is_(None)))
    if not with_shards:
        return runs
    return [each for run in runs for each in (run, *(read_shards(connection, run.id) if run.shards else ()))]


def search_runs(connection: Connection, words: Sequence[str], first: int, count: int) -> tuple[list[RunInfo], int]:
    """Find the runs whose id, job, state, name or note contains each of `words`, in any case.

    Args:
        connection: the connection of the transaction.
        words: words or parts of words.
        first: the number of runs to skip.
        count: the most runs to return.

    Returns:
        The runs, the newest first, and the number of all that match.
    """
    row = RunRow
    columns = (row.id, row.job, row.state, row.name, row.note)
    conditions = [or_(*(column.icontains(word, autoescape=True) for column in columns)) for word in words]
    conditions.append(row.parent.is_(None))
    total = connection.execute(select(func.count()).select_from(row).where(*conditions)).scalar_one()
    query = select(*_COLUMNS).where(*conditions).order_by(*_NEWEST_FIRST).offset(first).limit(count)
    return _infos(connection, query), total


def find_run(connection: Connection, recipe_hash: str) -> str | None:
    """Return the id of the newest run of a recipe; None if there is none."""
    has_recipe = (RunRow.recipe_hash == recipe_hash, RunRow.parent.is_(None))
    return connection.execute(select(RunRow.id).where(*has_recipe).order_by(*_NEWEST_FIRST).limit(1)).scalar()


def read_run(connection: Connection, run_id: str) -> RunInfo:
    """Read a run.

    Raises:
        StoreError: there is no such run; the message lists the newest ones.
    """
    infos = _infos(connection, select(*_COLUMNS).where(RunRow.id == run_id))
    if not infos:
        alone = select(RunRow.id).where(RunRow.parent.is_(None))
        newest = ", ".join(connection.execute(alone.order_by(*_NEWEST_FIRST).limit(5)).scalars())
        held = f"The newest runs are {newest}" if newest else "It has no run yet"
        raise StoreError(f"the store has no run {run_id!r}. {held}")
    return infos[0]


def read_shards(connection: Connection, parent: str, *conditions: ColumnElement[bool]) -> list[RunInfo]:
    """Read the shards of a run that meet the conditions, in order. A run that is not sharded has none."""
    rows = connection.execute(select(*_COLUMNS).where(RunRow.parent == parent, *conditions).order_by(RunRow.shard))
    return [RunInfo(**row._mapping) for row in rows]


def runs_with_rows(connection: Connection, run_id: str) -> list[str]:
    """List the ids of the runs that have the rows of a run: its shards, in order, or else the run itself."""
    shards = select(RunRow.id).where(RunRow.parent == run_id).order_by(RunRow.shard)
    return list(connection.execute(shards).scalars()) or [run_id]


def _infos(connection: Connection, query: Select[Any]) -> list[RunInfo]:
    """Read the runs that a query of `_COLUMNS` finds. Sharded runs get the totals of their shards."""
    runs = [RunInfo(**row._mapping) for row in connection.execute(query)]
    alone = [run.id for run in runs if run.parent is None]
    shards: dict[str, list[Row[Any]]] = {}
    row = RunRow
    own = (row.parent, row.device, row.arithmetic, row.code_version, row.mixed)
    columns = (*own, *(getattr(row, name) for name in _COUNTS))
    for ids in id_batches(alone):
        for shard in connection.execute(select(*columns).where(row.parent.in_(ids)).order_by(row.shard)):
            shards.setdefault(shard.parent, []).append(shard)
    return [_with_shards(run, shards[run.id]) if run.id in shards else run for run in runs]


def _with_shards(run: RunInfo, shards: Sequence[Row[Any]]) -> RunInfo:
    versions = [version for shard in shards for version in shard.code_version.split(", ")]
    return replace(
        run,
        device="; ".join(dict.fromkeys(filter(None, (shard.device for shard in shards)))) or None,
        arithmetic=list(dict.fromkeys(way for shard in shards for way in shard.arithmetic)),
        code_version=", ".join(dict.fromkeys(versions)),
        mixed=any(shard.mixed for shard in shards),
        shards=len(shards),
        **{name: sum(getattr(shard, name) for shard in shards) for name in _COUNTS},
    )


def require_free(connection: Connection, run_id: str, host: str, take_over: bool = False) -> RunInfo:
    """Read a run, and refuse it if a driver works on it, as far as `host` can tell (with `take_over`: never).

    Raises:
        StoreError: a driver works on it, or there is no such run.
    """
    run = read_run(connection, run_id)
    if not take_over and is_driven(run, host, datetime.now(UTC)):
        raise StoreError(
            f"run {run_id!r} is being driven by pid {run.driver_pid} on {run.driver_host}, whose last heartbeat was at "
            f"{run.heartbeat_at:%Y-%m-%d %H:%M:%S} UTC. Wait for it, stop it with `nws cancel {run_id}`, or replace it "
            f"with `nws resume {run_id} --take-over`"
        )
    return run


def seconds_of_driver(run: RunInfo) -> float:
    """Return for how many seconds the newest driver of a run has had it, up to its last heartbeat."""
    if run.claimed_at is None or run.heartbeat_at is None:
        return 0.0
    return max(0.0, (run.heartbeat_at - run.claimed_at).total_seconds())


def require_epoch(run: RunInfo, epoch: int) -> None:
    """Refuse a job that was submitted for another epoch than the run has now.

    Raises:
        FencedError: the run was cancelled, submitted again, or claimed by another driver since.
    """
    if run.driver_epoch != epoch:
        raise FencedError(
            f"run {run.id!r} is no longer this job's: since the job was submitted (epoch {epoch}), the run was "
            f"cancelled, submitted again or claimed by another driver (epoch {run.driver_epoch}, {run.state})"
        )


def is_driven(run: RunInfo | Row[Any], host: str, now: datetime) -> bool:
    """Return whether the run has a driver that seems to be alive, as seen from `host`.

    A driver counts as dead if its last heartbeat is more than `SILENT_SECONDS` in the past or in the future (the clocks
    of machines must agree better than that), or if it ran on this host and its process is gone. A driver that only
    seems dead is fenced off by its epoch.
    """
    if run.state != "running" or run.heartbeat_at is None or run.driver_pid is None:
        return False
    if abs((now - run.heartbeat_at).total_seconds()) > SILENT_SECONDS:
        return False
    return run.driver_host != host or _exists(run.driver_pid)


def is_stale(run: RunInfo, host: str, now: datetime) -> bool:
    """Return whether the run is 'running' but has no driver that seems to be alive, as seen from `host`."""
    return run.state == "running" and not is_driven(run, host, now)


def metrics_of(runs: Sequence[RunInfo]) -> tuple[Metric, ...]:
    """List the metrics that all these runs have: `METRICS`, then those of `OPTIONAL` and `chosen_metrics_of`."""
    some = (*OPTIONAL, *chosen_metrics_of(runs[0]))
    shared = (name for name in some if all(name in run.signatures for run in runs))
    return (*METRICS, *shared)


def chosen_metrics_of(run: RunInfo) -> tuple[Metric, ...]:
    """List the metrics that a run has besides the stored ones: by models that its recipe names, and of plugins."""
    return tuple(
        name
        for name, signature in run.signatures.items()
        if name in BY_MODEL or signature.startswith(f"{name}|{METRIC_OF_PLUGIN}")
    )


def metric_signature(run: RunInfo, metric: Metric) -> str:
    """Return the signature of a metric in a run: every option that made its numbers."""
    names = BY_COLUMN[metric].signatures if metric in BY_COLUMN else (metric,)
    return "|".join(run.signatures[name] for name in names if name in run.signatures)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
