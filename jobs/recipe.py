"""What a run is told to do: a typed recipe, from a YAML file and flags, checked before anything is loaded."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from core.errors import RecipeError
from core.models import parse_model
from core.summarizers.importance import IMPORTANCE
from core.text.corpus import DatasetSpec

RECIPES = Path(__file__).parent / "recipes"
PositiveInt = Annotated[int, Field(ge=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DatasetRecipe(_Strict):
    """A dataset by name, and how to read it. See `core.text.corpus.DatasetSpec`."""

    name: str
    split: str = "test"
    streaming: bool = False
    limit: PositiveInt | None = None
    text_field: str | None = None
    reference_field: str | None = None
    key_field: str | None = None

    def spec(self) -> DatasetSpec:
        return DatasetSpec(**self.model_dump())


class BertScoreRecipe(_Strict):
    """Which BERTScore: backbone, layer, and whether it is rescaled with bert-score's own baseline."""

    model: str = "bert-base-uncased"
    num_layers: PositiveInt = 9
    rescale: bool = False


class RougeRecipe(_Strict):
    """Which ROUGE."""

    stemmer: bool = False


class Recipe(_Strict):
    """A Phase 1 sweep.

    Attributes:
        datasets: what to summarise, in this order.
        pipeline: a spaCy pipeline, `blank`, or `auto` (en_core_web_sm if it is installed, else blank).
        encoders: known names, folders, or Hub ids (`organisation/name[@revision]`).
        importance: how sentences are weighed.
        n: the summary lengths, in words.
        bertscore, rouge: the metrics' options.
        seed: of the random control and of the bootstrap.
        bundle_size: articles sent to an actor together.
        accelerator: `auto` (a GPU for each actor where there is one, else a CPU), `cpu`, or a Ray accelerator type.
        actors: how many; as many as there are accelerators if not given.
    """

    datasets: Annotated[tuple[DatasetRecipe, ...], Field(min_length=1)]
    pipeline: str = "auto"
    encoders: Annotated[tuple[str, ...], Field(min_length=1)] = ("all-MiniLM-L6-v2",)
    importance: Annotated[tuple[str, ...], Field(min_length=1)] = tuple(IMPORTANCE)
    n: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = tuple(range(1, 22, 2))
    bertscore: BertScoreRecipe = BertScoreRecipe()
    rouge: RougeRecipe = RougeRecipe()
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    bundle_size: PositiveInt = 16
    accelerator: str = "auto"
    actors: PositiveInt | None = None

    @field_validator("n")
    @classmethod
    def _sorted_once(cls, n: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(n)))

    @field_validator("importance")
    @classmethod
    def _known(cls, importance: tuple[str, ...]) -> tuple[str, ...]:
        for name in importance:
            if name not in IMPORTANCE:
                raise ValueError(f"{name!r} is not one of {', '.join(IMPORTANCE)}")
        return tuple(dict.fromkeys(importance))

    @model_validator(mode="after")
    def _encoders_have_different_names(self) -> Self:
        names = [parse_model(encoder).name for encoder in self.encoders]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two encoders are called {name!r}, so their summaries could not be told apart")
        return self

    @property
    def hash(self) -> str:
        """SHA-256 of all that decides the numbers: everything but where it runs."""
        decisive = self.model_dump(mode="json", exclude={"accelerator", "actors"})
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def load_recipe(name: str, overrides: Mapping[str, Any]) -> Recipe:
    """The recipe `name` (a bundled one, or a YAML file) with `overrides` on top.

    Args:
        name: `sample`, `paper`, or a path ending in .yaml.
        overrides: by field name. `datasets` replaces all datasets; `limit` and the like apply to each of them.

    Raises:
        RecipeError: there is no such recipe, or a key or value is not usable (each named).
    """
    values = {**_read(name), **{key: value for key, value in overrides.items() if key not in _DATASET_KEYS}}
    of_datasets = {key: value for key, value in overrides.items() if key in _DATASET_KEYS}
    if of_datasets and isinstance(values.get("datasets"), list):
        values["datasets"] = [{**dataset, **of_datasets} for dataset in values["datasets"]]
    return parse_recipe(values, name)


_DATASET_KEYS = frozenset(DatasetRecipe.model_fields) - {"name"}


def parse_recipe(values: Mapping[str, Any], name: str) -> Recipe:
    """A recipe from plain values.

    Raises:
        RecipeError: naming every key that is unknown, missing or unusable.
    """
    try:
        return Recipe.model_validate(values)
    except ValidationError as error:
        problems = [f"  {'.'.join(map(str, e['loc'])) or 'recipe'}: {_problem(e)}" for e in error.errors()]
        raise RecipeError("\n".join([f"The recipe {name!r} is not usable:", *problems])) from error


def _problem(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        return f"unknown key; a recipe has: {', '.join(Recipe.model_fields)}"
    return str(error["msg"])


def _read(name: str) -> dict[str, Any]:
    bundled = sorted(path.stem for path in RECIPES.glob("*.yaml"))
    path = RECIPES / f"{name}.yaml" if name in bundled else Path(name)
    if not path.is_file():
        raise RecipeError(f"There is no recipe {name!r}: give one of {', '.join(bundled)}, or a YAML file.")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(values, dict):
        raise RecipeError(f"{path} holds no keys: a recipe is a mapping such as `seed: 0`.")
    return values
