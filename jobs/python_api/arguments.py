"""The arguments of Python functions: their names instead of flags in messages, and lists of texts."""

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd

from nws.core.errors import CorpusError, NwsError
from nws.jobs.report.console import PrintableConsole

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
_FLAG = re.compile(r"(?<![^\s(])--([a-z][a-z-]*)(?: (?!with\b)([\w,./:-]*\w))?")
"""A flag with its value, but not inside a command, which stands in backquotes."""
_NAMES = {"system": "systems", "metric": "metrics", "plugin": "plugins", "dataset": "articles"}
"""The arguments whose names differ from their flags."""


def naming_arguments(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Make the errors of a function name its arguments, and add a note about those that help."""
    names = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*args: Parameters.args, **options: Parameters.kwargs) -> Returned:
        try:
            return function(*args, **options)
        except NwsError as error:
            error.args = (in_arguments(str(error)),)
            if helping := [name for key in error.settings if (name := _NAMES.get(key, key)) in names]:
                error.add_note(f"Arguments that help: {', '.join(helping)}.")
            raise

    return call


def in_arguments(text: str) -> str:
    """Replace flags in a text by arguments: `--clean-texts html` becomes `clean_texts="html"`."""

    def argument(match: re.Match[str]) -> str:
        name = _NAMES.get(match[1], match[1].replace("-", "_"))
        return f'{name}="{match[2]}"' if match[2] else name

    return _FLAG.sub(argument, text)


class ArgumentConsole(PrintableConsole):
    """A console on stderr that shows the messages of the command line, with arguments instead of flags."""

    def __init__(self) -> None:
        super().__init__(stderr=True, soft_wrap=True, force_jupyter=False)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print objects as rich does. `options` are those of its `Console.print`."""
        super().print(*(in_arguments(one) if isinstance(one, str) else one for one in objects), **options)


def listed(name: str, texts: Any) -> list[Any]:
    """Return the texts of the argument `name` as a list.

    Raises:
        CorpusError: `texts` is a single text, or not an ordered collection of texts.
    """
    if isinstance(texts, str):
        raise CorpusError(f"`{name}` is a single text, but must be a list of texts.")
    if isinstance(texts, Mapping | set | frozenset) or hasattr(texts, "columns"):  # frames of pandas, polars, Arrow
        raise CorpusError(f"`{name}` must be a list of texts or a column of a frame, not a {type(texts).__name__}.")
    return list(texts)


def plain(value: Any) -> Any:
    """Convert a NumPy number to a Python number; return anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def index_of(*arguments: object) -> "pd.Index[Any] | None":
    """Return the index of the first argument that is a pandas Series; None if there is none.

    Raises:
        CorpusError: two Series have the same labels in different orders, so that their texts would be mixed up.
    """
    indexes = [values.index for values in arguments if isinstance(values, pd.Series)]
    if any(set(index) == set(indexes[0]) and not index.equals(indexes[0]) for index in indexes):
        raise CorpusError("The columns have the same index in different orders. Sort them alike, or give lists.")
    return indexes[0] if indexes else None
