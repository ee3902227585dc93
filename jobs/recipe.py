"""What a run is told to do: a typed recipe, from a YAML file and flags, checked before anything is loaded."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from core.errors import ModelError, RecipeError
from core.models import parse_model
from core.summarizers.baselines import BASELINES
from core.summarizers.generators import parse_generator
from core.summarizers.importance import IMPORTANCE
from core.text.corpus import DatasetSpec
from core.transformer import Precision

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
    """Which ROUGE. `auto` is rouge_score's tokenizer for English articles and Kiwi's morphemes for Korean ones."""

    stemmer: bool = False
    tokenizer: Literal["auto", "rouge_score", "kiwi", "mecab", "okt", "char"] = "auto"


# Parts of a GPU that an actor can pin: others would strand what is left of each.
SHARES = (1, 0.5, 0.25)
# What decides where a run runs, and not its numbers.
WHERE = {"accelerator", "actors", "gpus_per_actor", "gpu_memory_fraction", "wait_for_machines"}


class RunRecipe(_Strict):
    """What every job that writes and scores summaries is told.

    Attributes:
        datasets: what to summarise, in this order.
        pipeline: for English articles a spaCy pipeline, `blank`, or `auto` (en_core_web_sm if it is installed, else
            blank); for Korean ones always Kiwi.
        n: the summary lengths, in words.
        bertscore, rouge: the metrics' options.
        seed: of the random control, of sampling and of the bootstrap.
        precision: what encoders and the BERTScore backbone compute in. Less than float32 is faster on a GPU, gives
            other numbers, and is part of the metrics' signatures. Generators choose their own (docs/generators.md).
        bundle_size: articles sent to an actor together.
        accelerator: `auto` (a GPU for each actor where there is one, else a CPU), `cpu`, or a Ray accelerator type.
        actors: how many; as many as there are accelerators if not given.
        gpus_per_actor: 1, or 0.5 or 0.25 where several actors share a GPU.
        gpu_memory_fraction: how much of a GPU's memory an actor may take; its share of the GPU unless given.
        wait_for_machines: seconds to wait for an autoscaled cluster to have what the actors need.
    """

    datasets: Annotated[tuple[DatasetRecipe, ...], Field(min_length=1)]
    pipeline: str = "auto"
    n: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = tuple(range(1, 22, 2))
    bertscore: BertScoreRecipe = BertScoreRecipe()
    rouge: RougeRecipe = RougeRecipe()
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    precision: Precision = "float32"
    bundle_size: PositiveInt = 16
    accelerator: str = "auto"
    actors: PositiveInt | None = None
    gpus_per_actor: float = 1
    gpu_memory_fraction: Annotated[float, Field(gt=0, le=1)] | None = None
    wait_for_machines: Annotated[float, Field(ge=0)] = 0

    @field_validator("gpus_per_actor")
    @classmethod
    def _divides_a_gpu(cls, share: float) -> float:
        if share not in SHARES:
            raise ValueError(f"must be one of {', '.join(f'{value:g}' for value in SHARES)}, not {share:g}")
        return share

    @field_validator("n")
    @classmethod
    def _sorted_once(cls, n: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(n)))

    @property
    def hash(self) -> str:
        """SHA-256 of all that decides the numbers: everything but where it runs."""
        decisive = self.model_dump(mode="json", exclude=WHERE)
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


class Phase1Recipe(RunRecipe):
    """A Phase 1 sweep: every encoder with every importance, and the controls.

    Attributes:
        encoders: known names, folders, or Hub ids (`organisation/name[@revision]`).
        importance: how sentences are weighed.
    """

    encoders: Annotated[tuple[str, ...], Field(min_length=1)] = ("all-MiniLM-L6-v2",)
    importance: Annotated[tuple[str, ...], Field(min_length=1)] = tuple(IMPORTANCE)

    @field_validator("importance")
    @classmethod
    def _known(cls, importance: tuple[str, ...]) -> tuple[str, ...]:
        for name in importance:
            if name not in IMPORTANCE:
                raise ValueError(f"{name!r} is not one of {', '.join(IMPORTANCE)}")
        return tuple(dict.fromkeys(importance))

    @model_validator(mode="after")
    def _encoders_have_different_names(self) -> Self:
        _require_different([_model_name(encoder) for encoder in self.encoders], "encoders")
        return self


class BaselinesRecipe(RunRecipe):
    """The baselines: other ways to summarise at the same lengths.

    Attributes:
        encoder: embeds sentences and chunks for the systems that need it.
        systems: names of baselines (`core/summarizers/baselines.py`) and generators: known names, folders, or Hub ids.
    """

    encoder: str = "all-MiniLM-L6-v2"
    systems: Annotated[tuple[str, ...], Field(min_length=1)] = tuple(BASELINES)

    @model_validator(mode="after")
    def _systems_are_known_and_differ(self) -> Self:
        _model_name(self.encoder)
        _require_different([_signature(system) for system in self.systems], "systems")
        return self


def _model_name(model: str) -> str:
    try:
        return parse_model(model).name
    except ModelError as error:
        raise ValueError(str(error)) from error


def _signature(system: str) -> str:
    if system in BASELINES:
        return system
    try:
        return parse_generator(system).signature
    except ModelError as error:
        raise ValueError(f"there is no system {system!r}: the baselines are {', '.join(BASELINES)}. {error}") from error


def _require_different(names: list[str], kind: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two {kind} are called {name!r}, so their summaries could not be told apart")


RECIPE_OF_JOB: dict[str, type[RunRecipe]] = {"phase1": Phase1Recipe, "baselines": BaselinesRecipe}


def load_recipe(job: str, name: str, overrides: Mapping[str, Any]) -> RunRecipe:
    """The recipe `name` of a job (a bundled one, or a YAML file) with `overrides` on top.

    Args:
        job: a name in `RECIPE_OF_JOB`.
        name: `sample`, `paper`, or a path ending in .yaml.
        overrides: by field name. `datasets` replaces all datasets; `limit` and the like apply to each of them.

    Raises:
        RecipeError: there is no such recipe, or a key or value is not usable (each named).
    """
    values = {**_read(job, name), **{key: value for key, value in overrides.items() if key not in _DATASET_KEYS}}
    of_datasets = {key: value for key, value in overrides.items() if key in _DATASET_KEYS}
    if of_datasets and isinstance(values.get("datasets"), list):
        values["datasets"] = [{**dataset, **of_datasets} for dataset in values["datasets"]]
    return parse_recipe(job, values, name)


_DATASET_KEYS = frozenset(DatasetRecipe.model_fields) - {"name"}


def parse_recipe(job: str, values: Mapping[str, Any], name: str) -> RunRecipe:
    """A job's recipe from plain values; `name` is what errors call it.

    Raises:
        RecipeError: naming every key that is unknown, missing or unusable.
    """
    try:
        return RECIPE_OF_JOB[job].model_validate(values)
    except ValidationError as error:
        problems = [f"  {'.'.join(map(str, e['loc'])) or 'recipe'}: {_problem(job, e)}" for e in error.errors()]
        raise RecipeError("\n".join([f"The recipe {name!r} is not usable:", *problems])) from error


def _problem(job: str, error: Any) -> str:
    if error["type"] == "extra_forbidden":
        return f"unknown key; a recipe has: {', '.join(RECIPE_OF_JOB[job].model_fields)}"
    return str(error["msg"])


def _read(job: str, name: str) -> dict[str, Any]:
    bundled = sorted(path.stem for path in (RECIPES / job).glob("*.yaml"))
    path = RECIPES / job / f"{name}.yaml" if name in bundled else Path(name)
    if not path.is_file():
        raise RecipeError(f"There is no recipe {name!r}: give one of {', '.join(bundled)}, or a YAML file.")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(values, dict):
        raise RecipeError(f"{path} holds no keys: a recipe is a mapping such as `seed: 0`.")
    return values
