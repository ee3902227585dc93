"""Plugins: code from a Python file, whose source travels with the work, or from an installed package.

What it may hold: systems (`core.summarizers.plugins`) and metrics (`core.metrics.plugins`).
"""

import contextlib
import functools
import hashlib
import importlib.metadata
import inspect
import sys
import traceback
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from core.errors import PluginError
from core.imports import imported_versions, package_sources
from core.text.files import is_file

if TYPE_CHECKING:
    from core.summarizers.systems import System

SYSTEMS = "nws.systems"
METRICS = "nws.metrics"
"""Groups of entry points: the name of one is that of its system, or of its metric."""
METRIC_OF_PLUGIN = "plugin:"
"""What follows the name in the signature of a plugin's metric, and of no other."""
# Of each module with an entry point that this process has loaded.
_FIRST_SHA256: weakref.WeakKeyDictionary[ModuleType, str] = weakref.WeakKeyDictionary()
# From an article's text and n to a summary of n words.
Write: TypeAlias = Callable[[str, int], str]
# From a summary and its references to a number, the higher the better.
Judge: TypeAlias = Callable[[str, Sequence[str]], float]


@dataclass(frozen=True, slots=True)
class PluginSpec:
    """Which code from outside.

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
        libraries: what it imports, with versions, see `core.imports`.
    """

    name: str
    version: str
    sha256: str
    group: str
    source: str | None = field(repr=False)
    libraries: tuple[tuple[str, str], ...] = ()

    def systems(self) -> "Mapping[str, Write | System]":
        """Its systems by name, which may be none; the code runs once in a process.

        Raises:
            PluginError: it cannot be imported, has neither systems nor metrics, or another version of it or of what it
                imports is installed here.
        """
        return self._named("SYSTEMS", SYSTEMS)

    def metrics(self) -> Mapping[str, Judge]:
        """Its metrics by name, which may be none; else as `systems`."""
        return self._named("METRICS", METRICS)

    def _named(self, kind: str, group: str) -> Mapping[str, Any]:
        if self.source is None:
            return {self.name: _verified(self)} if self.group == group else {}
        _require_libraries(self)
        return _imported(self.name, self.source, self.sha256).get(kind, {})


def read_plugin(spec: PluginSpec, path: Path) -> Plugin:
    """The plugin of `spec`: the file at `path` if its name ends in .py, else an installed one.

    Raises:
        PluginError: there is none of this name.
    """
    if not spec.plugin.endswith(".py"):
        entry = _entry_point(spec.plugin)
        _, sha256, libraries = _installed(entry)
        return Plugin(spec.plugin, _version(entry), sha256, entry.group, None, libraries)
    if not is_file(path):
        raise PluginError(f"There is no plugin {spec.plugin}: this file does not exist. Check the path.")
    try:
        content = path.read_bytes()
        source, sha256 = content.decode(), hashlib.sha256(content).hexdigest()
        return Plugin(Path(spec.plugin).name, "", sha256, "", source, tuple(imported_versions(source).items()))
    except (OSError, UnicodeDecodeError) as error:
        raise PluginError(f"The plugin {spec.plugin} cannot be read: {error}.") from error


@contextlib.contextmanager
def blaming(failed: str, file: str, called: object = None) -> Iterator[None]:
    """Around code from outside, of which every attribute may be code: what it raises is a `PluginError`.

    That includes `sys.exit`, but no interrupt.

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
        raise PluginError(f"{failed}: {describe_error(error, file, called)}") from error


def describe_error(error: BaseException, file: str, called: object = None) -> str:
    """Class and message of an error, with the line of the file where it arose, else with that where `called` begins."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    position = f" (line {lines[-1]})" if lines else in_brackets(definition(called))
    try:
        message = f": {error}"
    except Exception:  # of its own class, whose text is code, too
        message = ""
    return f"{type(error).__name__}{message}{position}"


