"""Phase 1, the sweep over n: the systems of a recipe."""

from core.models import parse_model, resolve_model
from core.summarizers.chunk_systems import ChunkSystem
from core.summarizers.lead import Lead
from core.summarizers.random_controls import Random
from core.sweep_plan import SweepPlan
from jobs.plan.pinned import Pinned, PlannedStage, pin_setting, pinned_text
from jobs.recipes.phase1 import Phase1Recipe
from jobs.store import SWEEP


def pin(recipe: Phase1Recipe) -> Pinned:
    """Look up every revision a recipe leaves open, and open its datasets. Loads no model.

    Its systems are each encoder with each importance, and the two controls for length.

    Raises:
        NwsError: a model, dataset, pipeline or revision cannot be found.
    """
    encoders = tuple(resolve_model(parse_model(text)) for text in recipe.encoders)
    setting = pin_setting(recipe)
    plan = SweepPlan(
        language=setting.language,
        pipeline=setting.pipeline,
        encoders=encoders,
        systems=(
            *(ChunkSystem(encoder.name, name) for encoder in encoders for name in recipe.importance),
            Lead(),
            Random(recipe.seed),
        ),
        lengths=recipe.n,
        metrics=setting.metrics,
        seed=recipe.seed,
        precision=recipe.precision,
        language_data=setting.language_data,
    )
    return Pinned(
        recipe=recipe.model_copy(update=setting.in_recipe(recipe) | {"encoders": tuple(map(pinned_text, encoders))}),
        stages=(PlannedStage(SWEEP, plan),),
        metrics=setting.metrics,
        corpora=setting.corpora,
        revisions={"encoders": {ref.name: str(ref) for ref in encoders}, **setting.revisions},
    )
