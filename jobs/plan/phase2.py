"""Phase 2, policies that learn: what a recipe trains, on which articles, and what the policies are compared with."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.analysis.content_kept import ContentKept
from core.errors import RecipeError
from core.learning.policy_system import PolicySystem
from core.learning.reward import FLUENCY, RewardConfig, reward_signature
from core.metrics.specs import KEPT
from core.summarizers.extractive_baselines import make_baseline
from core.text.dataset import OpenDataset
from core.text.near_copies import MOST_SHARED, WORDS, near_copies
from core.types import Article
from core.worker_factories import EpisodePlan
from jobs.plan.panels import panel_of
from jobs.plan.pinned import (
    Pinned,
    PlannedStage,
    PlannedTraining,
    common_language,
    open_corpora,
    pin_model,
    pin_setting,
    pinned_datasets,
    pinned_text,
)
from jobs.plan.revisions import dataset_revisions
from jobs.plan.sweep import with_rulers
from jobs.recipes.base import LENGTHS
from jobs.recipes.phase2 import Phase2Recipe, system_name
from jobs.store import Stage, Store

EVALUATION = "evaluation"
LEAST, ENOUGH = 0.8, 0.9
"""Shares of what a system's longest n keeps: from where the first is kept to where the second is."""


def pin(recipe: Phase2Recipe, corpora: tuple[OpenDataset, ...] | None = None) -> Pinned:
    """Look up every revision a recipe leaves open, and open its datasets. Loads no model.

    Args:
        recipe: what is pinned.
        corpora: its test datasets, where they are at hand; they are opened unless given.

    Raises:
        NwsError: a model, dataset, pipeline or revision cannot be found, or a test article is a near copy
            of a training article.
    """
    encoder = pin_model(recipe.encoder)
    setting = pin_setting(recipe, corpora)
    train_corpora = open_corpora(recipe.train_datasets)
    language = common_language(train_corpora)
    if language != setting.language:
        raise RecipeError(
            f"The training articles are in {language!r} and the test articles in {setting.language!r}: take both from "
            "one language."
        )
    require_disjoint(train_corpora, setting.corpora)
    bertscore = replace(setting.metrics.bertscore, precision=recipe.reward.precision)
    fluency = setting.metrics.fluency if FLUENCY in recipe.reward.weights else None
    reward = RewardConfig(bertscore, tuple(recipe.reward.weights.items()), language, fluency)
    panels = tuple(map(panel_of, train_corpora)) if KEPT.name in recipe.reward.weights else ()
    training = PlannedTraining(
        systems={
            system_name(method.name, seed): method.trainings(seed, recipe.n)
            for method in recipe.methods
            for seed in recipe.seeds
        },
        plan=EpisodePlan(
            language=language,
            pipeline=setting.pipeline,
            encoder=encoder,
            reward=reward,
            precision=recipe.precision,
            language_data=setting.language_data,
            panels=panels,
            units=setting.units,
            length_unit=recipe.length_unit,
        ),
        corpora=train_corpora,
        datasets=tuple(
            {"name": corpus.name, "split": corpus.split, "revision": corpus.revision}
            | {"skip": dataset.skip, "limit": dataset.limit}
            for corpus, dataset in zip(train_corpora, recipe.train_datasets, strict=True)
        ),
        reward=reward_signature(reward),
    )
    policies = [PolicySystem(name, decoding=decoding) for name in training.systems for decoding in recipe.decodings]
    recipe = recipe.model_copy(update={"systems": with_rulers(recipe.systems, setting.corpora)})
    rivals = [make_baseline(name, encoder.name, recipe.seed) for name in recipe.systems]
    plan = setting.sweep_plan(recipe, (encoder,), (*policies, *rivals))
    pinned = {"encoder": pinned_text(encoder), "train_datasets": pinned_datasets(recipe.train_datasets, train_corpora)}
    return Pinned(
        recipe=recipe.model_copy(update=setting.in_recipe(recipe) | pinned),
        stages=(PlannedStage(Stage(EVALUATION, plan.signatures), plan),),
        metrics=setting.metrics,
        corpora=setting.corpora,
        revisions={
            "encoders": {encoder.name: str(encoder)},
            "train_datasets": dataset_revisions(train_corpora),
            **setting.revisions,
        },
        training=training,
    )


def require_disjoint(train: Sequence[OpenDataset], test: Sequence[OpenDataset]) -> None:
    """Refuse to evaluate policies on articles that they were trained on.

    Raises:
        RecipeError: a test article is a near copy of a training article (`core.text.near_copies`).
    """
    copies = list(near_copies(_articles(test), _articles(train)))
    if copies:
        worst = max(copies, key=lambda copy: copy.shared)
        others = f" There are {len(copies)} such pairs." if len(copies) > 1 else ""
        raise RecipeError(
            f"Test article {worst.first.key!r} of {worst.first.dataset} is a near copy of training article "
            f"{worst.second.key!r} of {worst.second.dataset}: the smaller one shares {worst.shared:.0%} of its word "
            f"{WORDS}-grams with the other, and {MOST_SHARED:.0%} is allowed.{others} A policy must not be evaluated "
            "on what it was trained on. Take another split, or leave the articles out (skip and limit in a recipe)."
        )


def _articles(corpora: Iterable[OpenDataset]) -> Iterable[Article]:
    return (article for corpus in corpora for article in corpus)


def lengths_from(store: Store, run_id: str) -> tuple[int, ...]:
    """The lengths of a run's grid that its answer names, see `named_lengths`.

    Raises:
        StoreError: there is no such run.
        RecipeError: its lengths are not words, or its answer names no length.
    """
    run = store.run_info(run_id)
    if run.length_unit != "words":
        raise RecipeError(
            f"The n of run {run_id} are {run.length_unit}, and n names words: give the characters themselves.",
            settings=LENGTHS,
        )
    lengths = named_lengths(store.answer(run_id).of_systems)
    if not lengths:
        raise RecipeError(
            f"No length of run {run_id} can be named: no system keeps any content at its longest n. Give the lengths "
            "themselves.",
            settings=("n",),
        )
    return lengths


def named_lengths(kept: Iterable[ContentKept]) -> tuple[int, ...]:
    """The n of the best system of each dataset from where it keeps `LEAST` of what its longest n keeps to `ENOUGH`.

    The best keeps most at its longest n. Controls and upper bounds do not count.
    """
    of_systems = {(one.dataset, one.system, one.of): one for one in kept if one.kind == "system"}
    whole = [one for one in of_systems.values() if one.of == "reference"]
    lengths = set[int]()
    for dataset in dict.fromkeys(one.dataset for one in whole):
        best = max((one for one in whole if one.dataset == dataset), key=lambda one: one.lengths[-1].share.mean)
        own = of_systems.get((dataset, best.system, "longest"))  # there is none of a system that keeps nothing
        if own is not None:
            at = {smallest.x: smallest.n for smallest in own.smallest}
            first, last = at[LEAST], at[ENOUGH]
            if first is not None and last is not None:
                lengths |= {share.n for share in own.lengths if first <= share.n <= last}
    return tuple(sorted(lengths))
