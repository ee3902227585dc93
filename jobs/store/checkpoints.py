"""What learning produces: checkpoints, updates and episodes. Each function works inside one transaction."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, column, func, select, table

from core.errors import StoreError
from jobs.store.on_conflict import insert, insert_new
from jobs.store.runs import write_fenced
from jobs.store.storable_text import is_storable
from jobs.store.tables import EpisodeRow, PolicyRow, UpdateRow

if TYPE_CHECKING:  # they import torch, which a store does not need
    from core.learning.exchange import ArticleGradient, Decoded
    from core.learning.learner import UpdateStatistics


@dataclass(frozen=True, slots=True)
class PolicyCheckpoint:
    """A pair of policies after `updates` of its `total_updates`: enough to resume its training, or to use it.

    `lengths` are the n it learns; `config` is its training configuration, JSON-able; `state` is its learner, as the
    bytes of a safetensors file.
    """

    name: str
    seed: int
    lengths: tuple[int, ...]
    updates: int
    total_updates: int
    config: Mapping[str, Any]
    state: bytes


@dataclass(frozen=True, slots=True)
class PolicyInfo:
    """How far a pair of policies is; `saved_at`, of its newest checkpoint, is aware, in UTC."""

    name: str
    seed: int
    lengths: tuple[int, ...]
    updates: int
    total_updates: int
    saved_at: datetime


@dataclass(frozen=True, slots=True, eq=False)
class RoundResult:
    """The result of one round for one pair of policies.

    Attributes:
        policy: the name of the pair.
        statistics: of the update.
        gradients: what the update was made of; the samples in them are stored, the gradients are not.
        decoded: the greedy summaries of the finished pair, to be given with its last update.
        checkpoint: the pair after the update. None: the one in the store stays, of which there must be one.
    """

    policy: str
    statistics: "UpdateStatistics"
    gradients: Sequence["ArticleGradient"]
    decoded: Sequence["Decoded"] = ()
    checkpoint: PolicyCheckpoint | None = None


@dataclass(frozen=True, slots=True)
class CurveRow:
    """The sampled episodes of one policy at one n in one update: their number, and means over them.

    `reward_sd` is the sample standard deviation, None where there is but one episode.
    """

    policy: str
    seed: int
    n: int
    update_number: int
    episodes: int
    reward: float
    reward_sd: float | None
    advantage_baseline: float
    entropy: float
    log_probability: float


@dataclass(frozen=True, slots=True)
class GreedyReward:
    """The reward of a finished policy's greedy summary of one of its training articles."""

    policy: str
    seed: int
    article_id: str
    n: int
    reward: float


_CURVE_COLUMNS = tuple(field.name for field in fields(CurveRow))
_CURVE = table("learning_curve", column("run_id"), *map(column, _CURVE_COLUMNS))
_OF_EPISODE = and_(PolicyRow.run_id == EpisodeRow.run_id, PolicyRow.name == EpisodeRow.policy)


def check(results: Sequence[RoundResult]) -> None:
    """Refuse results that a store cannot hold exactly, before anything is written.

    Raises:
        StoreError: A number is NaN or infinite, a text holds NUL or a lone surrogate (Postgres stores neither), a
            configuration is not JSON, or a seed does not fit 64 bits.
    """
    for result in results:
        if result.checkpoint is not None:
            _check_checkpoint(result.checkpoint)
        for row in (_update_row(result), *_episode_rows(result)):
            _check_row(row)


def record(connection: Connection, run_id: str, epoch: int, results: Sequence[RoundResult]) -> None:
    write_fenced(connection, run_id, epoch)
    run_key = {"run_id": run_id}
    checkpoints = [result.checkpoint for result in results if result.checkpoint is not None]
    _save_checkpoints(connection, [run_key | _policy_row(checkpoint) for checkpoint in checkpoints])
    insert_new(connection, UpdateRow, [run_key | _update_row(result) for result in results])
    insert_new(connection, EpisodeRow, [run_key | row for result in results for row in _episode_rows(result)])


def checkpoints(connection: Connection, run_id: str) -> list[PolicyCheckpoint]:
    stored = [
        PolicyCheckpoint(row.name, row.seed, tuple(row.lengths), row.updates, row.total_updates, row.config, row.state)
        for row in connection.execute(select(PolicyRow.__table__).where(PolicyRow.run_id == run_id))
    ]
    # Sorted here, not by the database: the order of text depends on a Postgres database's locale.
    return sorted(stored, key=lambda checkpoint: checkpoint.name)


