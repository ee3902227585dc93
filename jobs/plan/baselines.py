"""The baselines: which systems a recipe means, and in which stages they run."""

from dataclasses import replace

from core.models import parse_model, resolve_model
from core.summarizers.extractive_baselines import BASELINES
from core.summarizers.generators import Generator, parse_generator
from core.sweep_plan import SweepPlan
from jobs.plan.pinned import Pinned, PlannedStage, pin_setting, pinned_text
from jobs.recipes.baselines import BaselinesRecipe
from jobs.store import Stage


def pin(recipe: BaselinesRecipe) -> Pinned:
    """Look up every revision a recipe leaves open, and open its datasets. Loads no model.

    All extractive systems are one stage; each generator is a stage of its own, so that a GPU holds one at a time.

    Raises:
        NwsError: a model, dataset, pipeline or revision cannot be found.
    """
    encoder = resolve_model(parse_model(recipe.encoder))
    names = [name for name in recipe.systems if name in BASELINES]
    generators = {name: _resolved(parse_generator(name)) for name in recipe.systems if name not in BASELINES}
    setting = pin_setting(recipe)
    plan = SweepPlan(
        language=setting.language,
        pipeline=setting.pipeline,
        encoders=(encoder,),
        systems=tuple(BASELINES[name](encoder.name, recipe.seed) for name in names),
        lengths=recipe.n,
        metrics=setting.metrics,
        seed=recipe.seed,
        precision=recipe.precision,
    )
    extractive = [PlannedStage(Stage("extractive", plan.signatures), plan)] if names else []
    generative = [
        PlannedStage(Stage(made.signature, (made.signature,)), replace(plan, encoders=(), systems=(), generator=made))
        for made in generators.values()
    ]
    systems = tuple(pinned_text(generators[name].model) if name in generators else name for name in recipe.systems)
    pinned = {"encoder": pinned_text(encoder), "systems": systems}
    return Pinned(
        recipe=recipe.model_copy(update=setting.in_recipe(recipe) | pinned),
        stages=(*extractive, *generative),
        metrics=setting.metrics,
        corpora=setting.corpora,
        revisions={
            "encoders": {encoder.name: str(encoder)} if names else {},
            "generators": {made.signature: f"{made.model}|{made.options}" for made in generators.values()},
            **setting.revisions,
        },
    )


def _resolved(generator: Generator) -> Generator:
    return replace(generator, model=resolve_model(generator.model))
