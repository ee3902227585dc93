"""What drivers report: logs, progress, and policies with their checkpoints, updates and episodes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, and_, column, select, table

from nws.core.types import CurveRow as CurveRow
from nws.core.types import GreedyReward as GreedyReward
from nws.jobs.store.engine import upsert
from nws.jobs.store.tables import EpisodeRow, LogLineRow, PolicyRow, ProgressRow

if TYPE_CHECKING:  # these import torch, which a store does not need
    from nws.core.learning.exchange import ArticleGradient, Decoded
    from nws.core.learning.learner import UpdateStatistics


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a driver's log; `logged_at` is aware, in UTC."""

    logged_at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a driver.

    Attributes:
        recorded_at: the time of this report by the driver's clock; aware, in UTC.
        stage: the name of the stage.
        unit: the unit of the counts, `articles` or `updates`.
        finished: the number that is done or failed.
        failed: the number that failed with this driver.
        total: the number of all; None if unknown.
        span_seconds: the length of the span that the speed is measured in (`nws.jobs.drive.progress.Span`); 0 at first.
        span_finished: the number that was finished in this span.
        newest: the id of one of the articles that were stored last; None at first.
    """

    recorded_at: datetime
    stage: str
    unit: str = "articles"
    finished: int = 0
    failed: int = 0
    total: int | None = None
    span_seconds: float = 0.0
    span_finished: int = 0
    newest: str | None = None


@dataclass(frozen=True, slots=True)
class _Policies:
    """A pair of policies after `updates` of its `total_updates`. `lengths` are the n that it is trained for."""

    name: str
    seed: int
    lengths: tuple[int, ...]
    updates: int
    total_updates: int


@dataclass(frozen=True, slots=True)
class PolicyCheckpoint(_Policies):
    """A checkpoint: enough to resume the training of a pair of policies, or to use the pair.

    `config` is its training configuration, as plain values. `state` is its learner, as the bytes of a safetensors file.
    """

    config: Mapping[str, Any]
    state: bytes


@dataclass(frozen=True, slots=True)
class PolicyInfo(_Policies):
    """The progress of a pair of policies. `saved_at` is the time of its newest checkpoint, aware, in UTC."""

    saved_at: datetime


@dataclass(frozen=True, slots=True, eq=False)
class RoundResult:
    """The result of one round for one pair of policies.

    Attributes:
        policy: the name of the pair.
        statistics: the numbers of the update.
        gradients: the gradients of the update. Their samples are stored, the gradients are not.
        decoded: the greedy summaries of the finished pair, which come with its last update.
        checkpoint: the pair after the update; None if no new checkpoint is stored.
    """

    policy: str
    statistics: "UpdateStatistics"
    gradients: Sequence["ArticleGradient"]
    decoded: Sequence["Decoded"] = ()
    checkpoint: PolicyCheckpoint | None = None


Policy = TypeVar("Policy", PolicyCheckpoint, PolicyInfo)
_CURVE_COLUMNS = tuple(field.name for field in fields(CurveRow))
_CURVE = table("learning_curve", column("run_id"), *map(column, _CURVE_COLUMNS))


def log(connection: Connection, run_id: str, after: int = 0) -> list[tuple[int, LogLine]]:
    """Read the log lines of a run's drivers after number `after`, with their numbers, from 1.

    The lines of a sharded run come from the process that starts the drivers of its shards.
    """
    query = select(LogLineRow).where(LogLineRow.run_id == run_id, LogLineRow.number > after)
    rows = connection.execute(query.order_by(LogLineRow.number))
    return [(row.number, LogLine(row.logged_at, row.text)) for row in rows]


def newest_log(connection: Connection, run_id: str, count: int) -> list[LogLine]:
    """Read the last log lines of a run's drivers, at most `count`, the oldest first."""
    query = select(LogLineRow.logged_at, LogLineRow.text).where(LogLineRow.run_id == run_id)
    rows = connection.execute(query.order_by(LogLineRow.number.desc()).limit(count)).all()
    return [LogLine(row.logged_at, row.text) for row in reversed(rows)]


