"""Loading plugins: code from a Python file, whose source travels with the work, or from an installed package.

Both are pinned, with the versions of what they import: the numbers of a plugin come from there, too.
"""

import ast
import contextlib
import functools
import hashlib
import importlib.metadata
import inspect
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from core.errors import LibraryError, PluginError
from core.fingerprint import files_below, files_sha256
from core.libraries import (
    UNKNOWN_FILES,
    edited_version,
    has_hidden_place,
    is_installed_by,
    is_known,
    is_of_python,
    may_be_older_in_memory,
    module_places,
    require_own_bytecode,
)
from core.plugins.call import blaming, file_of
from core.text.files import is_file

if TYPE_CHECKING:
    from core.summarizers.systems import System

SYSTEMS = "nws.systems"
METRICS = "nws.metrics"
"""Groups of entry points: the name of one is that of its system, or of its metric."""
_OUR_OWN = frozenset({"core", "cluster", "jobs", "nws", "__future__"})
_CACHES = frozenset({"__pycache__"})
# Of each module with an entry point that this process has loaded.
_FIRST_SHA256: weakref.WeakKeyDictionary[ModuleType, str] = weakref.WeakKeyDictionary()
# From an article's text and n to a summary of n words.
Write: TypeAlias = Callable[[str, int], str]
# From a summary, its references and what it asks for to a number, the higher the better.
Judge: TypeAlias = Callable[..., float]


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
        libraries: what it imports, with versions, see `imported_versions`.
        objects: systems and metrics of the caller's own, by kind and name, see `plugin_of_session`; None for others.
    """

    name: str
    version: str
    sha256: str
    group: str
    source: str | None = field(repr=False)
    libraries: tuple[tuple[str, str], ...] = ()
    objects: Mapping[str, Mapping[str, Any]] | None = field(default=None, repr=False, compare=False)

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

    def owner(self, called: object) -> str:
        """What errors call the file of one of its functions: its name, or the file that an entry point's is in."""
        return Path(file_of(called)).name if self.source is None and file_of(called) else self.name

    def file(self, called: object) -> str:
        """The file of one of its functions, as tracebacks name it."""
        return file_of(called) if self.source is None else self.name

    def _named(self, kind: str, group: str) -> Mapping[str, Any]:
        if self.objects is not None:
            return self.objects[kind]
        if self.source is None:
            return {self.name: _verified(self)} if self.group == group else {}
        _import_as_pinned(self)
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
    except (OSError, UnicodeDecodeError) as error:
        raise PluginError(f"The plugin {spec.plugin} cannot be read: {error}.") from error
    name = Path(spec.plugin).name
    return Plugin(name, "", sha256, "", source, _import(name, source, sha256))


def plugin_of_session(systems: "Mapping[str, Write | System]", metrics: Mapping[str, Judge]) -> Plugin:
    """Functions and objects of the caller's as a plugin of this process, which no other process can have."""
    named = ((name, source_of(called) or "") for table in (systems, metrics) for name, called in table.items())
    sha256 = hashlib.sha256(repr([*named]).encode("utf-8", "surrogatepass")).hexdigest()
    return Plugin("this session", "", sha256, "", None, (), {"SYSTEMS": dict(systems), "METRICS": dict(metrics)})


def source_of(called: object) -> str | None:
    """The source of a function or of an object's class; None if Python cannot find it, as of what was typed in."""
    try:
        return inspect.getsource(called if inspect.isroutine(called) else type(called))
    except (OSError, TypeError):
        return None


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
def _import_as_pinned(plugin: Plugin) -> None:
    _require_same(plugin, _import(plugin.name, plugin.source or "", plugin.sha256))


def _import(name: str, source: str, sha256: str) -> tuple[tuple[str, str], ...]:
    """What a source imports, with versions, see `imported_versions`; the code runs once in a process."""
    imported_versions(source)  # so that it is known which files there were before the import
    _imported(name, source, sha256)
    return tuple(imported_versions(source).items())  # after it: a plugin may add to Python's path what it imports


