"""From the recipe of any job to its plan; for phase2, also the policies and their articles."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nws.core.errors import RecipeError
from nws.core.learning.policy_system import PolicySystem
from nws.core.learning.training_config import FLUENCY, RewardConfig
from nws.core.metrics.kept import Panel
from nws.core.metrics.specs import KEPT_SPEC
from nws.core.models import ModelRef
from nws.core.models.generators import Generator
from nws.core.models.tokens import MOST_UNREAD, unread_share
from nws.core.plugins.load import Plugin
from nws.core.stage import Stage
from nws.core.systems.extractive_baselines import make_baseline
from nws.core.text.dataset import OpenDataset
from nws.core.text.language import Language, is_korean
from nws.core.text.length import length_of
from nws.core.text.near_copies import MOST_SHARED, WORDS, near_copies
from nws.core.types import UNTRAINED
from nws.jobs.recipes.base import RunRecipe
from nws.jobs.recipes.load import load_recipe, parse_recipe, recipe_class
from nws.jobs.recipes.outside import try_plugins, with_plugins, with_predictions
from nws.jobs.recipes.phase2 import Phase2Recipe, system_name
from nws.jobs.recipes.plan import (
    Plan,
    build_plan,
    common_stage,
    dataset_revisions,
    find_model,
    language_of,
    open_corpora,
    panel_of,
    pinned_datasets,
    pinned_text,
)
from nws.jobs.recipes.sweep_plan import plan_sweep, with_rulers
from nws.jobs.recipes.sweep_recipe import SweepRecipe

USUAL = 21
"""The longest n of the bundled recipes, which may also run on texts of a few words."""


def make_plan(
    recipe: RunRecipe,
    corpora: tuple[OpenDataset, ...] | None = None,
    language: Language | None = None,
    panels: tuple[Panel, ...] | None = None,
    session: Sequence[Plugin] = (),
) -> Plan:
    """Make the plan of a recipe: look up all that it leaves open, its plugins and its predictions. Loads no model.

    Args:
        recipe: the recipe of any job.
        corpora: its datasets, if they are open already.
        language: the language of a shard, which its parent has decided.
        panels: the panels of a shard, which its parent has decided.
        session: plugins of this process, besides those that the recipe names.

    Raises:
        NwsError: something cannot be found or read, or is not usable.
    """
    if isinstance(recipe, Phase2Recipe):
        plan = plan_phase2(recipe, corpora)
    else:
        assert isinstance(recipe, SweepRecipe)
        plan = plan_sweep(recipe, corpora, language, panels)
    if recipe.plugins or session:
        plan = with_plugins(plan, session)
    if recipe.predictions:
        plan = with_predictions(plan)
    # Last, since plugins may use the encoder of the recipe. Policies use theirs once they are trained.
    if plan.training is None:
        plan = replace(plan, stages=tuple(stage.without_unused_encoders() for stage in plan.stages))
    return plan


def new_plan(recipe: RunRecipe, corpora: tuple[OpenDataset, ...] | None = None, session: Sequence[Plugin] = ()) -> Plan:
    """Make the plan of a new run, see `make_plan`, and refuse what would fail with every article.

    Raises:
        NwsError: see `make_plan`; or no article is as long as an n, a model cannot read the articles, or a system or
            metric of a plugin does not work.
    """
    plan = make_plan(recipe, corpora, session=session)
    require_long_enough(plan)
    require_readable(plan)
    if recipe.plugins or session:
        try_plugins(plan)
    return plan


def plan_job(job: str, name: str, overrides: Mapping[str, Any]) -> Plan:
    """Make the plan of a new run from a bundled recipe or a YAML file, see `load_recipe`.

    Raises:
        NwsError: the recipe is not usable, or see `new_plan`.
    """
    return new_plan(load_recipe(recipe_class(job), name, overrides))


def plan_again(
    job: str,
    recipe: Mapping[str, Any],
    language: Language | None = None,
    panels: tuple[Panel, ...] | None = None,
) -> Plan:
    """Make the plan of a run from its stored recipe. The parent of a shard has decided `language` and `panels`.

    Raises:
        NwsError: see `make_plan`.
    """
    parsed = parse_recipe(recipe_class(job), recipe, "stored with the run")
    return make_plan(parsed, language=language, panels=panels)


def require_long_enough(plan: Plan) -> None:
    """Refuse chosen lengths above `USUAL` if no article is that long. Streamed articles are not checked.

    Raises:
        RecipeError: names the longest n and the length of the longest article.
    """
    unit, wanted = plan.recipe.length_unit, max(plan.recipe.n)
    is_known = wanted > USUAL and not plan.lengths_end and all(corpus.ids is not None for corpus in plan.corpora)
    if is_known and all(length_of(article.text, unit) < wanted for corpus in plan.corpora for article in corpus):
        longest = max(length_of(article.text, unit) for corpus in plan.corpora for article in corpus)
        raise RecipeError(
            f"n = {wanted} is too long: the longest of the {plan.articles} articles has {longest} {unit}. Choose "
            "smaller n.",
            settings=("n" if unit == "words" else "max_chars",),
        )


def require_readable(plan: Plan) -> None:
    """Refuse models whose vocabulary does not cover Korean articles. Loads their tokenizers.

    The first Korean article of each dataset is tried. English is not checked, since all known models read English.

    Raises:
        RecipeError: names every such model, and the options that choose others.
        NwsError: a tokenizer cannot be found or loaded.
    """
    if plan.language == "en":
        return
    firsts = [next(article for article in corpus if is_korean(article.text)) for corpus in plan.corpora]
    texts = [text for article in firsts for text in (article.text, *article.references)]
    unread = [f"{role} {model.name}" for role, model in _models(plan) if unread_share(model, texts) > MOST_UNREAD]
    if unread:
        raise RecipeError(
            f"The articles of {', '.join(corpus.name for corpus in plan.corpora)} are Korean, and these models cannot "
            f"read them: {', '.join(unread)}. Their tokenizers turn more than {100 * MOST_UNREAD:.0f} % of the words "
            "into unknown tokens or into pieces smaller than a syllable. Name models with a Korean vocabulary, such as "
            "--encoder sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2, "
            "--bertscore-model google-bert/bert-base-multilingual-cased, "
            "or --system with a checkpoint that was trained on Korean."
        )


def _models(plan: Plan) -> Iterator[tuple[str, ModelRef]]:
    """Yield the models of a run, each once with its role."""
    roles = [("encoder", model) for stage in plan.stages for model in stage.encoders]
    generators = (stage.generator for stage in plan.stages if isinstance(stage.generator, Generator))
    roles += [("generator", generator.model) for generator in generators]
    yield from dict.fromkeys([*roles, ("BERTScore backbone", plan.metrics.bertscore.model)])


def plan_phase2(recipe: Phase2Recipe, corpora: tuple[OpenDataset, ...] | None = None) -> Plan:
    """Make the plan of a phase2 recipe: look up its revisions, and open its datasets. Loads no model.

    Args:
        recipe: the recipe.
        corpora: its test datasets, if they are open already.

    Raises:
        NwsError: a model, dataset, pipeline or revision cannot be found, or a test article is a near copy of a
            training article.
    """
    encoder = find_model(recipe.encoder)
    corpora = open_corpora(recipe.datasets) if corpora is None else corpora
    common = replace(common_stage(recipe, language_of(corpora)), encoders=(encoder,))
    train_corpora = open_corpora(recipe.train_datasets)
    language = language_of(train_corpora)
    if language != common.language:
        raise RecipeError(
            f"The training articles are in {language!r} and the test articles in {common.language!r}. Choose articles "
            "in one language."
        )
    require_disjoint(train_corpora, corpora)
    policies = {
        system_name(method.name, seed): method.trainings(seed, recipe.n)
        for method in recipe.methods
        for seed in recipe.seeds
    }
    recipe = recipe.model_copy(update={"systems": with_rulers(recipe.systems, corpora)})
    names = (*policies, UNTRAINED)
    learned = [PolicySystem(name, decoding=decoding) for name in names for decoding in recipe.decodings]
    rivals = [make_baseline(name, encoder.name, recipe.seed) for name in recipe.systems]
    pinned = {"encoder": pinned_text(encoder), "train_datasets": pinned_datasets(recipe.train_datasets, train_corpora)}
    revisions = {"encoders": {encoder.name: str(encoder)}, "train_datasets": dataset_revisions(train_corpora)}
    stage = replace(common, name="evaluation", systems=(*learned, *rivals))
    training = _training(recipe, common, train_corpora)
    others = {"training": training, "policies": policies, "train_corpora": train_corpora}
    return build_plan(recipe, [stage], corpora, pinned, revisions, **others)


def _training(recipe: Phase2Recipe, common: Stage, corpora: Sequence[OpenDataset]) -> Stage:
    """Make the stage in which policies are trained. Of the metrics, it has only those in the reward."""
    weights = recipe.reward.weights
    bertscore = replace(common.metrics.bertscore, precision=recipe.reward.precision)
    fluency = common.metrics.fluency if FLUENCY in weights else None
    return replace(
        common,
        name="preparation",  # failures of training articles are stored under this name
        metrics=replace(common.metrics, bertscore=bertscore, by_models=() if fluency is None else (fluency,)),
        panels=tuple(map(panel_of, corpora)) if KEPT_SPEC.name in weights else (),
        reward=RewardConfig(bertscore, tuple(weights.items()), common.language, fluency),
    )


def require_disjoint(train: Sequence[OpenDataset], test: Sequence[OpenDataset]) -> None:
    """Refuse to evaluate policies on articles that they were trained on.

    Raises:
        RecipeError: a test article is a near copy of a training article (`nws.core.text.near_copies`).
    """
    copies = list(near_copies(itertools.chain.from_iterable(test), itertools.chain.from_iterable(train)))
    if copies:
        worst = max(copies, key=lambda copy: copy.shared)
        others = f" There are {len(copies)} such pairs." if len(copies) > 1 else ""
        raise RecipeError(
            f"Test article {worst.first.key!r} of {worst.first.dataset} is a near copy of training article "
            f"{worst.second.key!r} of {worst.second.dataset}: the shorter one shares {100 * worst.shared:.0f} % of its "
            f"word {WORDS}-grams with the other, and at most {100 * MOST_SHARED:.0f} % is allowed.{others} A policy "
            "must not be tested on articles that it was trained on. Choose another split, or leave the articles out "
            "(skip and limit in a recipe)."
        )
