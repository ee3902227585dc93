"""The training of a run's policies: each round of updates is stored before the next one begins.

Trained policies are read back from the store, as systems that write summaries.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import torch

from nws.cluster.pools import EpisodePool
from nws.core.article import Article
from nws.core.errors import NwsError, RecipeError, StoreError
from nws.core.learning.checkpoint import Checkpoint, Reading, from_bytes, to_bytes
from nws.core.learning.exchange import Decoded
from nws.core.learning.learner import Learner, Updated, parameters_in, train
from nws.core.learning.policies import make_policies
from nws.core.learning.policy_system import PolicySystem, policy_system
from nws.core.learning.training_config import PolicyConfig, TrainingConfig
from nws.core.metrics.config import BertScoreConfig
from nws.core.metrics.fluency import Fluency
from nws.core.models import ModelRef
from nws.core.models.encoders import embedding_width
from nws.core.stage import Stage
from nws.core.types import POLICY, UNTRAINED, BundleResult
from nws.jobs.drive.pools import Pools, PoolWatch, check_sources
from nws.jobs.drive.run import Run
from nws.jobs.drive.trackers import Trackers, update_scalars
from nws.jobs.recipes.load import parse_recipe
from nws.jobs.recipes.phase2 import Phase2Recipe, system_name
from nws.jobs.recipes.plan import Plan, find_bertscore, find_model_metrics
from nws.jobs.store import PolicyCheckpoint, RoundResult, Store

CHECKPOINT_BYTES = 64 * 1024
"""The most bytes of checkpoints for each update of a pair, on average."""
_REPORTS = 10
"""The number of times that a training reports its progress."""


def train_policies(run: Run, plan: Plan, pools: Pools, trackers: Trackers) -> None:
    """Train all policies from their newest checkpoints to their last update.

    Updates after a checkpoint are computed again. Their rows, if stored already, stay as they are.

    Raises:
        NwsError: no article can be trained on, a gradient is not finite, or workers cannot go on.
    """
    assert plan.training is not None
    assert plan.training.reward is not None
    checkpoints = {checkpoint.name: checkpoint for checkpoint in run.store.checkpoints(run.id)}
    run.say("Stage training: loading models, and preparing the training articles.")
    if not plan.training.reward.reads_references:
        run.say("The reward does not read the references of the training articles.")
    with pools.open_episodes(plan.training) as pool:
        articles = _prepared(run, plan, plan.training, pool, bool(checkpoints))
        watch = PoolWatch(run, pools.device)
        watch.check_actors(pool.actors)
        learners = [_learner(config, plan.training, checkpoints.get(config.name)) for config in plan.trainings]
        total = sum(learner.training.updates(len(articles)) for learner in learners)
        done = sum(learner.update for learner in learners)
        learn = functools.partial(pool.learn, look_around=run.check)
        with run.progress("training", total, done, unit="updates") as advance:
            for updated in train(learners, learn, articles):
                watch.check_actors(pool.actors)
                finished = [result.learner for result in updated if _is_done(result.learner, articles)]
                decoded = _decoded(run, pool, finished, articles)
                results = [_result(result, plan, articles, decoded) for result in updated]
                run.record_round(results)
                trackers.log(update_scalars(updated))
                advance(len(updated), 0)
                _report_progress(run, updated, articles)
    check_sources(run)


def _prepared(run: Run, plan: Plan, stage: Stage, pool: EpisodePool, has_begun: bool) -> list[Article]:
    """Return the training articles that can be prepared, in corpus order.

    Updates depend on which articles these are, so they stay the same once a training has begun.
    """
    articles = [article for corpus in plan.train_corpora for article in corpus]
    failures = run.store.failures(run.id)
    failed = {failure.article_id for failure in failures if failure.stage == stage.name} if has_begun else set()
    wanted = [article for article in articles if article.id not in failed]
    with run.progress(stage.name, len(wanted)) as advance:
        for prepared in pool.prepare(wanted, run.check):
            lost = [failure for _, failure in prepared if failure]
            if has_begun and lost:
                # A failure that is recorded would leave the article out from then on.
                raise NwsError(
                    f"Article {lost[0].article_id} could be prepared for training before, and now cannot: "
                    f"{lost[0].message}. Without it the policies would differ. Resume the run on a machine that can "
                    "prepare it, or submit a new run."
                )
            landed = [((article,), BundleResult((), (failure,) if failure else ())) for article, failure in prepared]
            if landed:
                run.record(landed, stage.name)
            failed |= {failure.article_id for failure in lost}
            advance(len(prepared) - len(lost), len(lost))
    usable = [article for article in wanted if article.id not in failed]
    if not usable:
        raise NwsError(f"None of the {len(articles)} training articles can be used. To see why: nws status {run.id}")
    return usable


def _learner(config: TrainingConfig, stage: Stage, stored: PolicyCheckpoint | None) -> Learner:
    if stored is not None:
        return Learner.from_state(config, from_bytes(stored.state))
    return Learner(config, _new_policies(config, stage))


def _new_policies(config: TrainingConfig, stage: Stage) -> dict[str, torch.Tensor]:
    """Return the parameters that a training begins with."""
    # Features have the same width with every encoder.
    width = embedding_width(stage.encoders[0]) if config.policies.inputs == "embeddings" else 0
    return make_policies(config.policies, width, config.seed).state_dict()


def _is_done(learner: Learner, articles: Sequence[Article]) -> bool:
    return learner.update == learner.training.updates(len(articles))


def _decoded(
    run: Run, pool: EpisodePool, finished: Sequence[Learner], articles: Sequence[Article]
) -> dict[str, list[Decoded]]:
    """Return the greedy summaries of the training articles by finished policies, by name of the policy."""
    if not finished:
        return {}
    requests = [
        (learner.broadcast(), [(article, n) for article in articles for n in learner.training.lengths])
        for learner in finished
    ]
    decoded = pool.decode(requests, run.check)
    return {learner.training.name: texts for learner, texts in zip(finished, decoded, strict=True)}


def _result(
    updated: Updated, plan: Plan, articles: Sequence[Article], decoded: Mapping[str, Sequence[Decoded]]
) -> RoundResult:
    learner, training = updated.learner, updated.learner.training
    checkpoint = None
    if should_checkpoint(learner, len(articles)):
        checkpoint = PolicyCheckpoint(
            name=training.name,
            seed=training.seed,
            lengths=training.lengths,
            updates=learner.update,
            total_updates=training.updates(len(articles)),
            config=describe_training(training, plan, len(articles)),
            state=to_bytes(learner.state()),
        )
    texts = decoded.get(training.name, ())
    return RoundResult(training.name, updated.statistics, updated.gradients, texts, checkpoint)


def should_checkpoint(learner: Learner, articles: int) -> bool:
    """Return whether the checkpoint after a learner's newest update is stored.

    All checkpoints of a small pair are stored. Those of a large pair are stored after the first update, after the last
    one, and in between so often that `CHECKPOINT_BYTES` are written per update. The draws follow from the seed and the
    number of the update, so updates after a checkpoint can be computed again, equal to the last bit.
    """
    every = -(-learner.state_bytes // CHECKPOINT_BYTES)
    return learner.update in (1, learner.training.updates(articles)) or learner.update % every == 0


def _report_progress(run: Run, updated: Sequence[Updated], articles: Sequence[Article]) -> None:
    """Log the rewards of each policy `_REPORTS` times in its training."""
    for result in updated:
        training, numbers = result.learner.training, result.statistics
        total = training.updates(len(articles))
        if result.learner.update * _REPORTS // total > numbers.update * _REPORTS // total:
            run.say(
                f"{training.name}: update {result.learner.update}/{total}, reward {numbers.reward:.3f}, "
                f"entropy {numbers.entropy:.2f}, gradient norm {numbers.grad_norm:.2f}"
            )


def describe_training(config: TrainingConfig, plan: Plan, articles: int) -> dict[str, Any]:
    """Return the values that are stored with a policy, so that it can be used without its run.

    Args:
        config: the configuration of its training.
        plan: the plan of its run.
        articles: the number of articles that it is trained on.
    """
    stage, recipe = plan.training, plan.recipe
    assert stage is not None
    assert isinstance(recipe, Phase2Recipe)
    return {
        "system": next(system for system, configs in plan.policies.items() if config in configs),
        "training": asdict(config),
        "reading": {name: getattr(stage, name) for name in ("language", "pipeline", "units", "length_unit")}
        | {"encoder": asdict(stage.encoders[0])},
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
    """Load the policies of a run from their newest checkpoints, by the name of the system, with greedy decoding.

    Args:
        run_id: the run.
        newest: its checkpoints.
        bertscore: the run's BERTScore, which measures how close a summary is to an anchor.
        fluency: the run's fluency metric, if it has one.
    """
    parts: dict[str, list[Checkpoint]] = {}
    for stored in newest:
        parts.setdefault(stored.config["system"], []).append(_stored_checkpoint(run_id, stored, bertscore, fluency))
    return {name: policy_system(checkpoints) for name, checkpoints in parts.items()}


def untrained_system(plan: Plan, stage: Stage) -> PolicySystem:
    """Return the untrained pair that the run's first training begins with, with greedy decoding.

    Comparing with it shows what training adds.

    Args:
        plan: the plan of the run.
        stage: the stage that it writes in.
    """
    config, metrics = plan.trainings[0], stage.metrics
    models = (stage.encoders[0], metrics.bertscore, stage.units, metrics.fluency)
    reading = Reading(stage.language, stage.pipeline, *models, stage.length_unit)
    parameters = {name: value.numpy() for name, value in _new_policies(config, stage).items()}
    return policy_system([Checkpoint(UNTRAINED, config.policies, stage.lengths, reading, parameters, config.seed)])


def choose_system(store: Store, run_id: str, named: str | None) -> PolicySystem:
    """Return the policies of a run by their name, with or without `policy|`; the first policies if `named` is None.

    Raises:
        StoreError: the run has no policies.
        RecipeError: the run has no policies of that name.
    """
    run = store.run_info(run_id)
    newest = store.checkpoints(run_id)
    if not newest:
        raise StoreError(
            f"run {run_id!r} ({run.job}, {run.state}) has no policies. Name a run of `nws submit phase2` with at least "
            "one update"
        )
    recipe = parse_recipe(Phase2Recipe, run.recipe, run_id)
    by_models = find_model_metrics(recipe, newest[0].config["reading"]["language"])
    fluency = next((metric for metric in by_models if isinstance(metric, Fluency)), None)
    trained = stored_systems(run_id, newest, find_bertscore(recipe), fluency)
    # In the order of the recipe: by method, then by seed, then by decoding.
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


def _stored_checkpoint(
    run_id: str, stored: PolicyCheckpoint, bertscore: BertScoreConfig, fluency: Fluency | None
) -> Checkpoint:
    config: Mapping[str, Any] = stored.config
    values = config["reading"] | {"encoder": ModelRef(**config["reading"]["encoder"])}
    reading = Reading(**values, bertscore=bertscore, fluency=fluency)
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