def owner(plugin: Plugin, called: object) -> str:
    """What errors call the file of a plugin's function: the plugin's name, or the file that an entry point's is in."""
    return Path(file_of(called)).name if plugin.source is None and file_of(called) else plugin.name


def file_of(called: object) -> str:
    """The file of a function, as tracebacks name it; "" if it is not written in Python."""
    code = _code(called)
    return code.co_filename if code else ""


def definition(called: object) -> str:
    """`defined on line 3`; "" of what is not written in Python."""
    code = _code(called)
    return f"defined on line {code.co_firstlineno}" if code else ""


def in_brackets(text: str) -> str:
    """To append to a sentence: nothing where there is no text."""
    return f" ({text})" if text else ""


def require_signature(called: Callable[..., object], given: Sequence[object], owner: str, what: str, cure: str) -> None:
    """Refuse a function that cannot be called with `given`. One without a signature, as of C code, is let through.

    Args:
        called: the function, or the method of an object.
        given: arguments as it will get them.
        owner: whose it is.
        what: names these arguments.
        cure: says how it should begin.

    Raises:
        PluginError: names all of these, and the line.
    """
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*given)
    except TypeError as error:
        reason = "; ".join(filter(None, (str(error), definition(called))))
        raise PluginError(f"{owner} cannot be called with {what} ({reason}). It must take both: {cure}.") from error


def _code(called: object) -> CodeType | None:
    """Of a function or method, or of an object that can be called."""
    try:
        code = getattr(called, "__code__", None)
        if code is None and callable(called):
            code = getattr(called.__call__, "__code__", None)
    except Exception:  # an object from outside, whose attributes are code
        return None
    return code if isinstance(code, CodeType) else None


@functools.lru_cache(maxsize=64)
def _imported(name: str, source: str, sha256: str) -> Mapping[str, Mapping[str, Any]]:
    """What a source names, by kind. Its module is in `sys.modules` while it runs and after: dataclasses look there."""
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


@functools.lru_cache(maxsize=64)
def _verified(plugin: Plugin) -> Any:
    """The object of an entry point, loaded once in a process, if its code is the one that was pinned."""
    loaded, sha256, libraries = _installed(_entry_point(plugin.name))
    _require_same(plugin, libraries)
    if sha256 != plugin.sha256:
        raise PluginError(
            f"The installed plugin {plugin.name} differs here: its SHA-256 was {plugin.sha256[:12]}… and is "
            f"{sha256[:12]}…. Install {plugin.version} on every machine of the run."
        )
    return loaded


@functools.lru_cache(maxsize=64)
def _require_libraries(plugin: Plugin) -> None:
    _require_same(plugin, tuple(imported_versions(plugin.source or "").items()))


def _require_same(plugin: Plugin, libraries: tuple[tuple[str, str], ...]) -> None:
    was, is_now = dict(plugin.libraries), dict(libraries)
    names = [name for name in {**was, **is_now} if was.get(name) != is_now.get(name)]
    if names:
        told = ", ".join(f"{name} was {was.get(name, 'absent')} and is {is_now.get(name, 'absent')}" for name in names)
        raise PluginError(
            f"What the plugin {plugin.name} imports differs here: {told}. Install the same on every machine of the run."
        )


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


def _installed(entry: importlib.metadata.EntryPoint) -> tuple[Any, str, tuple[tuple[str, str], ...]]:
    """The object of an entry point, the SHA-256 of the package that it is in, and what that imports."""
    with blaming(f"The installed plugin {entry.name} cannot be imported", ""):
        loaded = entry.load()
        sha256, sources = package_sources(entry.module)
        if sha256 != _FIRST_SHA256.setdefault(sys.modules[entry.module], sha256):
            raise PluginError(
                f"The installed plugin {entry.name} was edited after this process imported it: nobody can tell "
                "which of its code runs. Start a new process; in a notebook, restart the kernel."
            )
        own = entry.module.partition(".")[0]
        libraries = tuple((name, version) for name, version in imported_versions(*sources).items() if name != own)
    return loaded, sha256, libraries
