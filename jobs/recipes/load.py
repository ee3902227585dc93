"""From a YAML file and flags to a typed recipe, checked before anything is loaded."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from core.errors import RecipeError
from jobs.recipes.base import DatasetRecipe, RunRecipe

Recipe = TypeVar("Recipe", bound=RunRecipe)
BUNDLED = Path(__file__).parent / "bundled"


def load_recipe(kind: type[Recipe], name: str, overrides: Mapping[str, Any]) -> Recipe:
    """The recipe `name` of a job (a bundled one, or a YAML file) with `overrides` on top.

    Args:
        kind: the class of the job's recipes.
        name: `sample`, `paper`, or a path ending in .yaml.
        overrides: by field name. `datasets` replaces all datasets; `limit` and the like apply to each of them, and
            `train_limit` and the like to each of `train_datasets`.

    Raises:
        RecipeError: there is no such recipe, or a key or value is not usable (each named).
    """
    of_datasets = {key for keys in _OF_EACH_DATASET.values() for key in keys}
    values = {**_read(kind.job, name), **{key: value for key, value in overrides.items() if key not in of_datasets}}
    for field, keys in _OF_EACH_DATASET.items():
        given = {own: overrides[key] for key, own in keys.items() if key in overrides}
        if given and isinstance(values.get(field), list):
            values[field] = [{**one, **given} if isinstance(one, Mapping) else one for one in values[field]]
    return parse_recipe(kind, values, name)


_KEYS = frozenset(DatasetRecipe.model_fields) - {"name"}
_OF_EACH_DATASET = {"datasets": {key: key for key in _KEYS}, "train_datasets": {f"train_{key}": key for key in _KEYS}}


def parse_recipe(kind: type[Recipe], values: Mapping[str, Any], name: str) -> Recipe:
    """A job's recipe from plain values; `name` is what errors call it.

    Raises:
        RecipeError: naming every key that is unknown, missing or unusable.
    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        problems = [f"  {'.'.join(map(str, e['loc'])) or 'recipe'}: {_problem(kind, e)}" for e in _first(error)]
        raise RecipeError("\n".join([f"The recipe {name!r} is not usable:", *problems])) from error


def _first(error: ValidationError) -> list[Any]:
    """Its errors, but for those that a list is too short because of what is wrong inside it."""
    found = error.errors()
    wrong_inside = {e["loc"][:length] for e in found for length in range(len(e["loc"]))}
    return [e for e in found if not (e["type"] == "too_short" and e["loc"] in wrong_inside)]


def _problem(kind: type[RunRecipe], error: Any) -> str:
    if error["type"] == "extra_forbidden":
        level = _model_at(kind, error["loc"][:-1])
        where = "a recipe" if level is kind else "this part of a recipe"
        return f"unknown key; {where} has: {', '.join(level.model_fields)}"
    return str(error["msg"]).removeprefix("Value error, ")


def _model_at(model: type[BaseModel], place: Sequence[Any]) -> type[BaseModel]:
    """The part of a recipe at a place in it."""
    for key in place:
        if key in model.model_fields:
            model = _model_in(model.model_fields[key].annotation) or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)


def _read(job: str, name: str) -> dict[str, Any]:
    bundled = sorted(path.stem for path in (BUNDLED / job).glob("*.yaml"))
    path = BUNDLED / job / f"{name}.yaml" if name in bundled else Path(name)
    if not path.is_file():
        raise RecipeError(f"There is no recipe {name!r}: give one of {', '.join(bundled)}, or a YAML file.")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(values, dict):
        raise RecipeError(f"{path} holds no keys: a recipe is a mapping such as `seed: 0`.")
    return values
