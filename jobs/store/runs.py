"""Runs: made once, taken by one driver at a time, finished once. Each function works inside one transaction."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Connection, Select, func, insert, select, update

from core.errors import FencedError, StoreError
from jobs.store.tables import FailureRow, RunRow, SummaryRow

RunState = Literal["pending", "running", "done", "failed", "interrupted"]
FinalState = Literal["done", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What a run is made of, all of it JSON-able: enough to run it again and to name what made each number.

    `revisions` names libraries, models, datasets and the segmentation; `signatures` gives each metric's options;
    `systems` says how many systems it has: an article is done when it has summaries by as many.
    """

    job: str
    recipe: Mapping[str, Any]
    recipe_hash: str
    seed: int
    code_version: str
    revisions: Mapping[str, Any]
    signatures: Mapping[str, str]
    systems: int


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run as it stands. Times are aware, in UTC; the last three fields are counts of what it has stored.

    `articles_done` counts articles with summaries by every system, `summaries` those of any article, `failures`
    articles that some stage could not finish.
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
    articles_done: int
    summaries: int
    failures: int


def check(spec: RunSpec) -> None:
    """Refuse what a store cannot hold.

    Raises:
        StoreError: A part of the specification is not JSON, or the seed does not fit 64 bits.
    """
    for name in ("recipe", "revisions", "signatures"):
        try:
            json.dumps(dict(getattr(spec, name)), ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise StoreError(f"the {name} of a {spec.job} run cannot be stored as JSON: {error}") from error
    if not -(2**63) <= spec.seed < 2**63:
        raise StoreError(f"the seed {spec.seed} cannot be stored: it needs more than 64 bits")


def create(connection: Connection, spec: RunSpec) -> str:
    now = datetime.now(UTC)
    run_id = f"{spec.job}-{now:%Y%m%d}-{secrets.token_hex(3)}"
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
            driver_epoch=0,
            created_at=now,
        )
    )
    return run_id


def claim(connection: Connection, run_id: str, host: str, pid: int) -> int:
    now = datetime.now(UTC)
    epoch = connection.execute(
        update(RunRow)
        .where(RunRow.id == run_id)
        .values(
            state="running",
            driver_epoch=RunRow.driver_epoch + 1,
            driver_host=host,
            driver_pid=pid,
            heartbeat_at=now,
            started_at=func.coalesce(RunRow.started_at, now),
            finished_at=None,
            error=None,
        )
        .returning(RunRow.driver_epoch)
    ).scalar_one_or_none()
    if epoch is None:
        raise _unknown(connection, run_id)
    return epoch


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
    if run.driver_epoch != epoch:
        raise FencedError(
            f"run {run_id!r} was taken over by pid {run.driver_pid} on {run.driver_host} (driver {run.driver_epoch}; "
            f"this is driver {epoch}): this driver must stop, its results from now on are not stored"
        )
    raise FencedError(
        f"run {run_id!r} is {run.state!r}, no longer 'running': this driver must stop. "
        f"To go on with it: nws resume {run_id}"
    )


def start(
    connection: Connection, run_id: str, epoch: int, total: int | None, device: str | None, code_version: str
) -> None:
    known = info(connection, run_id).code_version
    versions = known if code_version in known.split(", ") else f"{known}, {code_version}"
    write_fenced(connection, run_id, epoch, total_articles=total, device=device, code_version=versions)


def finish(connection: Connection, run_id: str, epoch: int, state: FinalState, error: str | None) -> None:
    write_fenced(connection, run_id, epoch, state=state, finished_at=datetime.now(UTC), error=error)


def find(connection: Connection, recipe_hash: str) -> str | None:
    query = select(RunRow.id).where(RunRow.recipe_hash == recipe_hash)
    return connection.execute(query.order_by(RunRow.created_at.desc(), RunRow.id.desc()).limit(1)).scalar()


def info(connection: Connection, run_id: str) -> RunInfo:
    row = connection.execute(_with_counts().where(RunRow.id == run_id)).one_or_none()
    if row is None:
        raise _unknown(connection, run_id)
    return RunInfo(**row._mapping)


def list_all(connection: Connection) -> list[RunInfo]:
    query = _with_counts().order_by(RunRow.created_at.desc(), RunRow.id.desc())
    return [RunInfo(**row._mapping) for row in connection.execute(query)]


def _with_counts() -> Select[Any]:
    of_run = SummaryRow.run_id == RunRow.id
    # A window function runs after HAVING: on each row the number of groups that are left, that is, of articles.
    done = (
        select(func.count().over())
        .select_from(SummaryRow)
        .where(of_run)
        .group_by(SummaryRow.article_id)
        .having(func.count(SummaryRow.system.distinct()) >= RunRow.systems)
        .limit(1)
        .correlate(RunRow)
        .scalar_subquery()
    )
    summaries = select(func.count()).select_from(SummaryRow).where(of_run).scalar_subquery()
    failed = FailureRow.article_id.distinct()
    failures = select(func.count(failed)).where(FailureRow.run_id == RunRow.id).scalar_subquery()
    return select(
        *RunRow.__table__.columns,
        func.coalesce(done, 0).label("articles_done"),
        summaries.label("summaries"),
        failures.label("failures"),
    )


def _unknown(connection: Connection, run_id: str) -> StoreError:
    newest = connection.execute(select(RunRow.id).order_by(RunRow.created_at.desc(), RunRow.id.desc()).limit(5))
    known = ", ".join(newest.scalars())
    return StoreError(
        f"the store has no run {run_id!r}: " + (f"the newest are {known}" if known else "it holds no run yet")
    )
