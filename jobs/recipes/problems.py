"""What pydantic finds wrong with a value of a recipe, said plainly."""

import reprlib
from collections.abc import Mapping
from typing import Any

# By pydantic's name for the kind of error. Places are filled from the error's own values.
_SAID = {
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "literal_error": "must be {expected}",
    **dict.fromkeys(("int_type", "int_parsing", "int_parsing_size", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    "finite_number": "must be a finite number",
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    "string_type": "must be text",
    **dict.fromkeys(("list_type", "tuple_type"), "must be a list"),
    **dict.fromkeys(("dict_type", "model_type", "dataclass_type"), "must be a mapping (`key: value`)"),
}


def plain_problem(error: Mapping[str, Any]) -> str:
    """What is wrong, with the value that was given; pydantic's own words for kinds that are not known here.

    Args:
        error: of pydantic's `ValidationError.errors()`.
    """
    kind, values = error["type"], {key: _number(value) for key, value in error.get("ctx", {}).items()}
    if kind == "missing":
        return "is missing"
    if kind == "too_short" and not len(error["input"]):
        return "must not be empty"
    if kind in _SAID:
        return f"{_SAID[kind].format(**values)}, not {reprlib.repr(error['input'])}"
    return str(error["msg"]).removeprefix("Value error, ")


def _number(value: object) -> object:
    """A limit as a person writes it: 0 for 0.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