def infos(connection: Connection, run_id: str) -> list[PolicyInfo]:
    query = select(
        PolicyRow.name,
        PolicyRow.seed,
        PolicyRow.lengths,
        PolicyRow.updates,
        PolicyRow.total_updates,
        PolicyRow.saved_at,
    ).where(PolicyRow.run_id == run_id)
    policies = [
        PolicyInfo(row.name, row.seed, tuple(row.lengths), row.updates, row.total_updates, row.saved_at)
        for row in connection.execute(query)
    ]
    return sorted(policies, key=lambda info: info.name)


def updates(connection: Connection) -> dict[str, tuple[int, int]]:
    query = select(PolicyRow.run_id, func.sum(PolicyRow.updates), func.sum(PolicyRow.total_updates))
    return {row[0]: (int(row[1]), int(row[2])) for row in connection.execute(query.group_by(PolicyRow.run_id))}


def learning_curve(connection: Connection, run_id: str) -> list[CurveRow]:
    query = select(*(_CURVE.c[name] for name in _CURVE_COLUMNS)).where(_CURVE.c.run_id == run_id)
    rows = [CurveRow(*row) for row in connection.execute(query)]
    return sorted(rows, key=lambda row: (row.policy, row.n, row.update_number))


def greedy_rewards(connection: Connection, run_id: str) -> list[GreedyReward]:
    query = (
        select(EpisodeRow.policy, PolicyRow.seed, EpisodeRow.article_id, EpisodeRow.n, EpisodeRow.reward)
        .join(PolicyRow, _OF_EPISODE)
        .where(EpisodeRow.run_id == run_id, EpisodeRow.decoding == "greedy")
    )
    rewards = [GreedyReward(*row) for row in connection.execute(query)]
    return sorted(rewards, key=lambda greedy: (greedy.policy, greedy.article_id, greedy.n))


def _save_checkpoints(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Insert checkpoints, or replace those of fewer updates."""
    if not rows:
        return
    statement = insert(connection, PolicyRow)
    new = statement.excluded
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["run_id", "name"],
            set_={name: new[name] for name in rows[0] if name not in ("run_id", "name")},
            where=new["updates"] > PolicyRow.updates,
        ),
        rows,
    )


def _policy_row(checkpoint: PolicyCheckpoint) -> dict[str, Any]:
    return {
        "name": checkpoint.name,
        "seed": checkpoint.seed,
        "lengths": list(checkpoint.lengths),
        "updates": checkpoint.updates,
        "total_updates": checkpoint.total_updates,
        "config": dict(checkpoint.config),
        "state": checkpoint.state,
        "saved_at": datetime.now(UTC),
    }


def _update_row(result: RoundResult) -> dict[str, Any]:
    numbers = asdict(result.statistics)
    return {"policy": result.policy, "update_number": numbers.pop("update"), **numbers}


def _episode_rows(result: RoundResult) -> Iterator[dict[str, Any]]:
    policy = {"policy": result.policy}
    for gradient in result.gradients:
        place = policy | {"update_number": result.statistics.update, "article_id": gradient.article_id, "n": gradient.n}
        for number, sample in enumerate(gradient.samples):
            yield place | {"sample": number, "decoding": "sampled"} | asdict(sample)
    nothing = dict.fromkeys(("advantage_baseline", "advantage", "entropy", "log_probability"))
    for decoded in result.decoded:
        place = policy | {"update_number": result.statistics.update + 1, "sample": 0, "decoding": "greedy"}
        yield place | asdict(decoded) | nothing


def _check_checkpoint(checkpoint: PolicyCheckpoint) -> None:
    where = f"the checkpoint of policy {checkpoint.name!r} at update {checkpoint.updates}"
    try:
        json.dumps(dict(checkpoint.config), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise StoreError(f"{where} has a configuration that cannot be stored as JSON: {error}") from error
    if not -(2**63) <= checkpoint.seed < 2**63:
        raise StoreError(f"{where} has the seed {checkpoint.seed}, which cannot be stored: it needs more than 64 bits")


def _check_row(row: Mapping[str, Any]) -> None:
    where = f"update {row['update_number']} of policy {row['policy']!r}"
    if "article_id" in row:
        where += f", {row['decoding']} summary {row['sample']} of article {row['article_id']} at n={row['n']}"
    for name, value in row.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise StoreError(f"{where} has {name} = {value}: only finite numbers are stored")
        if isinstance(value, str) and not is_storable(value):
            raise StoreError(f"{where} holds a NUL or half a surrogate pair, which a database cannot keep")
