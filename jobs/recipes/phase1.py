"""The recipe of a sweep over n: which encoders, and how sentences are weighed."""

from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from core.registry import did_you_mean
from core.summarizers.chunk_systems import IMPORTANCE
from jobs.recipes.base import RunRecipe, model_name, require_different


class Phase1Recipe(RunRecipe):
    """A Phase 1 sweep: every encoder with every importance, and the controls.

    Attributes:
        encoders: known names, folders, or Hub ids (`organisation/name[@revision]`).
        importance: how sentences are weighed (`IMPORTANCE` in `core/summarizers/chunk_systems.py`).
    """

    job: ClassVar[str] = "phase1"

    encoders: Annotated[tuple[str, ...], Field(min_length=1)] = ("all-MiniLM-L6-v2",)
    importance: Annotated[tuple[str, ...], Field(min_length=1)] = ("textrank", "lexrank", "position")

    @field_validator("importance")
    @classmethod
    def _known(cls, importance: tuple[str, ...]) -> tuple[str, ...]:
        for name in importance:
            if name not in IMPORTANCE:
                raise ValueError(f"{name!r} is not one of {', '.join(IMPORTANCE)}.{did_you_mean(name, IMPORTANCE)}")
        return tuple(dict.fromkeys(importance))

    @field_validator("encoders")
    @classmethod
    def _have_different_names(cls, encoders: tuple[str, ...]) -> tuple[str, ...]:
        require_different([model_name(encoder) for encoder in encoders], "encoders")
        return encoders
