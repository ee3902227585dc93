"""Which libraries this process computes with: by version where pip installed them, by their files where it did not.

A version says nothing of a library that somebody works on: one that is installed editable, that is built where its
sources are, or that a folder before it on Python's path hides. Of these, all files are hashed.
"""

import contextlib
import functools
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
import sysconfig
import time
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path

from core.bytecode import has_stale_bytecode
from core.errors import LibraryError
from core.fingerprint import State, file_state, files_below, files_sha256

LIBRARIES = (
    *("torch", "transformers", "sentence-transformers", "tokenizers", "sentencepiece", "safetensors", "jinja2"),
    *("spacy", "thinc", "blis", "nltk", "bert-score", "rouge-score", "rapidfuzz", "numpy", "scipy", "ray"),
    *("kiwipiepy", "kiwipiepy-model", "konlpy", "jpype1", "python-mecab-ko", "python-mecab-ko-dic"),
    # The libraries above compute by these where they are installed.
    *("accelerate", "apex", "bitsandbytes", "flash-attn", "kernels", "mkl", "optimum", "peft", "spacy-lookups-data"),
    *("spacy-transformers", "spacy-legacy", "sacremoses", "fugashi", "ftfy", "tiktoken", "torchao", "xformers"),
    *("nvidia-cublas-cu12", "nvidia-cublas", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"),
    *("compressed-tensors", "gptqmodel", "hqq", "mistral-common", "emoji", "mambapy", "gguf"),
    *("thinc-apple-ops", "spacy-curated-transformers", "curated-transformers", "curated-tokenizers"),
)
"""What numbers and texts of a row come from, as pip calls it."""
UNKNOWN_FILES = "unknown files"
"""In place of the hash of files that may not be what this process has in memory."""
# Groups of entry points, by which spaCy finds the components and layers that a pipeline's configuration names, and
# PyTorch what it imports unasked. Of pipelines themselves all files are hashed (`core.text.language_data`).
_LOADED = ("spacy_", "thinc_", "torch.backends")
_NO_COMPONENTS = frozenset({"spacy_models", "spacy_loggers", "spacy_readers", "spacy_cli"})
# Where pip puts what it installs, as Debian does. Elsewhere somebody works on it, or pip was told where.
_INSTALLED = ("site-packages", "dist-packages")
_CACHES = frozenset({"__pycache__"})
# Besides its own library, what Python imports as it begins, if it finds it (documentation of its module `site`). Many a
# project has a folder `test`, and nothing computes with Python's.
_OF_PYTHON = frozenset({*sys.stdlib_module_names, "sitecustomize", "usercustomize"} - {"test"})


def _began_ns() -> int:
    """When this process began, in nanoseconds since 1970; where nobody tells, when this module was imported."""
    try:
        with open("/proc/self/stat", "rb") as stat:  # proc_pid_stat(5): `starttime`, in ticks since the machine's boot
            ticks = int(stat.read().rpartition(b")")[2].split()[19])
        # The end of that tick: Python has not imported anything by then.
        began = (ticks + 1) * 10**9 // os.sysconf("SC_CLK_TCK")
        return time.time_ns() - (time.clock_gettime_ns(time.CLOCK_BOOTTIME) - began)
    except (OSError, AttributeError, ValueError):
        return time.time_ns()


_BEGAN_NS = _began_ns()
# Of each module that is told by a hash, and each of its places: the files and the hash, before it was imported or when
# it was first asked for.
_FIRST: dict[tuple[str, Path], tuple[tuple[tuple[Path, State], ...], str]] = {}
# Those that this process had imported when it was asked for them. If it has forgotten one since, what uses it has not.
_IMPORTED: set[tuple[str, Path]] = set()


@dataclass(frozen=True, slots=True)
class _Package:
    """A package that computes, and each module of it that is not what pip installed, with each of its places."""

    name: str
    version: str
    edited: tuple[tuple[str, Path], ...]
    is_lost: bool  # it is edited somewhere, and nobody knows where


def library_versions() -> dict[str, str]:
    """Of Python, those of `LIBRARIES` that are installed, and those that bring components to spaCy or PyTorch.

    A version is followed by the hash of what is imported in a package's place, or by words for what nobody knows: it
    was edited after this process imported it, or Python runs older bytecode of it.
    """
    path, python = tuple(sys.path), platform.python_version() + ("" if __debug__ else " -O")
    versions = {"python": " of ".join((python, *(_edited_or_unknown(*hidden) for hidden in _in_place_of_python(path))))}
    for package in _packages(path):
        hashes = [_edited_or_unknown(module, place) for module, place in package.edited]
        unknown = [UNKNOWN_FILES] if package.is_lost else []
        versions[package.name] = " of ".join((package.version, *hashes, *unknown))
    return versions


def is_known(version: str) -> bool:
    """Whether a version says which files a library has."""
    return not version.endswith(UNKNOWN_FILES)


def module_places(module: str) -> list[Path]:
    """Where the files of a module lie that would be imported: several folders of a namespace, else one, or none."""
    return [found for place in _locations(module) if (found := _file_or_folder(Path(place))) is not None]


def has_hidden_place(module: str) -> bool:
    """Whether a module has a place that its own finder alone knows, as a part of a namespace that is editable."""
    return len(module_places(module)) < len(_locations(module))


def is_of_python(module: str) -> bool:
    """Whether a module is of Python's own library, and nothing before it on the path hides it."""
    return module in sys.stdlib_module_names and all(map(_is_in_own_library, module_places(module)))


def _is_in_own_library(place: Path) -> bool:
    return os.path.realpath(place.parent) in _own_folders()


@functools.cache
def _own_folders() -> frozenset[str]:
    """Of Python's own library."""
    own = [os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    return frozenset((*own, *(os.path.join(folder, "lib-dynload") for folder in own)))


@functools.cache  # of one path it does not change: what is imported stays
def _in_place_of_python(path: tuple[str, ...]) -> tuple[tuple[str, Path], ...]:
    """Modules with their places that a folder or archive on the path, `sys.path`, has in place of Python's own."""
    names: set[str] = set()
    for entry in {os.path.realpath(entry) for entry in path} - _own_folders():
        if os.path.isdir(entry):
            names |= _OF_PYTHON.intersection(name.partition(".")[0] for name in os.listdir(entry))
        elif os.path.exists(entry):  # an archive
            names |= _OF_PYTHON
    places = ((name, place) for name in sorted(names) for place in module_places(name))
    return tuple((name, place) for name, place in places if not _is_in_own_library(place))


def _locations(module: str) -> list[str]:
    """As Python's finders say: paths, or what only they can read."""
    try:
        spec = importlib.util.find_spec(module) if module.isidentifier() else None
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    return [*(spec.submodule_search_locations or ())] or ([spec.origin] if spec.has_location and spec.origin else [])


def is_installed_by(package: Distribution, place: Path) -> bool:
    """Whether a module's file or folder is what pip installed for a package, which nobody works on."""
    own, real = os.path.realpath(str(package.locate_file(""))), Path(os.path.realpath(place))
    if _is_editable(package) or os.path.realpath(place.parent) != own:
        return False
    return real.parent.name in _INSTALLED or (str(real.parent) == own and _is_listed(package, place.name))


def _is_listed(package: Distribution, name: str) -> bool:
    """Whether a package's list of what was installed has a file or folder. What is built where it lies has no list."""
    lines = (package.read_text("RECORD") or "").splitlines()
    return any(line.startswith((f"{name}/", f"{name},")) for line in lines)


def edited_version(module: str, place: Path) -> str:
    """Of all files of a module that no version tells: `sha256:` and 12 hex digits, or words where nobody knows them.

    That is where this process has imported it, and a file changed since the process began, before anybody looked, or
    was changed and put back.

    Raises:
        LibraryError: it was edited after this process imported it, or Python would run older bytecode of it.
        OSError: a file cannot be read.
    """
    files = _edited_files(place)
    states = tuple((path, file_state(path)) for path in files)
    if any(name == module or name.startswith(f"{module}.") for name in [*sys.modules]):
        _IMPORTED.add((module, place))
    is_imported, before = (module, place) in _IMPORTED, _FIRST.get((module, place))
    if is_imported and before is None and may_be_older_in_memory(files):
        return UNKNOWN_FILES
    sha256 = files_sha256(place if place.is_dir() else place.parent, files)
    if is_imported and before is not None and before != (states, sha256):
        if sha256 == before[1]:  # was another one meanwhile, perhaps when a part of it was imported
            return UNKNOWN_FILES
        raise LibraryError(
            f"{module} was edited after this process imported it: nobody can tell which of its code runs. Start a new "
            "process; in a notebook, restart the kernel."
        )
    if before != (states, sha256):
        _FIRST[module, place] = states, ""  # of no file, unless the bytecode is theirs
        require_own_bytecode(files)
        _FIRST[module, place] = states, sha256
    return f"sha256:{sha256[:12]}"


def may_be_older_in_memory(files: Iterable[Path]) -> bool:
    """Whether a file was written to since this process began: what was imported of it may be what it held before.

    Raises:
        OSError: a file is gone.
    """
    return max((file_state(file)[-1] for file in files), default=0) > _BEGAN_NS


def require_own_bytecode(files: Iterable[Path]) -> None:
    """Check that Python would run no older bytecode in place of these files.

    Raises:
        LibraryError: it would.
    """
    for file in map(str, files):
        if file.endswith(".py") and has_stale_bytecode(file, importlib.util.cache_from_source(file)):
            raise LibraryError(
                f"Python would run older bytecode in place of {file}, which was edited. Delete the folder __pycache__ "
                "beside it, and try again."
            )


def _edited_files(place: Path) -> list[Path]:
    """All but caches and hidden files, such as editors leave."""
    if not place.is_dir():
        return [place]
    return sorted(path for path in files_below(place, _CACHES) if not path.name.startswith("."))


def _file_or_folder(place: Path) -> Path | None:
    """A place of a module, or the archive that it is in; None if there is neither."""
    there = (path for path in (place, *place.parents) if path.exists())
    found = next(there, None)
    return found if found == place or (found is not None and found.is_file()) else None


@functools.cache  # some tenths of a second; and what is installed over a process is not what it has imported
def _packages(_path: tuple[str, ...]) -> tuple[_Package, ...]:
    """On `sys.path`, to which a plugin may add a folder that hides what is not imported yet."""
    found: dict[str, tuple[Distribution, set[str]]] = {}
    for name in LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.distribution(name), set()
    entries = importlib.metadata.entry_points()
    for group in sorted(group for group in entries.groups if group.startswith(_LOADED) and group not in _NO_COMPONENTS):
        for entry in entries.select(group=group):
            if entry.dist is not None and entry.dist.name:
                _, modules = found.setdefault(entry.dist.name, (entry.dist, set()))
                modules.add(entry.module.partition(".")[0])
    return tuple(_looked_for(name, package, modules) for name, (package, modules) in found.items())


def _looked_for(name: str, package: Distribution, modules: set[str]) -> _Package:
    every = sorted({*modules, *_modules(name, package)})
    places = [(module, place) for module in every for place in module_places(module)]
    own = {module for module, place in places if is_installed_by(package, place)}
    edited = tuple(
        (module, place)
        for module, place in places
        # A namespace such as `nvidia` has a folder wherever pip has put a part of it.
        if not is_installed_by(package, place) and not (module in own and place.parent.name in _INSTALLED)
    )
    # Of a namespace, what is editable may lie where its own finder alone knows.
    is_lost = _is_editable(package) and (not edited or any(map(has_hidden_place, every)))
    return _Package(name, package.version or "no version", edited, is_lost)


def _modules(name: str, package: Distribution) -> list[str]:
    """What a package brings: it says so, or its files do, or it is called as it is.

    An editable one lists what finds it, in place of its files.
    """
    if said := (package.read_text("top_level.txt") or "").split():
        return said
    files = [] if _is_editable(package) else package.files or []
    brought = {path.parts[0].partition(".")[0] for path in files if path.suffix in (".py", ".so", ".pyd")}
    return sorted(brought) or [name.replace("-", "_")]


def _is_editable(package: Distribution) -> bool:
    try:
        origin = json.loads(package.read_text("direct_url.json") or "{}")
        return bool(origin.get("dir_info", {}).get("editable", False))  # PEP 610
    except (ValueError, AttributeError):
        return False


def _edited_or_unknown(module: str, place: Path) -> str:
    try:
        return edited_version(module, place)
    except (LibraryError, OSError):
        return UNKNOWN_FILES
