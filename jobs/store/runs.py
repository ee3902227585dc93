"""Runs: made once, taken by one driver at a time, finished once. Each function works inside one transaction."""

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, func, insert, select, update

from core.errors import FencedError, StoreError
from core.types import SystemKind
from jobs.store.on_conflict import insert_new
from jobs.store.storable_text import escaped, is_storable
from jobs.store.tables import LogLineRow, RunRow, SystemRow

SILENT_SECONDS = 60.0
"""A driver without a heartbeat for this long counts as dead. It beats every few seconds."""

RunState = Literal["pending", "running", "done", "failed", "interrupted"]
FinalState = Literal["done", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What a run is made of, all of it JSON-able: enough to run it again and to name what made each number.

    `revisions` names libraries, models, datasets and the segmentation; `signatures` gives each metric's options;
    `systems` says how many systems it has: an article is done when it has summaries by as many. `address` is that of
    the Ray dashboard it was submitted to, None for a run that its own machine drives. `reuse`: summaries that other
    runs of the store have are copied. `name` and `note` are what people call the run and say of it.
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


@dataclass(frozen=True, slots=True)
class LogLine:
    """Something a driver said; `said_at` is aware, in UTC."""

    said_at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run as it stands. Times are aware, in UTC; the last four fields are counts of what it has stored.

    `claimed_at` is when its newest driver took it, `worked_seconds` how long those before worked on it.
    `arithmetic` tells the ways in which its workers have multiplied, see `core.arithmetic.describe_arithmetic`.
    `reuse` says whether it copies summaries that other runs have. `articles_done` counts articles with summaries by
    every system, `summaries` those of any article, `reused` those of them that were copied, `failures` articles that
    some stage could not finish.
    """

    id: str
    job: str
    state: RunState
    recipe: dict[str, Any]
    recipe_hash: str
    seed: int
    code_version: str
    revisions: dict[str, Any]
    signatures: dict[str, str]
    device: str | None
    driver_epoch: int
    driver_host: str | None
    driver_pid: int | None
    heartbeat_at: datetime | None
    total_articles: int | None
    systems: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    error: str | None
    address: str | None
    cancel_requested_at: datetime | None
    arithmetic: list[str]
    name: str | None
    note: str | None
    claimed_at: datetime | None
    worked_seconds: float
    reuse: bool
    articles_done: int
    summaries: int
    reused: int
    failures: int


_COLUMNS = [RunRow.__table__.columns[field.name] for field in fields(RunInfo)]


def check(spec: RunSpec) -> None:
    """Refuse what a store cannot hold.

    Raises:
        StoreError: A part of the specification is not JSON, the seed does not fit 64 bits, or a database cannot keep
            its name or note.
    """
    for text in filter(None, (spec.name, spec.note)):
        if not is_storable(text):
            raise StoreError(f"{text!r} holds a NUL or half a surrogate pair, which a database cannot keep: use UTF-8")
    for name in ("recipe", "revisions", "signatures"):
        try:
            json.dumps(dict(getattr(spec, name)), ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise StoreError(f"the {name} of a {spec.job} run cannot be stored as JSON: {error}") from error
    if not -(2**63) <= spec.seed < 2**63:
        raise StoreError(f"the seed {spec.seed} cannot be stored: it needs more than 64 bits")


def new_run_id(job: str) -> str:
    """`<job>-<yyyymmdd>-<6 hex digits>`."""
    return f"{job}-{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(3)}"


def create(connection: Connection, spec: RunSpec, run_id: str) -> None:
    connection.execute(
        insert(RunRow).values(
            id=run_id,
            job=spec.job,
            state="pending",
            recipe=dict(spec.recipe),
            recipe_hash=spec.recipe_hash,
            seed=spec.seed,
            code_version=spec.code_version,
            revisions=dict(spec.revisions),
            signatures=dict(spec.signatures),
            systems=spec.systems,
            arithmetic=[],
            articles_done=0,
            summaries=0,
            reuse=spec.reuse,
            reused=0,
            failures=0,
            means_kept=False,
            driver_epoch=0,
            created_at=datetime.now(UTC),
            address=spec.address,
            name=spec.name,
            note=spec.note,
            worked_seconds=0.0,
        )
    )


def submit_again(connection: Connection, run_id: str, host: str, address: str, take_over: bool) -> int:
    """The epoch with which a job that is about to be submitted, and no earlier one, claims the run."""
    connection.execute(update(RunRow).where(RunRow.id == run_id).values(driver_epoch=RunRow.driver_epoch))
    run = info(connection, run_id) if take_over else require_free(connection, run_id, host)
    values = {"driver_epoch": run.driver_epoch + 1, "address": address, "cancel_requested_at": None}
    if run.state == "running":  # of a driver that is gone, or from now on fenced off
        values |= {"state": "pending"}
    nobody = {"driver_host": None, "driver_pid": None}
    connection.execute(update(RunRow).where(RunRow.id == run_id).values(**values, **nobody))
    return run.driver_epoch + 1


def claim(connection: Connection, run_id: str, host: str, pid: int, take_over: bool, epoch: int | None) -> int:
    now = datetime.now(UTC)
    # Locked first, so that of two drivers that come at once the second sees the first.
    connection.execute(update(RunRow).where(RunRow.id == run_id).values(driver_epoch=RunRow.driver_epoch))
    run = info(connection, run_id)
    # By this very process: it claimed the run, and only the answer was lost.
    is_ours = (run.driver_host, run.driver_pid) == (host, pid)
    if epoch is not None:
        require_epoch(run, epoch + 1 if is_ours and run.driver_epoch == epoch + 1 else epoch)
    elif not take_over and not is_ours:
        require_free(connection, run_id, host)
    claimed = connection.execute(
        update(RunRow)
        .where(RunRow.id == run_id)
        .values(
            state="running",
            driver_epoch=RunRow.driver_epoch + 1,
            driver_host=host,
            driver_pid=pid,
            heartbeat_at=now,
            started_at=func.coalesce(RunRow.started_at, now),
            claimed_at=now,
            worked_seconds=run.worked_seconds + seconds_of_driver(run),
            finished_at=None,
            error=None,
            # Who holds the run's epoch may have been asked to stop since.
            cancel_requested_at=None if epoch is None else RunRow.cancel_requested_at,
            means_kept=False,
        )
        .returning(RunRow.driver_epoch)
    ).scalar_one_or_none()
    if claimed is None:
        raise _unknown(connection, run_id)
    return claimed


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


def require_free(connection: Connection, run_id: str, host: str) -> RunInfo:
    """The run, if no driver works on it.

    Raises:
        StoreError: One does, or there is no such run.
    """
    run = info(connection, run_id)
    if is_driven(run, host, datetime.now(UTC)):
        raise StoreError(
            f"run {run_id!r} is being driven by pid {run.driver_pid} on {run.driver_host}, last heard of at "
            f"{run.heartbeat_at:%Y-%m-%d %H:%M:%S} UTC: wait for it, stop it with `nws cancel {run_id}`, or replace it "
            f"with `nws resume {run_id} --take-over`"
        )
    return run


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
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def heartbeat(connection: Connection, run_id: str, epoch: int, lines: Sequence[LogLine]) -> bool:
    write_fenced(connection, run_id, epoch)
    if lines:
        in_run = LogLineRow.run_id == run_id
        last = connection.execute(select(func.coalesce(func.max(LogLineRow.number), 0)).where(in_run)).scalar_one()
        rows = [
            {
                "run_id": run_id,
                "number": number,
                "driver_epoch": epoch,
                "said_at": line.said_at,
                "text": escaped(line.text),
            }
            for number, line in enumerate(lines, start=last + 1)
        ]
        connection.execute(insert(LogLineRow), rows)
    asked = select(RunRow.cancel_requested_at).where(RunRow.id == run_id)
    return connection.execute(asked).scalar_one() is not None


def log(connection: Connection, run_id: str, after: int) -> list[tuple[int, LogLine]]:
    query = select(LogLineRow).where(LogLineRow.run_id == run_id, LogLineRow.number > after)
    rows = connection.execute(query.order_by(LogLineRow.number))
    return [(row.number, LogLine(row.said_at, row.text)) for row in rows]


def cancel(connection: Connection, run_id: str, host: str) -> bool:
    """Ask the run's driver to stop, or end a run that has none. Returns whether there is a driver to wait for."""
    now = datetime.now(UTC)
    changed = connection.execute(update(RunRow).where(RunRow.id == run_id).values(cancel_requested_at=now))
    if changed.rowcount == 0:
        raise _unknown(connection, run_id)
    run = info(connection, run_id)
    if is_driven(run, host, now):
        return True
    if run.state in ("pending", "running"):
        # The next epoch, so that a driver that was only silent cannot write any more.
        values = {"state": "interrupted", "finished_at": now, "driver_epoch": run.driver_epoch + 1}
        nobody = {"driver_host": None, "driver_pid": None}
        connection.execute(update(RunRow).where(RunRow.id == run_id).values(**values, **nobody, error="cancelled"))
    return False


def write_fenced(connection: Connection, run_id: str, epoch: int, **values: object) -> None:
    """Set columns of a run and its heartbeat, if the driver of `epoch` still has it. First in every transaction.

    The row stays locked until the transaction ends, so nobody can take the run over in between.

    Raises:
        FencedError: Another driver took the run over, or its state is no longer 'running'.
    """
    now = datetime.now(UTC)
    changed = connection.execute(
        update(RunRow)
        .where(RunRow.id == run_id, RunRow.driver_epoch == epoch, RunRow.state == "running")
        .values(heartbeat_at=now, **values)
    )
    if changed.rowcount == 1:
        return
    run = info(connection, run_id)
    if run.driver_epoch != epoch and run.driver_pid is None:
        raise FencedError(f"run {run_id!r} was cancelled or submitted again meanwhile: this driver must stop")
    if run.driver_epoch != epoch:
        raise FencedError(
            f"run {run_id!r} was taken over by pid {run.driver_pid} on {run.driver_host} (driver {run.driver_epoch}; "
            f"this is driver {epoch}): this driver must stop, its results from now on are not stored"
        )
    raise FencedError(
        f"run {run_id!r} is {run.state!r}, no longer 'running': this driver must stop. "
        f"Resume it with: nws resume {run_id}"
    )


def start(
    connection: Connection,
    run_id: str,
    epoch: int,
    device: str | None,
    code_version: str,
    systems: Mapping[str, SystemKind],
    works: Mapping[str, str],
) -> None:
    values = {"device": device} if device is not None else {}
    versions = _with_versions(connection, run_id, [code_version])
    write_fenced(connection, run_id, epoch, code_version=versions, **values)
    rows = [
        {"run_id": run_id, "system": system, "kind": kind, "work": works.get(system)}
        for system, kind in systems.items()
    ]
    insert_new(connection, SystemRow, rows)
    # What it has of another work is there already: from now on nobody can tell which of its rows are of which.
    changed = update(SystemRow).where(
        SystemRow.run_id == run_id, SystemRow.system == bindparam("of"), SystemRow.work != bindparam("now")
    )
    if rows:
        now = [{"of": system, "now": works.get(system, "")} for system in systems]
        connection.execute(changed.values(work=None), now)


def disown(connection: Connection, run_id: str, epoch: int, systems: Sequence[str], software: Sequence[str]) -> None:
    write_fenced(connection, run_id, epoch, code_version=_with_versions(connection, run_id, software))
    of_stage = (SystemRow.run_id == run_id, SystemRow.system.in_(systems))
    connection.execute(update(SystemRow).where(*of_stage).values(work=None))


def _with_versions(connection: Connection, run_id: str, versions: Sequence[str]) -> str:
    """What a run was computed with so far, and these."""
    return ", ".join(dict.fromkeys([*info(connection, run_id).code_version.split(", "), *versions]))


def note_workers(connection: Connection, run_id: str, epoch: int, device: str, arithmetic: Sequence[str]) -> None:
    known = info(connection, run_id).arithmetic
    write_fenced(connection, run_id, epoch, device=device, arithmetic=list(dict.fromkeys([*known, *arithmetic])))


def finish(connection: Connection, run_id: str, epoch: int, state: FinalState, error: str | None) -> None:
    run = info(connection, run_id)
    if (run.driver_epoch, run.state) == (epoch, state):  # it was done, and only the answer was lost
        return
    text = None if error is None else escaped(error)
    write_fenced(connection, run_id, epoch, state=state, finished_at=datetime.now(UTC), error=text)


def find(connection: Connection, recipe_hash: str) -> str | None:
    query = select(RunRow.id).where(RunRow.recipe_hash == recipe_hash)
    return connection.execute(query.order_by(RunRow.created_at.desc(), RunRow.id.desc()).limit(1)).scalar()


def info(connection: Connection, run_id: str) -> RunInfo:
    row = connection.execute(select(*_COLUMNS).where(RunRow.id == run_id)).one_or_none()
    if row is None:
        raise _unknown(connection, run_id)
    return RunInfo(**row._mapping)


def list_all(connection: Connection) -> list[RunInfo]:
    query = select(*_COLUMNS).order_by(RunRow.created_at.desc(), RunRow.id.desc())
    return [RunInfo(**row._mapping) for row in connection.execute(query)]


def _unknown(connection: Connection, run_id: str) -> StoreError:
    newest = connection.execute(select(RunRow.id).order_by(RunRow.created_at.desc(), RunRow.id.desc()).limit(5))
    known = ", ".join(newest.scalars())
    return StoreError(
        f"the store has no run {run_id!r}: " + (f"the newest are {known}" if known else "it holds no run yet")
    )
