"""What made a number, as hashes and versions: NWS's own sources, the libraries that compute, files of models and data.

Sources are hashed once, when `nws.core` is imported, which is before all else of NWS. Each process tells what it
computes with (`software`), and a driver compares. A library is known by its version, so one that is installed editable,
or has no version, is known by nothing: no row that was computed with it is copied.
"""

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution
from pathlib import Path
from typing import TypeAlias

Software: TypeAlias = tuple[str, ...]
"""Names with versions, such as `NWS 1a2b3c4d5e6f` and `torch 2.9.1`."""

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
_EDITABLE, _NO_VERSION = "editable", "no version"
# Migrations compute no number.
_LEFT_OUT = frozenset({"__pycache__", "migrations"})


def source_files(root: Path) -> list[str]:
    """List the Python files of the package `nws` in a folder, sorted, through the links of a checkout."""
    files = []
    for folder, folders, names in os.walk(os.path.join(root, "nws"), followlinks=True):
        folders[:] = [name for name in folders if name not in _LEFT_OUT and not name.startswith(".")]
        files += [os.path.join(folder, name) for name in names if name.endswith(".py") and not name.startswith(".")]
    return sorted(files)


def sources_sha256(root: Path) -> str:
    """SHA-256 of the names and contents of these files, in 12 hex digits. They are read again once one has changed."""
    states = []
    for path in source_files(root):
        with contextlib.suppress(FileNotFoundError):  # of an editor, gone meanwhile
            states.append((path, _state(path)))
    return _files_sha256(root, tuple(states))[:12]


def _state(file: str | Path) -> tuple[int, ...]:
    """What changes when a file is written to."""
    stat = os.stat(file)
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, as 64 hex digits.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.lru_cache(maxsize=64)  # 440 MB of a model, which the encoder, the metric and the driver each ask for
def _files_sha256(folder: Path, files: tuple[tuple[str | Path, tuple[int, ...]], ...]) -> str:
    digest = hashlib.sha256()
    for path, _ in files:
        name = Path(path).relative_to(folder).as_posix()
        digest.update(f"{name} {file_sha256(Path(path))}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


_ROOT = Path(__file__).parents[2]
_AS_IMPORTED = sources_sha256(_ROOT)


def code_as_imported() -> str:
    """The SHA-256 of NWS's sources in 12 hex digits, as they were when `nws.core` was imported."""
    return _AS_IMPORTED


def are_as_imported() -> bool:
    """Whether the sources are now what they were then. If not, what was imported later may be of others."""
    return sources_sha256(_ROOT) == _AS_IMPORTED


@functools.cache  # what is installed over a process is not what it has imported
def library_versions() -> dict[str, str]:
    """The versions of Python and of those of `LIBRARIES` that are installed, see `is_known`."""
    versions = {"python": platform.python_version()}
    for name in LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = _version(importlib.metadata.distribution(name))
    return versions


def _version(library: Distribution) -> str:
    origin = json.loads(library.read_text("direct_url.json") or "{}")  # PEP 610
    if origin.get("dir_info", {}).get("editable", False):
        return _EDITABLE
    if "Version" not in library.metadata:
        return _NO_VERSION
    commit = origin.get("vcs_info", {}).get("commit_id")  # of what pip has built from a repository
    return f"{library.version} at {commit}" if commit else library.version


def is_known(version: str) -> bool:
    """Whether a version says which code a library has."""
    return version not in (_EDITABLE, _NO_VERSION)


def software() -> Software:
    """What this process computes with: NWS, Python and the libraries."""
    return f"NWS {code_as_imported()}", *(f"{name} {version}" for name, version in library_versions().items())


def software_now() -> Software:
    """The same, for what this process has just computed: it also tells that sources are no longer as they were hashed.

    What it imported last may be of the edited ones.
    """
    return software() if are_as_imported() else (*software(), "edited sources")


def differences(theirs: Software, ours: Software) -> list[str]:
    """What another process has in another version than this one, or has not."""
    named = {name.partition(" ")[0] for name in theirs}
    other = [name for name in theirs if name not in ours]
    return [*other, *(f"no {name}" for name in ours if name.partition(" ")[0] not in named)]


def files_below(folder: Path, leave_out: frozenset[str] = frozenset({"__pycache__"})) -> Iterator[Path]:
    """Every file in a folder and its subfolders, also through links, in no order; some folders are left out by name."""
    for path, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if name not in leave_out]
        yield from (file for name in names if (file := Path(path, name)).is_file())


def files_sha256(folder: Path, files: Iterable[Path]) -> str:
    """SHA-256 of the names and contents of files of a folder. They are read again only once one of them changed."""
    return _files_sha256(folder, tuple((path, _state(path)) for path in sorted(files)))