def progress_of(connection: Connection, run_ids: Sequence[str]) -> dict[str, Progress]:
    """Read the last progress that the drivers of these runs reported, by run. Runs without a report are left out."""
    progress = {}
    query = select(ProgressRow.run_id, ProgressRow.recorded_at, ProgressRow.numbers)
    for run_id, recorded_at, numbers in connection.execute(query.where(ProgressRow.run_id.in_(run_ids))):
        progress[run_id] = Progress(recorded_at, **numbers)
    return progress


def checkpoints(connection: Connection, run_id: str) -> list[PolicyCheckpoint]:
    """Read the newest checkpoint of each policy of a run, in the order of their names."""
    return _read_policies(connection, run_id, PolicyCheckpoint)


def policy_infos(connection: Connection, run_id: str) -> list[PolicyInfo]:
    """Read the progress of each policy of a run, in the order of their names."""
    return _read_policies(connection, run_id, PolicyInfo)


def learning_curve(connection: Connection, run_id: str) -> list[CurveRow]:
    """Read the rewards of a run's sampled episodes, by policy, n and update."""
    query = select(*(_CURVE.c[name] for name in _CURVE_COLUMNS)).where(_CURVE.c.run_id == run_id)
    rows = [CurveRow(*row) for row in connection.execute(query)]
    return sorted(rows, key=lambda row: (row.policy, row.n, row.update_number))


def greedy_rewards(connection: Connection, run_id: str) -> list[GreedyReward]:
    """Read the rewards of the greedy summaries of finished policies, by policy, article and n."""
    query = (
        select(EpisodeRow.policy, PolicyRow.seed, EpisodeRow.article_id, EpisodeRow.n, EpisodeRow.reward)
        .join(PolicyRow, and_(PolicyRow.run_id == EpisodeRow.run_id, PolicyRow.name == EpisodeRow.policy))
        .where(EpisodeRow.run_id == run_id, EpisodeRow.decoding == "greedy")
    )
    rewards = [GreedyReward(*row) for row in connection.execute(query)]
    return sorted(rewards, key=lambda greedy: (greedy.policy, greedy.article_id, greedy.n))


def _read_policies(connection: Connection, run_id: str, kind: type[Policy]) -> list[Policy]:
    columns = (PolicyRow.__table__.columns[field.name] for field in fields(kind))
    rows = connection.execute(select(*columns).where(PolicyRow.run_id == run_id))
    policies = [kind(**{**row._mapping, "lengths": tuple(row.lengths)}) for row in rows]
    return sorted(policies, key=lambda policy: policy.name)


def save_checkpoints(connection: Connection, run_id: str, checkpoints: Sequence[PolicyCheckpoint]) -> None:
    """Insert checkpoints, or replace those of fewer updates."""
    if not checkpoints:
        return
    now = datetime.now(UTC)
    rows = [asdict(checkpoint) | {"run_id": run_id, "saved_at": now} for checkpoint in checkpoints]
    statement = upsert(connection, PolicyRow)
    new = statement.excluded
    key, is_newer = ("run_id", "name"), new["updates"] > PolicyRow.updates
    values = {name: new[name] for name in rows[0] if name not in key}
    connection.execute(statement.on_conflict_do_update(index_elements=key, set_=values, where=is_newer), rows)


def update_row(result: RoundResult) -> dict[str, Any]:
    numbers = asdict(result.statistics)
    return {"policy": result.policy, "update_number": numbers.pop("update"), **numbers}


def episode_rows(result: RoundResult) -> Iterator[dict[str, Any]]:
    policy = {"policy": result.policy}
    for gradient in result.gradients:
        place = policy | {"update_number": result.statistics.update, "article_id": gradient.article_id, "n": gradient.n}
        for number, sample in enumerate(gradient.samples):
            yield place | {"sample": number, "decoding": "sampled"} | asdict(sample)
    nothing = dict.fromkeys(("advantage_baseline", "advantage", "entropy", "log_probability"))
    for decoded in result.decoded:
        place = policy | {"update_number": result.statistics.update + 1, "sample": 0, "decoding": "greedy"}
        yield place | asdict(decoded) | nothing
