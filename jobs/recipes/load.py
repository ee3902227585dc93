"""From a YAML file and overrides to a typed recipe, which is checked before anything is loaded."""

import pkgutil
import re
import reprlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, cast, get_args, get_type_hints

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticUndefined, to_jsonable_python

from nws.core.errors import RecipeError, did_you_mean
from nws.core.text.reader import is_file
from nws.jobs.recipes.base import LENGTHS, NOT_BOTH, Flag, RunRecipe, attributes

Recipe = TypeVar("Recipe", bound=RunRecipe)
BUNDLED = Path(__file__).parent / "bundled"
_MOST_VALUES = 100_000
_AMBIGUOUS = re.compile(r"[-+]?(0[0-9_][0-9_.]*|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)")
RECIPES = {
    "phase1": "nws.jobs.recipes.sweep_recipe:Phase1Recipe",
    "baselines": "nws.jobs.recipes.sweep_recipe:BaselinesRecipe",
    "phase2": "nws.jobs.recipes.phase2:Phase2Recipe",
}
"""The classes of recipes by job, see `recipe_class`."""


def recipe_class(job: str) -> type[RunRecipe]:
    """Import and return the class of a job's recipes."""
    kind: type[RunRecipe] = pkgutil.resolve_name(RECIPES[job])
    return kind


def _keys(part: type) -> tuple[str, ...]:
    """Return the keys of a recipe, or of a part of it, which may be a plain dataclass."""
    return tuple(
        part.model_fields if issubclass(part, BaseModel) else (field.name for field in fields(cast(Any, part)))
    )


class _Loader(yaml.SafeLoader):
    """A YAML loader that refuses what people would misread: equal keys (the last counts), 010 (8), and 1:30 (90)."""

    def compose_scalar_node(self, anchor: Any) -> yaml.ScalarNode:
        node = super().compose_scalar_node(anchor)
        if node.style is None and _AMBIGUOUS.fullmatch(node.value):
            raise RecipeError(f"{node.value} begins with a zero or has a colon. Write a plain number, or quote a text.")
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            first, line = lines.get(key.value), key.start_mark.line + 1
            if first is not None:
                raise RecipeError(f"the key {key.value!r} stands twice, in lines {first} and {line}. Keep one.")
            lines[key.value] = line
        return node


def _plain_values(text: str) -> Any:
    """Parse YAML. Refuses aliases that stand for billions of values, or for a value that contains itself."""
    values = yaml.load(text, _Loader)  # a safe one
    waiting, count = [values], 0
    while waiting:
        part, count = waiting.pop(), count + 1
        if count > _MOST_VALUES:
            raise RecipeError(f"its aliases (*name) stand for more than {_MOST_VALUES:,} values.")
        waiting += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return values


def load_recipe(kind: type[Recipe], name: str, overrides: Mapping[str, Any]) -> Recipe:
    """Load a recipe of a job (a bundled one, or a YAML file), and apply overrides to it.

    Args:
        kind: the class of the job's recipes.
        name: the name of a bundled recipe, such as `sample` or `paper`, or a path that ends in .yaml.
        overrides: values by key. `datasets` replaces all datasets, and `datasets.limit` sets a key of each of them.
            Each of `LENGTHS` also replaces the other. `bertscore.model` drops the recipe's `bertscore.num_layers`,
            which belongs to the recipe's model.

    Raises:
        RecipeError: there is no such recipe, it names code, or keys or values are not usable (all are named).
    """
    read = _read(kind.job, name)
    if "plugins" in read:
        message = f"{name}: a recipe file cannot name plugins. Name the plugin on the command line."
        raise RecipeError(message, settings=("plugin",))
    if asked_lengths := overrides.keys() & LENGTHS:
        if len(asked_lengths) == len(LENGTHS):
            raise RecipeError(f"{NOT_BOTH}.", settings=LENGTHS)
        read = {key: value for key, value in read.items() if key not in LENGTHS}
    if "bertscore.model" in overrides:
        overrides = {"bertscore.num_layers": None, **overrides}
    values = dict(read)
    for key in sorted(overrides, key=lambda key: key.count(".")):  # a whole field before what is inside it
        field, *inside = key.split(".")
        values[field] = _with(values.get(field, _default(kind, field)), inside, overrides[key], key)
    return parse_recipe(kind, values, name, overrides)


def parse_settings(texts: Sequence[str], flag: str = "--set") -> dict[str, Any]:
    """Parse values of `--set`, such as `bertscore.num_layers=5`, or mappings, in YAML. Returns them by key.

    Raises:
        RecipeError: a text has no key, or its value is not YAML.
    """
    settings: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        is_mapping = text.lstrip().startswith("{")
        if not is_mapping and not (key and equals):
            raise RecipeError(f"{flag} takes a key and a value, such as seed=0, not {text!r}.")
        try:
            settings |= _plain_values(text) if is_mapping else {key: _plain_values(value)}
        except (RecipeError, yaml.YAMLError, ValueError, RecursionError) as error:
            raise RecipeError(f"{flag} {key}: the value is not valid YAML: {error}") from error
    return settings


def _default(kind: type[RunRecipe], field: str) -> Any:
    """Return the default of a field of a recipe in plain values; None if it has none."""
    if field not in kind.model_fields:
        return None
    default = kind.model_fields[field].get_default(call_default_factory=True)
    return None if default is PydanticUndefined else to_jsonable_python(default)


