"""The plan of a sweep over n: the systems of a recipe, and the stages in which they run."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from nws.core.errors import RecipeError
from nws.core.metrics.kept import Panel
from nws.core.models import ModelRef, model_folder, resolve_model
from nws.core.models.endpoint import LOCAL_DRAFTS, PREFIX, Endpoint, default_url
from nws.core.models.generators import Generator, PromptTemplate, complete, default_prompt, parse_generator
from nws.core.stage import Stage
from nws.core.systems.chunk_systems import ChunkSystem
from nws.core.systems.extractive_baselines import BASELINES, Lead, Random, make_baseline
from nws.core.systems.rulers import OTHER_ARTICLE, PERSON, REFERENCE_WORDS, RULERS
from nws.core.systems.system import System
from nws.core.text.dataset import BUNDLED, OpenDataset
from nws.core.text.language import Language
from nws.core.text.length import count_words, lengths_up_to
from nws.jobs.recipes.plan import (
    STREAMED,
    Plan,
    build_plan,
    common_stage,
    find_model,
    language_of,
    open_corpora,
    pinned_text,
)
from nws.jobs.recipes.sweep_recipe import BaselinesRecipe, EndpointRecipe, Phase1Recipe, SweepRecipe

STUDY_LENGTHS = tuple(range(1, 22, 2))
"""The lengths of `n: auto` for the bundled articles, and for articles without references."""


def plan_sweep(
    recipe: SweepRecipe,
    corpora: tuple[OpenDataset, ...] | None = None,
    language: Language | None = None,
    panels: tuple[Panel, ...] | None = None,
) -> Plan:
    """Make the plan of a sweep: look up its revisions, and open its datasets. Loads no model.

    All extractive systems are one stage. Each generator is a stage of its own, so that a GPU holds one at a time.

    Args:
        recipe: the recipe.
        corpora: its datasets, if they are open already.
        language: the language of a shard, which its parent has decided; by default, that of the articles.
        panels: the panels of a shard's parent. The rulers of a shard are in its recipe.

    Raises:
        NwsError: a model, dataset, pipeline or revision cannot be found, or the datasets are not in one language.
    """
    encoders = tuple(map(find_model, recipe.models))
    generators = {} if isinstance(recipe, Phase1Recipe) else _generators(recipe)
    corpora = open_corpora(recipe.datasets) if corpora is None else corpora
    recipe, lengths_end = _with_lengths(recipe, corpora)
    if recipe.units == "subtrees":
        raise RecipeError("Only policies (`phase2`) can use the units `subtrees`. Choose `chunks` or `words`.")
    common = common_stage(recipe, language or language_of(corpora))
    if panels is None:
        recipe = _with_rulers(recipe, corpora)
    extractive = _extractive(recipe, encoders)
    revisions: dict[str, Any] = {"encoders": {ref.name: str(ref) for ref in encoders} if extractive else {}}
    if isinstance(recipe, Phase1Recipe):
        name, pinned = "sweep", {"encoders": tuple(map(pinned_text, encoders))}
    else:
        name, pinned = "extractive", _in_recipe(recipe, encoders[0], generators)
        revisions["generators"] = {generator.signature: generator.revision for generator in generators.values()}
    stages = [replace(common, name=name, encoders=encoders, systems=extractive)] if extractive else []
    stages += [replace(common, name=generator.signature, generator=generator) for generator in generators.values()]
    return build_plan(recipe, stages, corpora, pinned, revisions, panels=panels, lengths_end=lengths_end)


def stage_to_write(recipe: BaselinesRecipe, language: Language) -> Stage:
    """Make the stage in which the only system of a recipe summarises articles without references.

    Raises:
        NwsError: a model, pipeline or revision cannot be found.
        RecipeError: the system copies from references, or the lengths would come from them.
    """
    if not recipe.n:
        message = "Without references, n = auto has no end. Give lengths, such as --n 7,9."
        raise RecipeError(message, settings=("n",))
    (name,) = recipe.systems
    encoders = tuple(map(find_model, recipe.models))
    extractive = _extractive(recipe, encoders)
    if any(system.kind == "oracle" for system in extractive) or name in RULERS:
        raise RecipeError(f"{name} reads references. Choose another system to write summaries.", settings=("system",))
    stage = common_stage(recipe, language)
    if extractive:
        return replace(stage, encoders=encoders, systems=extractive).without_unused_encoders()
    return replace(stage, generator=_generator(name, recipe))


def _with_lengths(recipe: SweepRecipe, corpora: Sequence[OpenDataset]) -> tuple[SweepRecipe, str]:
    """Replace `auto` by lengths. Returns the recipe, and a description of the end; "" if it is not from references.

    The dataset with the longest references decides, so that the lengths do not end before the answer on any dataset.
    """
    if recipe.n:
        return recipe, ""
    lengths, end = STUDY_LENGTHS, ""
    if not all(corpus.dataset.name in BUNDLED for corpus in corpora):
        words, name = max((_reference_words(corpus), corpus.name) for corpus in corpora)
        if words:
            of = f" of {name}, which are the longest" if len(corpora) > 1 else ""
            lengths, end = lengths_up_to(words), f"the median length of the references{of}, {words} words"
    return recipe.model_copy(update={"n": lengths}), end


def _reference_words(corpus: OpenDataset) -> int:
    """Return the median length of the references of a dataset; of a streamed one, that of the first articles."""
    if corpus.reference_words is not None:
        return corpus.reference_words
    first = itertools.islice(corpus, STREAMED)
    return int(median([count_words(text) for article in first for text in article.references] or [0]))


def _with_rulers(recipe: SweepRecipe, corpora: Sequence[OpenDataset]) -> SweepRecipe:
    field = "rulers" if isinstance(recipe, Phase1Recipe) else "systems"
    return recipe.model_copy(update={field: with_rulers(getattr(recipe, field), corpora)})


def _extractive(recipe: SweepRecipe, encoders: Sequence[ModelRef]) -> tuple[System, ...]:
    """Make the extractive systems. For phase1: each encoder with each importance, two controls, and rulers."""
    if isinstance(recipe, Phase1Recipe):
        chunk_systems = (ChunkSystem(encoder.name, name) for encoder in encoders for name in recipe.importance)
        rulers = (make_baseline(name, encoders[0].name, recipe.seed) for name in recipe.rulers)
        return (*chunk_systems, Lead(), Random(recipe.seed), *rulers)
    return tuple(make_baseline(name, encoders[0].name, recipe.seed) for name in recipe.systems if name in BASELINES)


def _generators(recipe: BaselinesRecipe) -> dict[str, Generator | Endpoint]:
    """Make the generators and endpoints, by their names in the recipe."""
    return {name: _generator(name, recipe) for name in recipe.systems if name not in BASELINES}


def _generator(name: str, recipe: BaselinesRecipe) -> Generator | Endpoint:
    """Look up a generator or endpoint: the revision of its model, and what its files say about how it writes.

    Downloads no weights, and sends no request.
    """
    unit = recipe.length_unit
    prompt = PromptTemplate(recipe.prompt, unit) if recipe.prompt is not None else None
    if name.startswith(PREFIX):
        settings = recipe.endpoint or EndpointRecipe()
        url = settings.base_url or default_url()
        name, prompt = name.removeprefix(PREFIX), prompt or default_prompt(unit, recipe.length)
        parameters = settings.parameters or {}
        endpoint = Endpoint(name, url, prompt, settings.concurrency, parameters, recipe.clean_outputs, recipe.length)
        default = LOCAL_DRAFTS if endpoint.is_local else 0
        drafts = default if settings.drafts is None else settings.drafts
        return replace(endpoint, drafts=0 if endpoint.has_uncut or recipe.length == "free" else drafts)
    generator = parse_generator(name, prompt, recipe.length, unit)
    generator = replace(generator, model=resolve_model(generator.model))
    if not generator.architecture:
        generator = complete(generator, model_folder(generator.model, with_weights=False), unit)
    return replace(generator, clean_outputs=recipe.clean_outputs)


def _in_recipe(
    recipe: BaselinesRecipe, encoder: ModelRef, generators: Mapping[str, Generator | Endpoint]
) -> dict[str, Any]:
    """Return the fields of a recipe of baselines that were looked up."""
    models = {name: writer.model for name, writer in generators.items() if isinstance(writer, Generator)}
    endpoint = recipe.endpoint
    if asked := next((writer for writer in generators.values() if isinstance(writer, Endpoint)), None):
        found = {"base_url": asked.url, "drafts": asked.drafts}
        endpoint = (endpoint or EndpointRecipe()).model_copy(update=found)
    systems = tuple(pinned_text(models[name]) if name in models else name for name in recipe.systems)
    return {"encoder": pinned_text(encoder), "systems": systems, "endpoint": endpoint}


def with_rulers(systems: Sequence[str], corpora: Sequence[OpenDataset]) -> tuple[str, ...]:
    """Add the other rulers that the articles allow to the names of systems, if `reference-words` is among these.

    `person` needs two references for every article, and `other-article` two articles in every dataset.

    Raises:
        RecipeError: `person` is named, and a dataset has articles without a second reference.
    """
    lacking = [corpus.name for corpus in corpora if corpus.fewest_references < 2]
    if PERSON in systems and lacking:
        raise RecipeError(
            f"The system {PERSON!r} is an article's second reference, and not every article of {', '.join(lacking)} is "
            "known to have one. (For a streamed dataset, this is unknown.) Leave it out. It is added where possible."
        )
    if REFERENCE_WORDS not in systems:
        return tuple(systems)
    persons = () if lacking else (PERSON,)
    others = () if any(corpus.size == 1 for corpus in corpora) else (OTHER_ARTICLE,)
    return tuple(dict.fromkeys((*systems, *persons, *others)))
