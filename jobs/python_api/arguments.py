"""The arguments of Python's functions: their names in place of the command line's flags, and lists of texts."""

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
"""A flag with its value, but not inside of a command, which stands in backquotes."""
_NAMES = {"system": "systems", "metric": "metrics", "plugin": "plugins", "dataset": "articles"}
"""Arguments that are not called as their flags are."""


def naming_arguments(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Let the errors of a function name its arguments, and add a note on those that help."""
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
    """A text in which arguments stand for flags: `clean_texts="html"` for `--clean-texts html`."""

    def argument(match: re.Match[str]) -> str:
        name = _NAMES.get(match[1], match[1].replace("-", "_"))
        return f'{name}="{match[2]}"' if match[2] else name

    return _FLAG.sub(argument, text)


class ArgumentConsole(PrintableConsole):
    """A console on stderr for what the command line prints, too. It names arguments."""

    def __init__(self) -> None:
        super().__init__(stderr=True, soft_wrap=True, force_jupyter=False)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print objects as rich does. `options` are those of its `Console.print`."""
        super().print(*(in_arguments(one) if isinstance(one, str) else one for one in objects), **options)


def listed(name: str, texts: Any) -> list[Any]:
    """The texts of the argument `name`, a list.

    Raises:
        CorpusError: `texts` is one text, or nothing that holds texts in an order.
    """
    if isinstance(texts, str):
        raise CorpusError(f"`{name}` is one text, and must be a list of them.")
    if isinstance(texts, Mapping | set | frozenset) or hasattr(texts, "columns"):  # frames of pandas, polars, Arrow
        raise CorpusError(f"`{name}` must be a list of texts or a column of a frame, not a {type(texts).__name__}.")
    return list(texts)


def plain(value: Any) -> Any:
    """A number of NumPy's as Python's; all else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def index_of(*arguments: object) -> "pd.Index[Any] | None":
    """The index of the first that is a Series of pandas; None if none is.

    Raises:
        CorpusError: two have the same labels in different orders, so that the texts in one place are of two rows.
    """
    indexes = [values.index for values in arguments if isinstance(values, pd.Series)]
    if any(set(index) == set(indexes[0]) and not index.equals(indexes[0]) for index in indexes):
        raise CorpusError("The columns have the same index in different orders: sort one as the other, or give lists.")
    return indexes[0] if indexes else None
