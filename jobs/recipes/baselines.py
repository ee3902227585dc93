"""What a run of baselines is told: which systems, extractive ones and generators."""

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from core.errors import ModelError
from core.summarizers.extractive_baselines import BASELINES
from core.summarizers.generators import parse_generator
from jobs.recipes.base import RunRecipe, model_name, require_different

DEAR = frozenset({"window-oracle"})
"""Runs only where it is asked for: it takes several times as long as all other baselines together."""


class BaselinesRecipe(RunRecipe):
    """The baselines: other ways to summarise at the same lengths.

    Attributes:
        encoder: embeds sentences and chunks for the systems that need it.
        systems: names of baselines (`core/summarizers/extractive_baselines.py`) and generators: known names, folders,
            or Hub ids. All baselines but the `DEAR` unless given.
    """

    job: ClassVar[str] = "baselines"

    encoder: str = "all-MiniLM-L6-v2"
    systems: Annotated[tuple[str, ...], Field(min_length=1)] = tuple(name for name in BASELINES if name not in DEAR)

    @model_validator(mode="after")
    def _systems_are_known_and_differ(self) -> Self:
        model_name(self.encoder)
        require_different([_signature(system) for system in self.systems], "systems")
        return self


def _signature(system: str) -> str:
    if system in BASELINES:
        return system
    try:
        return parse_generator(system).signature
    except ModelError as error:
        raise ValueError(f"there is no system {system!r}: the baselines are {', '.join(BASELINES)}. {error}") from error