def _with(value: Any, inside: Sequence[str], given: Any, key: str) -> Any:
    """Set a value inside a value of a recipe; if it is a list, in each of its parts. Returns the new value.

    Raises:
        RecipeError: there is no such place; `key` is its full name.
    """
    if not inside:
        return given
    if isinstance(value, list | tuple):
        parts = [{"name": part} if isinstance(part, str) else part for part in value]
        return [_with(part, inside, given, key) for part in parts]
    if not isinstance(value, Mapping | None):
        raise RecipeError(f"{key}: {reprlib.repr(value)} has no keys.")
    part = value or {}
    return {**part, inside[0]: _with(part.get(inside[0]), inside[1:], given, key)}


def parse_recipe(kind: type[Recipe], values: Mapping[str, Any], name: str, overrides: Collection[str] = ()) -> Recipe:
    """Parse a job's recipe from plain values. `name` is its name in errors, `overrides` are the keys from outside.

    Raises:
        RecipeError: names every unknown, missing or unusable key or part. If only overrides are wrong, they are the
            error's settings.
    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        causes = _root_causes(error)
        blamed = [_override(cause["loc"], overrides) for cause in causes]
        if all(blamed):
            messages = [f"{key}: {_problem(kind, cause)}" for key, cause in zip(blamed, causes, strict=True)]
            names = {key: flag.name for flag, key, _ in flags_of(kind) if flag.inside}
            settings = dict.fromkeys(names.get(key, key) for key in blamed if key)
            raise RecipeError("\n".join(dict.fromkeys(messages)), settings=tuple(settings)) from error
        problems = [f"  {'.'.join(map(str, cause['loc'])) or 'recipe'}: {_problem(kind, cause)}" for cause in causes]
        raise RecipeError("\n".join([f"The recipe {name!r} is not usable:", *problems])) from error


def flags_of(kind: type[RunRecipe]) -> Iterator[tuple[Flag, str, str]]:
    """Yield the flags of a recipe, each with the key that it sets and its help; those of its own class come first."""
    own = [name for name in kind.__annotations__ if name in kind.model_fields]
    for name in dict.fromkeys((*own, *kind.model_fields)):
        for flag in kind.model_fields[name].metadata:
            if isinstance(flag, Flag):
                place = [name, flag.inside] if flag.inside else [name]
                text = flag.told or attributes(_part_at(kind, place[:-1]))[place[-1]]
                yield flag, ".".join(place), text[0].upper() + text[1:]


def _override(place: Sequence[Any], overrides: Collection[str]) -> str | None:
    """Return the override that set a place in a recipe; None if the value is the recipe's own."""
    path = ".".join(key for key in place if isinstance(key, str))
    return max((key for key in overrides if f"{path}.".startswith(f"{key}.")), key=len, default=None)


def _root_causes(error: ValidationError) -> list[Any]:
    """Return the errors of a validation, without "list too short" where an error inside the list is the cause."""
    errors = error.errors()
    wrong_inside = {e["loc"][:length] for e in errors for length in range(len(e["loc"]))}
    return [e for e in errors if not (e["type"] == "too_short" and e["loc"] in wrong_inside)]


def _problem(kind: type[RunRecipe], error: Any) -> str:
    if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        part = _part_at(kind, error["loc"][:-1])
        where = "a recipe" if part is kind else "this part of a recipe"
        keys = _keys(part)
        return f"unknown key; {where} has: {', '.join(keys)}.{did_you_mean(str(error['loc'][-1]), keys)}"
    said = str(error["msg"]).removeprefix("Value error, ")
    if said.startswith("Input "):
        return f"{said.removeprefix('Input ')}, not {reprlib.repr(error['input'])}"
    return said


def _part_at(kind: type, place: Sequence[Any]) -> type:
    """Return the class of the part of a recipe at a place."""
    for key in place:
        if key in _keys(kind):
            kind = _part_in(get_type_hints(kind)[key]) or kind
    return kind


def _part_in(annotation: Any) -> type | None:
    if isinstance(annotation, type) and (issubclass(annotation, BaseModel) or is_dataclass(annotation)):
        return annotation
    return next((inner for part in get_args(annotation) if (inner := _part_in(part))), None)


def bundled_names(job: str) -> list[str]:
    """List the names of a job's recipes that come with NWS."""
    return sorted(path.stem for path in (BUNDLED / job).glob("*.yaml"))


def _read(job: str, name: str) -> dict[str, Any]:
    bundled = bundled_names(job)
    path = BUNDLED / job / f"{name}.yaml" if name in bundled else Path(name)
    if not is_file(path):
        raise RecipeError(
            f"There is no recipe {name!r}. Give one of {', '.join(bundled)}, or a YAML file."
            f"{did_you_mean(name, bundled)}",
            settings=("recipe",),
        )
    try:
        values = _plain_values(path.read_text(encoding="utf-8"))
    # ValueError: not UTF-8, or 2024-99-99. RecursionError: [[[[…
    except (RecipeError, OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise RecipeError(f"{path} cannot be read as YAML: {error}") from error
    if not isinstance(values, dict):
        raise RecipeError(f"{path} has no keys. A recipe is a mapping such as `seed: 0`.")
    return values
