"""Runs as they stand, and whether a driver works on them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, Connection, Row, Select, func, or_, select

from nws.core.errors import FencedError, StoreError
from nws.core.text.length import LengthUnit
from nws.jobs.store.engine import id_batches
from nws.jobs.store.tables import RunRow

SILENT_SECONDS = 60.0
"""A driver without a heartbeat for this long counts as dead. It beats every few seconds."""

DRIVER_DIED = "DriverDiedError"
"""The beginning of the error of a run whose driver has ended without a word, see `nws.jobs.drive.watchdog`."""

RunState = Literal["pending", "running", "done", "failed", "interrupted"]
FinalState = Literal["done", "failed", "interrupted"]
ENDED: tuple[FinalState, ...] = get_args(FinalState)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The definition of a run, all of it JSON-able: enough to run it again, and to name what made each number.

    `revisions` names libraries, models, datasets and the segmentation; `signatures` gives each metric's options;
    `systems` says how many systems it has: an article is done when it has summaries by as many. `address` is that of
    the Ray dashboard it was submitted to, None for a run that its own machine drives. `reuse`: summaries that other
    runs of the store have are copied. `name` and `note` are what people call the run and say of it. `findings` are what
    checks found in its texts (`nws.core.text.checks.all_checks.Finding`).
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
    """What the n of a stored recipe counts."""
    return "characters" if recipe.get("max_chars") else "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo(RunSpec):
    """A run as it stands: its definition and its progress. Times are aware, in UTC.

    A shard names the sharded run in `parent`, and is its number `shard`, from 1. Of a sharded run, `shards` says how
    many it has, and the counts are theirs; `device`, `arithmetic` and `code_version` are all that any of them has.

    `claimed_at` is when its newest driver took it, `worked_seconds` how long those before worked on it.
    `arithmetic` tells the ways in which its workers have multiplied, see `nws.core.arithmetic.describe_arithmetic`.
    `mixed` says that several kinds of code, libraries or arithmetic have computed it. `reuse` says whether it copies
    summaries that other runs have. `articles_done` counts articles with summaries by
    every system, `summaries` those of any article, `reused` those of them that were copied, `failures` articles that
    some stage could not finish.
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
        """What the n of its summaries count."""
        return length_unit_of(self.recipe)


_COLUMNS = [RunRow.__table__.columns[field.name] for field in fields(RunInfo) if field.name != "shards"]
_COUNTS = ("articles_done", "summaries", "reused", "failures")
_MOST_NAMED = 5
_NEWEST_FIRST = (RunRow.created_at.desc(), RunRow.id.desc())


def full_id(connection: Connection, name: str) -> str:
    """The id of the run that a person means: `name` is the whole, or how the id or its last part begins.

    Of `phase1-20261123-b9b7e3` that may be `b9b`.

    Raises:
        StoreError: it fits no run, or several, which are listed.
    """
    rows = connection.execute(select(RunRow.id, RunRow.parent).order_by(*_NEWEST_FIRST))
    parents: dict[str, str | None] = {run_id: parent for run_id, parent in rows}
    if name in parents:
        return name
    fitting = [id_ for id_ in parents if id_.startswith(name) or id_.split("-")[-1].startswith(name)]
    # A shard's id begins as its parent's.
    matches = [run_id for run_id in fitting if parents[run_id] is None] or fitting
    if len(matches) == 1:
        return matches[0]
    if name and matches:
        several = ", ".join(matches[:_MOST_NAMED]) + (", …" if len(matches) > _MOST_NAMED else "")
        raise StoreError(f"{name!r} fits {len(matches)} runs: {several}. Give more of the id")
    return read_run(connection, name).id  # which says that there is none


def list_runs(connection: Connection, with_shards: bool = False) -> list[RunInfo]:
    """Every run, the newest first; shards, behind their parents, only if asked for."""
    query = select(*_COLUMNS).order_by(*_NEWEST_FIRST)
    runs = _infos(connection, query.where(RunRow.parent.is_(None)))
    if not with_shards:
        return runs
    return [each for run in runs for each in (run, *(read_shards(connection, run.id) if run.shards else ()))]


def search_runs(connection: Connection, words: Sequence[str], first: int, count: int) -> tuple[list[RunInfo], int]:
    """Runs whose id, job, state, name or note has each of `words`, in whatever case.

    Args:
        connection: of the transaction.
        words: whole words or parts of words.
        first: the number of runs to pass over.
        count: the most runs to return.

    Returns:
        The runs, the newest first, and the number of all that fit.
    """
    row = RunRow
    columns = (row.id, row.job, row.state, row.name, row.note)
    conditions = [or_(*(column.icontains(word, autoescape=True) for column in columns)) for word in words]
    conditions.append(row.parent.is_(None))
    total = connection.execute(select(func.count()).select_from(row).where(*conditions)).scalar_one()
    query = select(*_COLUMNS).where(*conditions).order_by(*_NEWEST_FIRST).offset(first).limit(count)
    return _infos(connection, query), total


