"""What this process computes with: NWS's own code as it was imported, Python, and the libraries that compute.

Files may be edited, and other commits checked out, while processes start and import one module after another. So the
sources are hashed once, when `core` is imported, which is before all else of NWS. Whatever is imported later counts as
of these sources if its file was not written to since. An edit after that does no harm.
"""

import contextlib
import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from core.bytecode import has_stale_bytecode
from core.fingerprint import State, file_state
from core.libraries import is_known, library_versions

Software: TypeAlias = tuple[str, ...]
"""Names with versions, such as `NWS 1a2b3c4d5e6f` and `torch 2.9.1`."""
UNKNOWN = "unknown"
"""In place of the version of code that was written to while it was imported."""
_PACKAGES = ("core", "cluster", "jobs", "nws")
_MODULES = ("nws_start",)
_OURS = frozenset(_PACKAGES + _MODULES)
# Where a wheel is installed, these lie below `jobs`; in a checkout they do not.
_LEFT_OUT = frozenset({"__pycache__", "migrations"})


@dataclass(frozen=True, slots=True)
class Sources:
    """The source files of NWS at one moment: a hash of their names and contents, and the state of each."""

    sha256: str
    states: frozenset[State]


def read_sources(root: Path) -> Sources:
    """The sources below a folder that holds NWS's packages: some milliseconds."""
    digest, states = hashlib.sha256(), set()
    for path in source_files(root):
        with contextlib.suppress(FileNotFoundError), open(path, "rb", buffering=0) as file:
            states.add(file_state(file.fileno()))  # first: what is written meanwhile has another one
            content = file.readall()
            digest.update(f"{path[len(str(root)) :]} {len(content)}\n".encode() + content)
    return Sources(digest.hexdigest(), frozenset(states))


def source_files(root: Path) -> list[str]:
    """The paths of the Python files below a folder that holds NWS's packages, in their order."""
    there = (os.path.join(root, package) for package in _PACKAGES)
    folders = [folder for folder in there if os.path.isdir(folder)]  # who takes `core` alone has no others
    found = [file for module in _MODULES if os.path.isfile(file := os.path.join(root, f"{module}.py"))]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.startswith("."):  # of editors, and no module
                    continue
                if entry.name.endswith(".py"):
                    found.append(entry.path)
                elif entry.is_dir() and entry.name not in _LEFT_OUT:
                    folders.append(entry.path)
    return sorted(found)


_ROOT = Path(__file__).parents[1]
_SOURCES = read_sources(_ROOT)
# By its name, how a module was found that is of these sources. One that is loaded again is found again.
_OF_THESE_SOURCES: dict[str, object] = {}


def are_as_imported() -> bool:
    """Whether no source was written to since they were hashed, not even to be put back."""
    try:
        return _SOURCES.states == frozenset(map(file_state, source_files(_ROOT)))
    except OSError:  # some are gone
        return False


def code_as_imported() -> str:
    """The SHA-256 of the sources in 12 hex digits, or `UNKNOWN` if a module may be of others."""
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if name.partition(".")[0] not in _OURS or (name in _OF_THESE_SOURCES and _OF_THESE_SOURCES[name] is spec):
            continue
        file = getattr(module, "__file__", None)
        if file is not None and not _is_of_these_sources(file, getattr(module, "__cached__", None)):
            return UNKNOWN
        _OF_THESE_SOURCES[name] = spec
    return _SOURCES.sha256[:12]


def _is_of_these_sources(file: str, cached: str | None) -> bool:
    try:
        return file_state(file) in _SOURCES.states and not has_stale_bytecode(file, cached)
    except OSError:
        return False


def software() -> Software:
    """All of it, as this process has it now."""
    return f"NWS {code_as_imported()}", *(f"{name} {version}" for name, version in library_versions().items())


def differences(theirs: Software, ours: Software) -> list[str]:
    """What another process has in another version than this one, or has not. What nobody knows always differs."""
    other = [name for name in theirs if name not in ours or name == f"NWS {UNKNOWN}" or not is_known(name)]
    named = {name.partition(" ")[0] for name in theirs}
    return [*other, *(f"no {name}" for name in ours if name.partition(" ")[0] not in named)]
