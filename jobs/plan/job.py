"""The jobs that can be submitted, each defined in one place: its recipe, and what it then runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from jobs.plan.pinned import Pinned
from jobs.plan.readable import require_readable
from jobs.recipes.base import RunRecipe
from jobs.recipes.load import load_recipe, parse_recipe

Recipe = TypeVar("Recipe", bound=RunRecipe)


@dataclass(frozen=True, slots=True)
class Job(Generic[Recipe]):
    """One kind of run.

    Attributes:
        recipe: the class of its recipes.
        pin: looks up what a recipe leaves open.
    """

    recipe: type[Recipe]
    pin: Callable[[Recipe], Pinned]

    def plan(self, name: str, overrides: Mapping[str, Any]) -> Pinned:
        """A new run from a bundled recipe or a YAML file, see `load_recipe`.

        Raises:
            NwsError: the recipe is not usable, what it names cannot be found, or a model cannot read the articles.
        """
        pinned = self._pin(load_recipe(self.recipe, name, overrides))
        require_readable(pinned)
        return pinned

    def plan_again(self, recipe: Mapping[str, Any], run_id: str) -> Pinned:
        """A run from its stored recipe.

        Raises:
            NwsError: as for `plan`.
        """
        return self._pin(parse_recipe(self.recipe, recipe, run_id))

    def _pin(self, recipe: Recipe) -> Pinned:
        return with_own(self.pin(recipe))


def with_own(pinned: Pinned) -> Pinned:
    """The run with the plugins and the predictions that its recipe names.

    Raises:
        NwsError: one cannot be read, or is not usable.
    """
    if pinned.recipe.plugins:
        from jobs.plan.plugins import with_plugins

        pinned = with_plugins(pinned)
    if pinned.recipe.predictions:
        from jobs.plan.predictions import with_predictions

        pinned = with_predictions(pinned)
    return pinned


JOBS = ("phase1", "baselines", "phase2")


def find_job(name: str) -> Job[Any]:
    """One of `JOBS`. The libraries of the others, torch for Phase 2 among them, are not waited for."""
    if name == "phase2":
        from jobs.plan import phase2
        from jobs.recipes.phase2 import Phase2Recipe

        return Job(Phase2Recipe, phase2.pin)
    from jobs.plan import sweep
    from jobs.recipes.sweep import BaselinesRecipe, Phase1Recipe

    return Job(Phase1Recipe, sweep.pin) if name == "phase1" else Job(BaselinesRecipe, sweep.pin)
