"""Plugins are read from a Python file, whose source travels with the work and is pinned by its hash.

What the file imports is not looked at. What its code raises becomes a `PluginError` with the line where it arose.
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

# From an article's text and n to a summary of n words.
Write: TypeAlias = Callable[[str, int], str]
# From a summary, its references and what it asks for to a number, the higher the better.
Judge: TypeAlias = Callable[..., float]


@dataclass(frozen=True, slots=True)
class PluginSpec:
    """The code from outside that a recipe names.

    Attributes:
        plugin: a Python file.
        sha256: 64 hex digits, of the file's bytes; "" while it has not been read.
    """

    plugin: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Plugin:
    """Code from outside, pinned.

    Attributes:
        name: of the file.
        sha256: see `PluginSpec`.
        source: of the file; "" where `objects` are given.
        objects: systems and metrics of the caller's own, by kind and name, see `plugin_of_session`; None for others.
    """

    name: str
    sha256: str
    source: str = field(repr=False)
    objects: Mapping[str, Mapping[str, Any]] | None = field(default=None, repr=False, compare=False)

    def systems(self) -> "Mapping[str, Write | System]":
        """Its systems by name, which may be none; the code runs once in a process.

        Raises:
            PluginError: it cannot be imported, or has neither systems nor metrics.
        """
        return self._named("SYSTEMS")

    def metrics(self) -> Mapping[str, Judge]:
        """Its metrics by name, which may be none; else as `systems`."""
        return self._named("METRICS")

    def file(self, called: object) -> str:
        """The file of one of its functions, as tracebacks name it; its own name if that is not written in Python."""
        code = _code(called)
        return self.name if code is None else code.co_filename

    def owner(self, called: object) -> str:
        """The name of that file in errors."""
        return Path(self.file(called)).name

    def _named(self, kind: str) -> Mapping[str, Any]:
        if self.objects is not None:
            return self.objects[kind]
        return _imported(self.name, self.source, self.sha256).get(kind, {})


def read_plugin(spec: PluginSpec, path: Path) -> Plugin:
    """The plugin in the Python file at `path`.

    Raises:
        PluginError: there is no such file, its name does not end in .py, or it cannot be read or imported.
    """
    if not spec.plugin.endswith(".py"):
        raise PluginError(
            f"The plugin {spec.plugin} is no file ending in .py. Of an installed package, write one that imports it."
        )
    if not is_file(path):
        raise PluginError(f"There is no plugin {spec.plugin}: this file does not exist. Check the path.")
    try:
        content = path.read_bytes()
        source, sha256 = content.decode(), hashlib.sha256(content).hexdigest()
    except (OSError, UnicodeDecodeError) as error:
        raise PluginError(f"The plugin {spec.plugin} cannot be read: {error}.") from error
    name = Path(spec.plugin).name
    _imported(name, source, sha256)  # an error is told before the run begins
    return Plugin(name, sha256, source)


def plugin_of_session(systems: "Mapping[str, Write | System]", metrics: Mapping[str, Judge]) -> Plugin:
    """Functions and objects of the caller's as a plugin of this process, which no other process can have.

    Its SHA-256 is `unknown` where Python cannot find a source, as of what was typed in.
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
    """Around code from outside: what it raises, `sys.exit` too, is a `PluginError`.

    Args:
        failed: with this the message begins.
        file: whose line is named.
        called: whose first line is, if nothing arose in the file.

    Raises:
        PluginError: see above. One that is raised inside stays what it is.
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
    """` (defined on line 3)`; "" of what is not written in Python."""
    code = _code(called)
    return f" (defined on line {code.co_firstlineno})" if code else ""


def _code(called: object) -> CodeType | None:
    """The code of a function or method, or of an object that can be called; None of what is not written in Python."""
    function = called if hasattr(called, "__code__") else getattr(called, "__call__", None)  # noqa: B004
    return getattr(function, "__code__", None)


@functools.lru_cache(maxsize=64)
def _imported(name: str, source: str, sha256: str) -> Mapping[str, Mapping[str, Any]]:
    """The tables that a source defines, by kind. Its module stays in `sys.modules`: dataclasses look there."""
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
    """Copies of `SYSTEMS` and `METRICS`, which may be mappings of any class."""
    tables = {kind: getattr(module, kind) for kind in ("SYSTEMS", "METRICS") if hasattr(module, kind)}
    for kind, table in tables.items():
        if not isinstance(table, Mapping) or not table or not all(isinstance(key, str) for key in table):
            raise PluginError(f'{kind} of the plugin {name} must be {{"name": function_or_object}}.')
    if not tables:
        raise PluginError(
            f"The plugin {name} names neither systems nor metrics: end it with "
            'SYSTEMS = {"name": function_or_object} or METRICS = {"name": function}.'
        )
    return {kind: dict(table) for kind, table in tables.items()}
