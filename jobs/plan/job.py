"""The jobs that can be submitted, each defined in one place: what it is told, and what it then runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from jobs.plan import baselines, phase1, phase2
from jobs.plan.pinned import Pinned
from jobs.plan.readable import require_readable
from jobs.recipes.base import RunRecipe
from jobs.recipes.baselines import BaselinesRecipe
from jobs.recipes.load import load_recipe, parse_recipe
from jobs.recipes.phase1 import Phase1Recipe
from jobs.recipes.phase2 import Phase2Recipe

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
        pinned = self.pin(load_recipe(self.recipe, name, overrides))
        require_readable(pinned)
        return pinned

    def plan_again(self, recipe: Mapping[str, Any], run_id: str) -> Pinned:
        """A run from its stored recipe.

        Raises:
            NwsError: as for `plan`.
        """
        return self.pin(parse_recipe(self.recipe, recipe, run_id))


JOBS: dict[str, Job[Any]] = {
    Phase1Recipe.job: Job(Phase1Recipe, phase1.pin),
    BaselinesRecipe.job: Job(BaselinesRecipe, baselines.pin),
    Phase2Recipe.job: Job(Phase2Recipe, phase2.pin),
}