def _require_same(plugin: Plugin, libraries: tuple[tuple[str, str], ...]) -> None:
    was, is_now = dict(plugin.libraries), dict(libraries)
    names = [name for name in {**was, **is_now} if was.get(name) != is_now.get(name) and is_known(was.get(name, ""))]
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
        was_imported = entry.module in sys.modules
        loaded = entry.load()
        sha256, sources, files = package_sources(entry.module)
        module = sys.modules[entry.module]
        is_older = was_imported and module not in _FIRST_SHA256 and may_be_older_in_memory(files)
        if is_older or sha256 != _FIRST_SHA256.setdefault(module, sha256):
            raise PluginError(
                f"The installed plugin {entry.name} was edited after this process imported it: nobody can tell "
                "which of its code runs. Start a new process; in a notebook, restart the kernel."
            )
        top = entry.module.partition(".")[0]
        is_namespace = getattr(sys.modules[top], "__file__", None) is None  # which others share
        libraries = tuple(imported_versions(*sources, own="" if is_namespace else top).items())
    return loaded, sha256, libraries


def imported_versions(*sources: str, own: str = "") -> dict[str, str]:
    """Of each library that Python sources import, anywhere: its version, or the hash of what no package brought.

    `own` is the package of the sources, which is left out.

    What cannot be found, or is part of Python, is left out, and so is a source that is not Python. Libraries of
    libraries are not looked at.
    """
    names = {name.partition(".")[0] for source in sources for name in _imported_names(source)}
    others = sorted(name for name in names - _OUR_OWN - {own} if not is_of_python(name))
    versions = {name: _library_version(name) for name in others}
    return {name: version for name, version in versions.items() if version is not None}


def package_sources(module: str) -> tuple[str, list[str], list[Path]]:
    """SHA-256 of the files of the package that an imported module is in, or of its own file; their Python; the files.

    Raises:
        OSError: they cannot be read.
        PluginError: Python has taken older bytecode in place of one.
    """
    package = _package_of(module)
    if package is None:  # a single file, also one in a namespace that others share
        file = Path(str(sys.modules[module].__file__))
        content = file.read_bytes()
        with _blaming_library():
            require_own_bytecode([file])
        return hashlib.sha256(content).hexdigest(), [content.decode(errors="replace")], [file]
    folder = Path(str(package.__file__)).parent
    files = list(files_below(folder, _CACHES))
    sources = [path.read_text(encoding="utf-8", errors="replace") for path in files if path.suffix == ".py"]
    with _blaming_library():
        require_own_bytecode(files)
    return files_sha256(folder, files), sources, files


def _package_of(module: str) -> ModuleType | None:
    """The outermost package with an `__init__.py` that an imported module is in: a namespace has none."""
    parts = module.split(".")
    above = (sys.modules.get(".".join(parts[:i])) for i in range(1, len(parts) + 1))
    return next(
        (one for one in above if one and Path(getattr(one, "__file__", None) or "").name == "__init__.py"), None
    )


def _imported_names(source: str) -> Iterator[str]:
    try:
        nodes = ast.walk(ast.parse(source))
    except (SyntaxError, ValueError):
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


_owners = functools.cache(importlib.metadata.packages_distributions)  # with many packages it takes a second


def _library_version(module: str) -> str | None:
    """What a module is, at each of its places; None if it has none.

    The version of the package that pip installed there, or the hash of what no package did, or may have been edited, or
    words where nobody knows it.

    Raises:
        PluginError: it is hashed, and was edited after this process imported it, or older bytecode would run.
    """
    versions = [_version_at(module, place) for place in module_places(module)]
    if has_hidden_place(module):
        versions.append(UNKNOWN_FILES)
    return ", ".join(dict.fromkeys(versions)) or None


def _version_at(module: str, place: Path) -> str:
    packages = {owner: importlib.metadata.distribution(owner) for owner in sorted({*_owners().get(module, ())})}
    versions = {owner: package.version for owner, package in packages.items() if is_installed_by(package, place)}
    if versions:
        return versions[module] if [*versions] == [module] else ", ".join(map(" ".join, versions.items()))
    with _blaming_library():
        return edited_version(module, place)


@contextlib.contextmanager
def _blaming_library() -> Iterator[None]:
    try:
        yield
    except LibraryError as error:
        raise PluginError(f"A plugin cannot be used: {error}") from error
