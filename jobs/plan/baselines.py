"""The baselines: the systems of a recipe, and the stages in which they run."""

from dataclasses import replace

from core.models import parse_model, resolve_model, tokenizer_folder
from core.summarizers.endpoint import PREFIX, Endpoint, default_url
from core.summarizers.extractive_baselines import BASELINES, make_baseline
from core.summarizers.generators import Generator, complete, parse_generator
from core.summarizers.prompt_template import DEFAULT_PROMPT, PromptTemplate
from core.sweep_plan import SweepPlan
from core.text.corpus import Corpus
from jobs.plan.pinned import Pinned, PlannedStage, pin_setting, pinned_text
from jobs.recipes.baselines import BaselinesRecipe, EndpointRecipe
from jobs.store import Stage


def pin(recipe: BaselinesRecipe, corpora: tuple[Corpus, ...] | None = None) -> Pinned:
    """Look up every revision a recipe leaves open. Loads no model.

    All extractive systems are one stage; each generator is a stage of its own, so that a GPU holds one at a time.

    Args:
        recipe: what is pinned.
        corpora: its datasets, where they are at hand; they are opened unless given.

    Raises:
        NwsError: a model, dataset, pipeline or revision cannot be found.
    """
    encoder = resolve_model(parse_model(recipe.encoder))
    names = [name for name in recipe.systems if name in BASELINES]
    generators = {name: _generator(name, recipe) for name in recipe.systems if name not in BASELINES}
    setting = pin_setting(recipe, corpora)
    plan = SweepPlan(
        language=setting.language,
        pipeline=setting.pipeline,
        encoders=(encoder,),
        systems=tuple(make_baseline(name, encoder.name, recipe.seed) for name in names),
        lengths=recipe.n,
        metrics=setting.metrics,
        seed=recipe.seed,
        precision=recipe.precision,
        language_data=setting.language_data,
    )
    extractive = [PlannedStage(Stage("extractive", plan.signatures), plan)] if names else []
    generative = [
        PlannedStage(
            Stage(generator.signature, (generator.signature,)),
            replace(plan, encoders=(), systems=(), generator=generator),
        )
        for generator in generators.values()
    ]
    pinned = {
        "encoder": pinned_text(encoder),
        "systems": tuple(_pinned_name(name, generators.get(name)) for name in recipe.systems),
        "endpoint": next(
            (
                _endpoint_at(recipe, generator.url)
                for generator in generators.values()
                if isinstance(generator, Endpoint)
            ),
            recipe.endpoint,
        ),
    }
    return Pinned(
        recipe=recipe.model_copy(update=setting.in_recipe(recipe) | pinned),
        stages=(*extractive, *generative),
        metrics=setting.metrics,
        corpora=setting.corpora,
        revisions={
            "encoders": {encoder.name: str(encoder)} if names else {},
            "generators": {generator.signature: generator.revision for generator in generators.values()},
            **setting.revisions,
        },
    )


def _generator(name: str, recipe: BaselinesRecipe) -> Generator | Endpoint:
    """What a recipe means, with the revision of its model and what its files say of how it writes.

    Downloads no weights, and asks no endpoint.
    """
    prompt = PromptTemplate(recipe.prompt) if recipe.prompt is not None else None
    if name.startswith(PREFIX):
        settings = recipe.endpoint or EndpointRecipe()
        url = settings.base_url or default_url()
        return Endpoint(name.removeprefix(PREFIX), url, prompt or DEFAULT_PROMPT, settings.concurrency)
    generator = parse_generator(name, prompt)
    generator = replace(generator, model=resolve_model(generator.model))
    return generator if generator.architecture else complete(generator, tokenizer_folder(generator.model))


def _pinned_name(name: str, generator: Generator | Endpoint | None) -> str:
    return pinned_text(generator.model) if isinstance(generator, Generator) else name


def _endpoint_at(recipe: BaselinesRecipe, url: str) -> EndpointRecipe:
    return (recipe.endpoint or EndpointRecipe()).model_copy(update={"base_url": url})
