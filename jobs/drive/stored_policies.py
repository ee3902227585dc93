"""Policies in the store: what is stored with each, and how they come back as systems that write."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.analysis.points import POLICY
from core.errors import RecipeError, StoreError
from core.learning.checkpoint import Checkpoint, Reading, from_bytes
from core.learning.learner import parameters_in
from core.learning.policies import PolicyConfig
from core.learning.policy_system import PolicySystem, policy_system
from core.learning.training_config import TrainingConfig
from core.models import ModelRef
from jobs.plan.pinned import PlannedTraining
from jobs.store import PolicyCheckpoint, Store


def meaning_of(config: TrainingConfig, planned: PlannedTraining, articles: int) -> dict[str, Any]:
    """What is stored with a policy, so that it can be used without the run's recipe, articles and machines.

    Args:
        config: how it is trained.
        planned: where it belongs.
        articles: how many it learns from.
    """
    plan = planned.plan
    return {
        "system": next(system for system, configs in planned.systems.items() if config in configs),
        "training": asdict(config),
        "reading": asdict(Reading(plan.language, plan.pipeline, plan.encoder)),
        "reward": planned.reward,
        "train_datasets": list(planned.datasets),
        "train_articles": articles,
    }


def stored_systems(run_id: str, newest: Sequence[PolicyCheckpoint]) -> dict[str, PolicySystem]:
    """The policies of a run, from their newest checkpoints, by the name of the system, ready to write."""
    parts: dict[str, list[Checkpoint]] = {}
    for stored in newest:
        parts.setdefault(stored.config["system"], []).append(_checkpoint(run_id, stored))
    return {name: policy_system(checkpoints) for name, checkpoints in parts.items()}


def choose_system(store: Store, run_id: str, named: str | None) -> PolicySystem:
    """The policies of a run that are `named`, with or without `policy|`; the first ones if none are.

    Raises:
        StoreError: the run has no policies.
        RecipeError: none of that name.
    """
    run = store.run_info(run_id)
    systems = stored_systems(run_id, store.checkpoints(run_id))
    if not systems:
        raise StoreError(
            f"run {run_id!r} ({run.job}, {run.state}) has no policies: name a run of `nws submit phase2` that has had "
            "an update"
        )
    if named is None:
        # As the recipe names them: by method, then by seed.
        methods = [method["name"] for method in run.recipe["methods"]]
        return min(systems.values(), key=lambda system: _place(system, methods, run.recipe["seeds"]))
    name = named.removeprefix(POLICY)
    if name not in systems:
        raise RecipeError(f"Run {run_id} has no policies {named!r}. It has {', '.join(systems)}.")
    return systems[name]


def _place(system: PolicySystem, methods: list[str], seeds: list[int]) -> tuple[int, int]:
    method, _, seed = system.name.partition("|seed=")
    return methods.index(method), seeds.index(int(seed))


def _checkpoint(run_id: str, stored: PolicyCheckpoint) -> Checkpoint:
    config: Mapping[str, Any] = stored.config
    reading = config["reading"]
    return Checkpoint(
        name=config["system"],
        config=PolicyConfig(**config["training"]["policies"]),
        lengths=stored.lengths,
        reading=Reading(reading["language"], reading["pipeline"], ModelRef(**reading["encoder"])),
        parameters=parameters_in(from_bytes(stored.state)),
        made_by={
            "run": run_id,
            "updates": stored.updates,
            "total_updates": stored.total_updates,
            **{key: config[key] for key in ("training", "reward", "train_datasets", "train_articles")},
        },
    )