def find_run(connection: Connection, recipe_hash: str) -> str | None:
    """The newest run of this recipe, None where there is none."""
    has_recipe = (RunRow.recipe_hash == recipe_hash, RunRow.parent.is_(None))
    return connection.execute(select(RunRow.id).where(*has_recipe).order_by(*_NEWEST_FIRST).limit(1)).scalar()


def read_run(connection: Connection, run_id: str) -> RunInfo:
    """One run.

    Raises:
        StoreError: There is no such run; the message lists the newest ones.
    """
    infos = _infos(connection, select(*_COLUMNS).where(RunRow.id == run_id))
    if not infos:
        alone = select(RunRow.id).where(RunRow.parent.is_(None))
        newest = ", ".join(connection.execute(alone.order_by(*_NEWEST_FIRST).limit(5)).scalars())
        held = f"the newest are {newest}" if newest else "it holds no run yet"
        raise StoreError(f"the store has no run {run_id!r}: {held}")
    return infos[0]


def read_shards(connection: Connection, parent: str, *conditions: ColumnElement[bool]) -> list[RunInfo]:
    """The shards of a run, in order, that fit the conditions; none of a run that is not sharded."""
    rows = connection.execute(select(*_COLUMNS).where(RunRow.parent == parent, *conditions).order_by(RunRow.shard))
    return [RunInfo(**row._mapping) for row in rows]


def runs_with_rows(connection: Connection, run_id: str) -> list[str]:
    """The ids of the runs that have the rows of a run: its shards', in order, if it has any, else its own."""
    shards = select(RunRow.id).where(RunRow.parent == run_id).order_by(RunRow.shard)
    return list(connection.execute(shards).scalars()) or [run_id]


def _infos(connection: Connection, query: Select[Any]) -> list[RunInfo]:
    """The runs that a query of `_COLUMNS` finds; sharded ones with what their shards have."""
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
    """A run that no driver works on, as far as `host` can tell; with `take_over`, any run.

    Raises:
        StoreError: A driver works on it, or there is no such run.
    """
    run = read_run(connection, run_id)
    if not take_over and is_driven(run, host, datetime.now(UTC)):
        raise StoreError(
            f"run {run_id!r} is being driven by pid {run.driver_pid} on {run.driver_host}, last heard of at "
            f"{run.heartbeat_at:%Y-%m-%d %H:%M:%S} UTC: wait for it, stop it with `nws cancel {run_id}`, or replace it "
            f"with `nws resume {run_id} --take-over`"
        )
    return run


def seconds_of_driver(run: RunInfo) -> float:
    """How long the newest driver of a run has had it, up to its last heartbeat."""
    if run.claimed_at is None or run.heartbeat_at is None:
        return 0.0
    return max(0.0, (run.heartbeat_at - run.claimed_at).total_seconds())


def require_epoch(run: RunInfo, epoch: int) -> None:
    """Refuse a job that was submitted for another epoch of the run than the one it now has.

    Raises:
        FencedError: it was cancelled, submitted again, or taken by another driver since.
    """
    if run.driver_epoch != epoch:
        raise FencedError(
            f"run {run.id!r} is no longer this job's: since the job was submitted (epoch {epoch}), the run was "
            f"cancelled, submitted again or taken by another driver (epoch {run.driver_epoch}, {run.state})"
        )


def is_driven(run: RunInfo, host: str, now: datetime) -> bool:
    """Whether the run has a driver that seems to be alive, as seen from `host`.

    It is not if it was silent for `SILENT_SECONDS` or was heard of that far in the future (clocks of several machines
    must agree better than that), or if it ran on this very host and its process is gone. A driver that only seems dead
    is fenced off by its epoch.
    """
    if run.state != "running" or run.heartbeat_at is None or run.driver_pid is None:
        return False
    if abs((now - run.heartbeat_at).total_seconds()) > SILENT_SECONDS:
        return False
    return run.driver_host != host or _exists(run.driver_pid)


def is_stale(run: RunInfo, host: str, now: datetime) -> bool:
    """Whether the run is 'running' and has no driver that seems to be alive, as seen from `host`."""
    return run.state == "running" and not is_driven(run, host, now)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
