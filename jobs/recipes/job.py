"""The jobs that can be submitted: the recipe of each, and the plan that becomes of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from core.errors import RecipeError
from core.metrics.kept import Panel
from core.models import ModelRef
from core.models.tokens import MOST_UNREAD, unread_share
from core.plugins.load import Plugin
from core.systems.predictions import PredictionsSpec
from core.text.dataset import OpenDataset
from core.text.language import Language
from jobs.recipes.base import RunRecipe
from jobs.recipes.load import FROM, load_recipe, parse_recipe, recipe_class
from jobs.recipes.outside import try_plugins, with_plugins, with_predictions
from jobs.recipes.phase2 import Phase2Recipe
from jobs.recipes.plan import Plan, require_same_revisions
from jobs.recipes.sweep_plan import plan_sweep
from jobs.recipes.sweep_recipe import SweepRecipe
from jobs.store import RunInfo


def make_plan(
    recipe: RunRecipe,
    corpora: tuple[OpenDataset, ...] | None = None,
    language: Language | None = None,
    panels: tuple[Panel, ...] | None = None,
    session: Sequence[Plugin] = (),
) -> Plan:
    """Look up what a recipe leaves open, with the plugins and predictions that it names. Loads no model.

    Args:
        recipe: of any job.
        corpora: its datasets, where they are at hand; they are opened unless given.
        language: of a shard, as its parent has decided.
        panels: the same.
        session: plugins of this process, besides those that the recipe names.

    Raises:
        NwsError: something cannot be found or read, or is not usable.
    """
    if isinstance(recipe, Phase2Recipe):
        from jobs.recipes.phase2_plan import plan_phase2  # and with it PyTorch

        plan = plan_phase2(recipe, corpora)
    else:
        assert isinstance(recipe, SweepRecipe)
        plan = plan_sweep(recipe, corpora, language, panels)
    if recipe.plugins or session:
        plan = with_plugins(plan, session)
    if recipe.predictions:
        plan = with_predictions(plan)
    # Last, since plugins may ask for the encoder of the recipe. Policies ask for theirs once they are trained.
    if plan.training is None:
        plan = replace(plan, stages=tuple(stage.without_unused_encoders() for stage in plan.stages))
    return plan


def new_plan(recipe: RunRecipe, corpora: tuple[OpenDataset, ...] | None = None, session: Sequence[Plugin] = ()) -> Plan:
    """As `make_plan`, of a run that is new: whatever would fail with every article is refused here.

    Raises:
        NwsError: as there, or a model cannot read the articles, or what a plugin has cannot work.
    """
    plan = make_plan(recipe, corpora, session=session)
    require_readable(plan)
    if recipe.plugins or session:
        try_plugins(plan)
    return plan


def plan_job(
    job: str, name: str, overrides: Mapping[str, Any], lengths_of: Callable[[str], Sequence[int]] | None = None
) -> Plan:
    """A new run from a bundled recipe or a YAML file, see `load_recipe`. It records which run its n are from.

    Raises:
        NwsError: the recipe is not usable, or as for `new_plan`.
    """
    asked: list[str] = []

    def look_up(run_id: str) -> Sequence[int]:
        asked.append(run_id)
        return () if lengths_of is None else lengths_of(run_id)

    plan = new_plan(load_recipe(recipe_class(job), name, overrides, None if lengths_of is None else look_up))
    return replace(plan, revisions=plan.revisions | {"n": f"{FROM}{asked[0]}"}) if asked else plan


def plan_again(
    job: str,
    recipe: Mapping[str, Any],
    language: Language | None = None,
    panels: tuple[Panel, ...] | None = None,
) -> Plan:
    """A run from its stored recipe. `language` and `panels` are what the parent of a shard has decided.

    Raises:
        NwsError: as for `make_plan`.
    """
    parsed = parse_recipe(recipe_class(job), recipe, "stored with the run")
    return make_plan(parsed, language=language, panels=panels)


def plan_with(run: RunInfo, files: Sequence[PredictionsSpec]) -> Plan:
    """A run that exists, with more files of predictions.

    Raises:
        NwsError: as for `with_predictions`, or what else made the run's numbers has changed since it began.
    """
    added = [*run.recipe.get("predictions", ()), *map(asdict, files)]
    plan = plan_again(run.job, {**run.recipe, "predictions": added})
    # What the run has was made with the libraries that it began with.
    revisions = {**run.revisions, "predictions": plan.revisions["predictions"]}
    require_same_revisions(revisions, plan.revisions, run.id)
    return replace(plan, revisions=revisions)


def require_readable(plan: Plan) -> None:
    """Refuse models whose vocabulary does not cover Korean articles; loads their tokenizers.

    The first article of each dataset is tried. English articles are not: every model that NWS knows reads English.

    Raises:
        RecipeError: names every such model, and the options that name others.
        NwsError: a tokenizer cannot be found or loaded.
    """
    if plan.language == "en":
        return
    firsts = [next(iter(corpus)) for corpus in plan.corpora]
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
    """Every model of a run once, with what it does there."""
    roles = [("encoder", model) for stage in plan.stages for model in stage.encoders]
    roles += [("generator", model) for stage in plan.stages if stage.generator for model in stage.generator.models]
    yield from dict.fromkeys([*roles, ("BERTScore backbone", plan.metrics.bertscore.model)])
