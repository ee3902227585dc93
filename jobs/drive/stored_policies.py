"""Policies in the store: what is stored with each, and how they come back as systems that write."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from core.analysis.points import POLICY
from core.errors import RecipeError, StoreError
from core.learning.checkpoint import Checkpoint, Reading, from_bytes
from core.learning.learner import parameters_in
from core.learning.policy_system import PolicySystem, policy_system
from core.learning.training_config import PolicyConfig, TrainingConfig
from core.metrics.config import BertScoreConfig
from core.metrics.fluency import Fluency
from core.models import ModelRef
from jobs.recipes.load import parse_recipe
from jobs.recipes.phase2 import Phase2Recipe, system_name
from jobs.recipes.plan import Plan, find_bertscore, find_model_metrics
from jobs.store import PolicyCheckpoint, Store


def describe_training(config: TrainingConfig, plan: Plan, articles: int) -> dict[str, Any]:
    """What is stored with a policy, so that it can be used without the run's recipe, articles and machines.

    Args:
        config: how it is trained.
        plan: of its run.
        articles: how many it is trained on.
    """
    stage, recipe = plan.training, plan.recipe
    assert stage is not None
    assert isinstance(recipe, Phase2Recipe)
    return {
        "system": next(system for system, configs in plan.policies.items() if config in configs),
        "training": asdict(config),
        "reading": {
            **{"language": stage.language, "pipeline": stage.pipeline, "units": stage.units},
            "length_unit": stage.length_unit,
            "encoder": asdict(stage.encoders[0]),
        },
        "reward": plan.reward,
        "train_datasets": [
            {"name": corpus.name, "split": corpus.split, "revision": corpus.revision}
            | {"skip": dataset.skip, "limit": dataset.limit}
            for corpus, dataset in zip(plan.train_corpora, recipe.train_datasets, strict=True)
        ],
        "train_articles": articles,
    }


def stored_systems(
    run_id: str, newest: Sequence[PolicyCheckpoint], bertscore: BertScoreConfig, fluency: Fluency | None
) -> dict[str, PolicySystem]:
    """The policies of a run, from their newest checkpoints, by the name of the system, ready to write greedily.

    Args:
        run_id: the run.
        newest: its checkpoints.
        bertscore: the run's, which measures how close a summary is to an anchor.
        fluency: the run's, if it has one.
    """
    parts: dict[str, list[Checkpoint]] = {}
    for stored in newest:
        parts.setdefault(stored.config["system"], []).append(_checkpoint(run_id, stored, bertscore, fluency))
    return {name: policy_system(checkpoints) for name, checkpoints in parts.items()}


def choose_system(store: Store, run_id: str, named: str | None) -> PolicySystem:
    """The policies of a run that are `named`, with or without `policy|`; the first ones if none are.

    Raises:
        StoreError: the run has no policies.
        RecipeError: none of that name.
    """
    run = store.run_info(run_id)
    newest = store.checkpoints(run_id)
    if not newest:
        raise StoreError(
            f"run {run_id!r} ({run.job}, {run.state}) has no policies: name a run of `nws submit phase2` that has had "
            "an update"
        )
    recipe = parse_recipe(Phase2Recipe, run.recipe, run_id)
    by_models = find_model_metrics(recipe, newest[0].config["reading"]["language"])
    fluency = next((metric for metric in by_models if isinstance(metric, Fluency)), None)
    trained = stored_systems(run_id, newest, find_bertscore(recipe), fluency)
    # As the recipe names them: by method, then by seed, then by decoding.
    names = [system_name(method.name, seed) for method in recipe.methods for seed in recipe.seeds]
    writing = [
        replace(trained[name], decoding=decoding) for name in names if name in trained for decoding in recipe.decodings
    ]
    systems = {system.signature: system for system in writing}
    if named is None:
        return writing[0]
    signature = POLICY + named.removeprefix(POLICY)
    if signature not in systems:
        has = ", ".join(name.removeprefix(POLICY) for name in systems)
        raise RecipeError(f"Run {run_id} has no policies {named!r}. It has {has}.")
    return systems[signature]


def _checkpoint(
    run_id: str, stored: PolicyCheckpoint, bertscore: BertScoreConfig, fluency: Fluency | None
) -> Checkpoint:
    config: Mapping[str, Any] = stored.config
    stored_reading = config["reading"]
    reading = Reading(
        language=stored_reading["language"],
        pipeline=stored_reading["pipeline"],
        encoder=ModelRef(**stored_reading["encoder"]),
        bertscore=bertscore,
        units=stored_reading["units"],
        fluency=fluency,
        length_unit=stored_reading["length_unit"],
    )
    return Checkpoint(
        name=config["system"],
        config=PolicyConfig(**config["training"]["policies"]),
        lengths=stored.lengths,
        reading=reading,
        parameters=parameters_in(from_bytes(stored.state)),
        seed=stored.seed,
        made_by={
            "run": run_id,
            "updates": stored.updates,
            "total_updates": stored.total_updates,
            **{key: config[key] for key in ("training", "reward", "train_datasets", "train_articles")},
        },
    )
