"""What this process computes with: NWS's own code as it was imported, Python, and the libraries that compute.

Files may be edited, and other commits checked out, while processes start and import one module after another. So the
sources are hashed once, when `core` is imported, which is before all else of NWS. Whatever is imported later counts as
of these sources if its file was not written to since. An edit after that does no harm.
"""

import contextlib
import functools
import hashlib
import importlib.util
import marshal
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from core.fingerprint import State, file_state, files_below, files_sha256

if TYPE_CHECKING:
    from importlib.metadata import Distribution

Software: TypeAlias = tuple[str, ...]
"""Names with versions, such as `NWS 1a2b3c4d5e6f` and `torch 2.9.1`."""

UNKNOWN = "unknown"
"""In place of the version of code that was written to while it was imported."""
LIBRARIES = (
    *("torch", "transformers", "sentence-transformers", "tokenizers", "sentencepiece", "safetensors", "jinja2"),
    *("spacy", "thinc", "blis", "nltk", "bert-score", "rouge-score", "rapidfuzz", "numpy", "scipy", "ray"),
    *("kiwipiepy", "kiwipiepy-model", "konlpy", "jpype1", "python-mecab-ko", "python-mecab-ko-dic"),
    # The libraries above compute by these where they are installed.
    *("accelerate", "apex", "bitsandbytes", "flash-attn", "kernels", "mkl", "optimum", "peft", "spacy-lookups-data"),
    *("spacy-transformers", "spacy-legacy", "sacremoses", "fugashi", "ftfy", "tiktoken", "torchao", "xformers"),
    *("nvidia-cublas-cu12", "nvidia-cublas", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"),
    *("compressed-tensors", "gptqmodel", "hqq", "mistral-common", "emoji", "mambapy"),
    *("thinc-apple-ops", "spacy-curated-transformers", "curated-transformers", "curated-tokenizers"),
)
"""What numbers and texts of a row come from, as pip calls it."""
# Groups of entry points, by which spaCy finds the components and layers that a pipeline's configuration names. Of
# pipelines themselves all files are hashed (`core.text.language_data`).
_SPACY = ("spacy_", "thinc_")
# Where pip puts what it installs, as Debian's does. Elsewhere somebody works on it.
_INSTALLED = ("site-packages", "dist-packages")
_NO_COMPONENTS = frozenset({"spacy_models", "spacy_loggers", "spacy_readers", "spacy_cli"})
_PACKAGES = ("core", "cluster", "jobs")
_UNCHECKED = (1).to_bytes(4, "little")  # the flags of bytecode that is taken whatever its source says (PEP 552)
_COPIED_SECONDS = 10
"""Bytecode whose own clock is so much later than its time was not compiled here."""
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
    found, folders = [], [folder for folder in there if os.path.isdir(folder)]  # who takes `core` alone has no others
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
_OF_THESE_SOURCES: set[str] = set()


def are_as_imported() -> bool:
    """Whether no source was written to since they were hashed, not even to be put back."""
    try:
        return _SOURCES.states == frozenset(map(file_state, source_files(_ROOT)))
    except OSError:  # some are gone
        return False


def code_as_imported() -> str:
    """The SHA-256 of the sources in 12 hex digits, or `UNKNOWN` if a module may be of others."""
    for name, module in list(sys.modules.items()):
        if name in _OF_THESE_SOURCES or name.partition(".")[0] not in _PACKAGES:
            continue
        file = getattr(module, "__file__", None)
        if file is not None and not _is_of_these_sources(file, getattr(module, "__cached__", None)):
            return UNKNOWN
        _OF_THESE_SOURCES.add(name)
    return _SOURCES.sha256[:12]


def _is_of_these_sources(file: str, cached: str | None) -> bool:
    try:
        return file_state(file) in _SOURCES.states and not has_stale_bytecode(file, cached)
    except OSError:
        return False


def has_stale_bytecode(file: str, cached: str | None) -> bool:
    """Whether Python took the bytecode of an older source: it compares sizes, and times in whole seconds (PEP 552).

    A file's own clock (`st_ctime`) cannot be set back. Where the source changed later than its bytecode, where the
    bytecode was copied, and where Python was told not to look at the source, only the bytecode's meaning tells.
    """
    if cached is None or not os.path.exists(cached):
        return False
    source, bytecode = os.stat(file), os.stat(cached)
    was_copied = bytecode.st_ctime_ns - bytecode.st_mtime_ns > _COPIED_SECONDS * 10**9
    is_newer = bytecode.st_mtime_ns >= source.st_mtime_ns and bytecode.st_ctime_ns >= source.st_ctime_ns
    if is_newer and not was_copied:
        return False
    content = Path(cached).read_bytes()
    is_unchecked = content[4:8] == _UNCHECKED
    of = (int(source.st_mtime) & 0xFFFFFFFF).to_bytes(4, "little") + (source.st_size & 0xFFFFFFFF).to_bytes(4, "little")
    if not is_unchecked and content[8:16] != of:
        return False
    return bool(marshal.loads(content[16:]) != compile(Path(file).read_bytes(), file, "exec", dont_inherit=True))


@functools.cache  # a tenth of a second; and what is installed over a process is not what it has imported
def library_versions() -> dict[str, str]:
    """Of Python, those of `LIBRARIES` that are installed, and those that bring spaCy's pipelines components."""
    import importlib.metadata
    import platform

    versions = {"python": platform.python_version() + ("" if __debug__ else " -O")}
    packages = {}
    for name in LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            packages[name] = importlib.metadata.distribution(name)
    entries = importlib.metadata.entry_points()
    for group in sorted(group for group in entries.groups if group.startswith(_SPACY) and group not in _NO_COMPONENTS):
        found = (entry.dist for entry in entries.select(group=group))
        packages |= {package.name: package for package in found if package is not None and package.name}
    for name, package in packages.items():
        versions[name] = " of ".join((package.version or "no version", *_hidden_by(name, package)))
    return versions


def _hidden_by(name: str, package: "Distribution") -> list[str]:
    """The hash of what is imported in a package's place: it lies before it on Python's path, or is editable."""
    brought = {path.parts[0].removesuffix(".py") for path in package.files or () if path.suffix == ".py"}
    modules = (package.read_text("top_level.txt") or "").split() or sorted(brought) or [name.replace("-", "_")]
    hashes = []
    for module in modules:
        try:
            spec = importlib.util.find_spec(module) if module.isidentifier() else None
        except (ImportError, ValueError):
            continue
        places = () if spec is None else spec.submodule_search_locations or (spec.origin or "",)
        for place in map(Path, places):
            if place.exists() and not is_installed_by(package, place):
                below = files_below(place, _LEFT_OUT) if place.is_dir() else (place,)
                files = [path for path in below if path.suffix == ".py" and not path.name.startswith(".")]
                hashes.append(f"sha256:{files_sha256(place if place.is_dir() else place.parent, files)[:12]}")
    return hashes


def is_installed_by(package: "Distribution", place: Path) -> bool:
    """Whether a module's file or folder is what pip installed for a package, which nobody works on.

    Else it lies before the package on Python's path, or is installed editable, or is built where its sources are.
    """
    if '"editable": true' in (package.read_text("direct_url.json") or ""):
        return False
    own = os.path.realpath(str(package.locate_file("")))
    return Path(own).name in _INSTALLED and os.path.realpath(place.parent) == own


def software() -> Software:
    """All of it, as this process has it now."""
    return f"NWS {code_as_imported()}", *(f"{name} {version}" for name, version in library_versions().items())


def differences(theirs: Software, ours: Software) -> list[str]:
    """What another process has in another version than this one, or has not. Code that is `UNKNOWN` always differs."""
    other = [name for name in theirs if name not in ours or name == f"NWS {UNKNOWN}"]
    named = {name.partition(" ")[0] for name in theirs}
    return [*other, *(f"no {name}" for name in ours if name.partition(" ")[0] not in named)]
