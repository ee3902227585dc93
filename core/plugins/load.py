"""Plugins from Python files. The source of a file travels with the work, and is pinned by its hash.

The imports of the file are not pinned. An error in its code becomes a `PluginError` with the line of the error.
"""

import contextlib
import functools
import hashlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from nws.core.errors import PluginError
from nws.core.text.reader import is_file

if TYPE_CHECKING:
    from nws.core.systems.system import System

# A function from an article's text and n to a summary of n words.
Write: TypeAlias = Callable[[str, int], str]
# A function from a summary, its references and extra arguments to a number; the higher, the better.
Judge: TypeAlias = Callable[..., float]


@dataclass(frozen=True, slots=True)
class PluginSpec:
    """A plugin in a recipe.

    Attributes:
        plugin: the Python file.
        sha256: the 64 hex digits of the hash of the file's bytes; "" until the file has been read.
    """

    plugin: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A pinned plugin.

    Attributes:
        name: the name of the file.
        sha256: see `PluginSpec`.
        source: the source of the file; "" if there are `objects`.
        objects: the caller's own systems and metrics, by kind and name, see `plugin_of_session`; None for a file.
    """

    name: str
    sha256: str
    source: str = field(repr=False)
    objects: Mapping[str, Mapping[str, Any]] | None = field(default=None, repr=False, compare=False)

    def systems(self) -> "Mapping[str, Write | System]":
        """Return the plugin's systems by name, if there are any. The code runs once per process.

        Raises:
            PluginError: the plugin cannot be imported, or has neither systems nor metrics.
        """
        return self._named("SYSTEMS")

    def metrics(self) -> Mapping[str, Judge]:
        """Return the plugin's metrics by name, if there are any, see `systems`."""
        return self._named("METRICS")

    def file(self, called: object) -> str:
        """Return the file of one of its functions, as in tracebacks; the plugin's name if it is not in Python."""
        code = _code(called)
        return self.name if code is None else code.co_filename

    def owner(self, called: object) -> str:
        """Return the name of a function's file for errors."""
        return Path(self.file(called)).name

    def _named(self, kind: str) -> Mapping[str, Any]:
        if self.objects is not None:
            return self.objects[kind]
        return _imported(self.name, self.source, self.sha256).get(kind, {})


def read_plugin(spec: PluginSpec, path: Path) -> Plugin:
    """Read the plugin in the Python file at `path`.

    Raises:
        PluginError: there is no such file, its name does not end in .py, or it cannot be read or imported.
    """
    if not spec.plugin.endswith(".py"):
        raise PluginError(
            f"The plugin {spec.plugin} is not a .py file. To use an installed package, write a file that imports it."
        )
    if not is_file(path):
        raise PluginError(f"The plugin {spec.plugin} does not exist. Check the path.")
    try:
        content = path.read_bytes()
        source, sha256 = content.decode(), hashlib.sha256(content).hexdigest()
    except (OSError, UnicodeDecodeError) as error:
        raise PluginError(f"The plugin {spec.plugin} cannot be read: {error}.") from error
    name = Path(spec.plugin).name
    _imported(name, source, sha256)  # so that errors come before the run begins
    return Plugin(name, sha256, source)


def plugin_of_session(systems: "Mapping[str, Write | System]", metrics: Mapping[str, Judge]) -> Plugin:
    """Make a plugin of the caller's functions and objects, which only this process can use.

    Its SHA-256 is `unknown` if Python cannot find a source, for example of a function that was typed in.
    """
    objects = [(name, called) for table in (systems, metrics) for name, called in table.items()]
    try:
        sources = [(name, inspect.getsource(c if inspect.isroutine(c) else type(c))) for name, c in objects]
        sha256 = hashlib.sha256(repr(sources).encode("utf-8", "surrogatepass")).hexdigest()
    except (OSError, TypeError):
        sha256 = "unknown"
    return Plugin("this session", sha256, "", {"SYSTEMS": dict(systems), "METRICS": dict(metrics)})


@contextlib.contextmanager
def blaming(failed: str, file: str, called: object = None) -> Iterator[None]:
    """Turn all errors of a plugin's code in the block, even `sys.exit`, into a `PluginError`.

    Args:
        failed: the beginning of the message.
        file: the file whose line the message names.
        called: the function whose first line it names if no line of the file was involved.

    Raises:
        PluginError: see above. A `PluginError` from inside the block stays as it is.
    """
    try:
        yield
    except PluginError:
        raise
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        position = f" (line {lines[-1]})" if lines else definition(called)
        raise PluginError(f"{failed}: {type(error).__name__}: {error}{position}") from error


def definition(called: object) -> str:
    """Say where a function is defined: ` (defined on line 3)`; "" if it is not written in Python."""
    code = _code(called)
    return f" (defined on line {code.co_firstlineno})" if code else ""


def _code(called: object) -> CodeType | None:
    """Return the code of a function, a method or a callable object; None if it is not written in Python."""
    function = called if hasattr(called, "__code__") else getattr(called, "__call__", None)  # noqa: B004
    return getattr(function, "__code__", None)


@functools.lru_cache(maxsize=64)
def _imported(name: str, source: str, sha256: str) -> Mapping[str, Mapping[str, Any]]:
    """Run a source, and return its tables by kind. The module stays in `sys.modules`, where dataclasses look for it."""
    module = ModuleType(f"nws_plugin_{sha256[:16]}")
    module.__file__ = name
    sys.modules[module.__name__] = module
    try:
        with blaming(f"The plugin {name} cannot be imported", name):
            exec(compile(source, name, "exec"), module.__dict__)
            return _tables(module, name)
    except PluginError:
        del sys.modules[module.__name__]
        raise


def _tables(module: ModuleType, name: str) -> Mapping[str, Mapping[str, Any]]:
    """Copy `SYSTEMS` and `METRICS`, which may be mappings of any class."""
    tables = {kind: getattr(module, kind) for kind in ("SYSTEMS", "METRICS") if hasattr(module, kind)}
    for kind, table in tables.items():
        if not isinstance(table, Mapping) or not table or not all(isinstance(key, str) for key in table):
            raise PluginError(f'{kind} of the plugin {name} must be {{"name": function_or_object}}.')
    if not tables:
        raise PluginError(
            f"The plugin {name} has neither systems nor metrics. End it with "
            'SYSTEMS = {"name": function_or_object} or METRICS = {"name": function}.'
        )
    return {kind: dict(table) for kind, table in tables.items()}
