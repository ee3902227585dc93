"""The jobs that can be submitted, each defined in one place: its recipe, and what it then runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, TypeVar

from core.errors import RecipeError
from core.models import ModelRef
from core.models.tokens import MOST_UNREAD, unread_share
from core.plugins.load import Plugin
from core.summarizers.predictions import PredictionsSpec
from core.text.dataset import OpenDataset
from jobs.plan.pinned import Pinned
from jobs.plan.revisions import require_same_revisions
from jobs.recipes.base import RunRecipe
from jobs.recipes.load import FROM, RECIPES, load_recipe, parse_recipe
from jobs.store import RunInfo, Whole

Recipe = TypeVar("Recipe", bound=RunRecipe)
# By what a model does in a run, how to name one that reads Korean.
_CURES = {
    "encoder": "--encoder sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
    "BERTScore backbone": "--bertscore-model google-bert/bert-base-multilingual-cased",
    "generator": "--system with a checkpoint that was trained on Korean",
}


@dataclass(frozen=True, slots=True)
class Job(Generic[Recipe]):
    """One kind of run.

    Attributes:
        recipe: the class of its recipes.
        pin: looks up what a recipe leaves open; opens its datasets unless they are given.
        pin_shard: the same of a shard, with what its parent has decided; None where the job has no shards.
    """

    recipe: type[Recipe]
    pin: Callable[[Recipe, tuple[OpenDataset, ...] | None], Pinned]
    pin_shard: Callable[[Recipe, tuple[OpenDataset, ...] | None, Whole], Pinned] | None = None

    def plan(
        self, name: str, overrides: Mapping[str, Any], lengths_of: Callable[[str], Sequence[int]] | None = None
    ) -> Pinned:
        """A new run from a bundled recipe or a YAML file, see `load_recipe`. It records which run its n are from.

        Raises:
            NwsError: the recipe is not usable, what it names cannot be found, or a model cannot read the articles.
        """
        asked: list[str] = []

        def look_up(run_id: str) -> Sequence[int]:
            asked.append(run_id)
            return () if lengths_of is None else lengths_of(run_id)

        recipe = load_recipe(self.recipe, name, overrides, None if lengths_of is None else look_up)
        pinned = new_run(self.pin(recipe, None))
        return replace(pinned, revisions=pinned.revisions | {"n": f"{FROM}{asked[0]}"}) if asked else pinned

    def plan_again(self, recipe: Mapping[str, Any], whole: Whole | None = None) -> Pinned:
        """A run from its stored recipe. `whole` is what the parent of a shard has decided.

        Raises:
            NwsError: as for `plan`.
        """
        parsed = parse_recipe(self.recipe, recipe, "stored with the run")
        if whole is None:
            return with_own(self.pin(parsed, None))
        assert self.pin_shard is not None
        return with_own(self.pin_shard(parsed, None, whole))


def new_run(pinned: Pinned, *session: Plugin) -> Pinned:
    """A run with all of one's own, see `with_own`; whatever would fail with every article is refused here.

    Raises:
        NwsError: what it names cannot be read, a model cannot read the articles, or what a plugin has cannot work.
    """
    pinned = with_own(pinned, *session)
    require_readable(pinned)
    if pinned.recipe.plugins or session:
        from jobs.plan.own import try_plugins

        try_plugins(pinned)
    return pinned


def with_own(pinned: Pinned, *session: Plugin) -> Pinned:
    """The run with the plugins and the predictions that its recipe names, and with plugins of this `session`.

    Raises:
        NwsError: one cannot be read, or is not usable.
    """
    if pinned.recipe.plugins or session:
        from jobs.plan.own import with_plugins

        pinned = with_plugins(pinned, session)
    if pinned.recipe.predictions:
        from jobs.plan.own import with_predictions

        pinned = with_predictions(pinned)
    return pinned


JOBS = tuple(RECIPES)


def find_job(name: str) -> Job[Any]:
    """One of `JOBS`. The libraries of the others, torch for Phase 2 among them, are not waited for."""
    if name == "phase2":
        from jobs.plan import phase2

        return Job(RECIPES[name], phase2.pin)
    from jobs.plan import sweep

    return Job(RECIPES[name], sweep.pin, sweep.pin)


def plan_with(run: RunInfo, files: Sequence[PredictionsSpec]) -> Pinned:
    """A run that exists, with more files of predictions.

    Raises:
        NwsError: as for `with_predictions`, or what else made the run's numbers has changed since it began.
    """
    added = [*run.recipe.get("predictions", ()), *map(asdict, files)]
    pinned = find_job(run.job).plan_again({**run.recipe, "predictions": added})
    # What the run has was made with the libraries that it began with.
    revisions = {**run.revisions, "predictions": pinned.revisions["predictions"]}
    require_same_revisions(revisions, pinned.revisions, run.id)
    return replace(pinned, revisions=revisions)


def require_readable(pinned: Pinned) -> None:
    """Refuse models whose vocabulary does not cover Korean articles; loads their tokenizers.

    The first article of each dataset is tried. English articles are not: every model that NWS knows reads English.

    Raises:
        RecipeError: names every such model, and the options that name others.
        NwsError: a tokenizer cannot be found or loaded.
    """
    if pinned.language == "en":
        return
    firsts = [next(iter(corpus)) for corpus in pinned.corpora]
    texts = [text for article in firsts for text in (article.text, *article.references)]
    shares = {model: unread_share(model, texts) for _, model in _models(pinned)}
    unread = [(role, model) for role, model in _models(pinned) if shares[model] > MOST_UNREAD]
    if not unread:
        return
    named = ", ".join(f"{role} {model.name} ({shares[model]:.0%})" for role, model in unread)
    cures = " ".join(dict.fromkeys(_CURES[role] for role, _ in unread))
    raise RecipeError(
        f"The articles of {', '.join(corpus.name for corpus in pinned.corpora)} are Korean, and these models cannot "
        f"read them: {named}. The number is the share of words that a model's tokenizer turns into unknown tokens or "
        f"into pieces smaller than a syllable; it may be {MOST_UNREAD:.0%}. Name models with a Korean vocabulary, for "
        f"example: {cures}"
    )


def _models(pinned: Pinned) -> Iterator[tuple[str, ModelRef]]:
    """Every model of a run once, with what it does there."""
    plans = [planned.plan for planned in pinned.stages]
    roles = [("encoder", model) for plan in plans for model in plan.encoders]
    roles += [("generator", model) for plan in plans if plan.generator is not None for model in plan.generator.models]
    yield from dict.fromkeys([*roles, ("BERTScore backbone", pinned.metrics.bertscore.model)])
