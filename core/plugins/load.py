"""Loading plugins: code from a Python file, whose source travels with the work, or from an installed package.

Both are pinned by the hash of their files. What these import is not looked at. What the code raises becomes a
`PluginError` with the line where it arose.
"""

import contextlib
import functools
import hashlib
import importlib.metadata
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from core.errors import PluginError
from core.provenance import file_sha256, files_below, files_sha256
from core.text.reader import is_file

if TYPE_CHECKING:
    from core.systems.system import System

SYSTEMS = "nws.systems"
METRICS = "nws.metrics"
"""Groups of entry points: the name of one is that of its system, or of its metric."""
# From an article's text and n to a summary of n words.
Write: TypeAlias = Callable[[str, int], str]
# From a summary, its references and what it asks for to a number, the higher the better.
Judge: TypeAlias = Callable[..., float]


@dataclass(frozen=True, slots=True)
class PluginSpec:
    """The code from outside that a recipe names.

    Attributes:
        plugin: a Python file, or the name of an installed entry point of the group `nws.systems` or `nws.metrics`.
        sha256: 64 hex digits, of the file's bytes or of all files of the package that the entry point is in; "" while
            it has not been read.
    """

    plugin: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Plugin:
    """Code from outside, pinned.

    Attributes:
        name: of the file, or of the entry point.
        version: of the distribution that has the entry point, "" for a file.
        sha256: see `PluginSpec`.
        group: of the entry point, "" for a file.
        source: of the file; None for an entry point, which must be installed wherever it runs.
        objects: systems and metrics of the caller's own, by kind and name, see `plugin_of_session`; None for others.
    """

    name: str
    version: str
    sha256: str
    group: str
    source: str | None = field(repr=False)
    objects: Mapping[str, Mapping[str, Any]] | None = field(default=None, repr=False, compare=False)

    def systems(self) -> "Mapping[str, Write | System]":
        """Its systems by name, which may be none; the code runs once in a process.

        Raises:
            PluginError: it cannot be imported, has neither systems nor metrics, or another version is installed here.
        """
        return self._named("SYSTEMS", SYSTEMS)

    def metrics(self) -> Mapping[str, Judge]:
        """Its metrics by name, which may be none; else as `systems`."""
        return self._named("METRICS", METRICS)

    def file(self, called: object) -> str:
        """The file of one of its functions, as tracebacks name it; its own name if that is not written in Python."""
        code = _code(called)
        return self.name if code is None else code.co_filename

    def owner(self, called: object) -> str:
        """The name of that file in errors."""
        return Path(self.file(called)).name

    def _named(self, kind: str, group: str) -> Mapping[str, Any]:
        if self.objects is not None:
            return self.objects[kind]
        if self.source is None:
            return {self.name: _verified(self)} if self.group == group else {}
        return _imported(self.name, self.source, self.sha256).get(kind, {})


def read_plugin(spec: PluginSpec, path: Path) -> Plugin:
    """The plugin of `spec`: the file at `path` if its name ends in .py, else an installed one.

    Raises:
        PluginError: there is none of this name.
    """
    if not spec.plugin.endswith(".py"):
        entry = _entry_point(spec.plugin)
        _, sha256 = _installed(entry)
        return Plugin(spec.plugin, _version(entry), sha256, entry.group, None)
    if not is_file(path):
        raise PluginError(f"There is no plugin {spec.plugin}: this file does not exist. Check the path.")
    try:
        content = path.read_bytes()
        source, sha256 = content.decode(), hashlib.sha256(content).hexdigest()
    except (OSError, UnicodeDecodeError) as error:
        raise PluginError(f"The plugin {spec.plugin} cannot be read: {error}.") from error
    name = Path(spec.plugin).name
    _imported(name, source, sha256)  # an error is told before the run begins
    return Plugin(name, "", sha256, "", source)


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
    return Plugin("this session", "", sha256, "", None, {"SYSTEMS": dict(systems), "METRICS": dict(metrics)})


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


def _verified(plugin: Plugin) -> Any:
    """The object of an entry point, if its code is the one that was pinned."""
    loaded, sha256 = _installed(_entry_point(plugin.name))
    if sha256 != plugin.sha256:
        raise PluginError(
            f"The installed plugin {plugin.name} differs here: its SHA-256 was {plugin.sha256[:12]}… and is "
            f"{sha256[:12]}…. Install {plugin.version} on every machine of the run."
        )
    return loaded


def _entry_point(name: str) -> importlib.metadata.EntryPoint:
    offered = [entry for group in (SYSTEMS, METRICS) for entry in importlib.metadata.entry_points(group=group)]
    matches = [entry for entry in offered if entry.name == name]
    if len(matches) == 1:
        return matches[0]
    if matches:
        owners = ", ".join(sorted(f"{entry.dist.name} ({entry.group})" for entry in matches if entry.dist))
        raise PluginError(f"Several installed plugins are called {name!r}: {owners}. Only one may be.")
    names = ", ".join(sorted(entry.name for entry in offered))
    raise PluginError(
        f"There is no plugin {name!r}: give a file ending in .py, or one that is installed ({names or 'none is'})."
    )


def _version(entry: importlib.metadata.EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""


@functools.lru_cache(maxsize=64)  # the hash stays that of the code which this process has imported
def _installed(entry: importlib.metadata.EntryPoint) -> tuple[Any, str]:
    """The object of an entry point, and the SHA-256 of the package that it is in, or of its own file."""
    with blaming(f"The installed plugin {entry.name} cannot be imported", ""):
        loaded = entry.load()
        parts = entry.module.split(".")
        modules = (sys.modules[".".join(parts[:i])] for i in range(1, len(parts) + 1))
        # The outermost that has a file: of a namespace others have parts, too.
        file = next(Path(module.__file__) for module in modules if module.__file__)
        if file.name != "__init__.py":
            return loaded, file_sha256(file)
        return loaded, files_sha256(file.parent, files_below(file.parent))
