"""The files that a package brings: their hash, and which of them this process has in memory.

A process keeps the pipelines and dictionaries that it has loaded, from run to run of a notebook. So which files these
were is remembered where they are loaded, whoever asks for them.
"""

import contextlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from core.errors import LibraryError, SegmentationError
from core.fingerprint import State, file_state, files_below, files_sha256
from core.libraries import require_own_bytecode

Loaded = TypeVar("Loaded")
_CHANGED = "changed while it was loaded"
_loaded: dict[str, str] = {}
_LOADING = threading.RLock()


def package_sha256(name: str) -> str:
    """Of the files of an installed package, which is not imported, as 64 hex digits.

    Raises:
        SegmentationError: it is not there.
    """
    folder = _folder(name)
    return files_sha256(folder, _files(folder))


def load_package(name: str, load: Callable[[], Loaded]) -> Loaded:
    """What `load` makes with the files of an installed package, see `loaded_sha256`.

    Raises:
        SegmentationError: the package is not there, has older bytecode, loads another pipeline, or was written to or
            moved while it was loaded.
    """
    before, sha256 = _states(name), package_sha256(name)
    try:
        require_own_bytecode(before)
    except LibraryError as error:
        raise SegmentationError(str(error)) from error
    with _configurations_read() as read:
        loaded = load()
    unchanged = _states(name) == before
    own = {os.path.realpath(path) for path in before}
    others = [path for path in map(os.path.realpath, read) if path not in own]
    # The first counts: Java and Python keep parts of what was loaded, also of what is refused here.
    _loaded.setdefault(name, sha256 if unchanged and not others else _CHANGED)
    if others:
        raise SegmentationError(
            f"{name} loads another pipeline, from {Path(others[0]).parent}, which may change without {name}. Save both "
            "as one (`nlp.to_disk`, `python -m spacy package`), install that, and name it."
        )
    if not unchanged:
        raise SegmentationError(
            f"The files of {name} were written to or moved while they were loaded: nobody can tell which these "
            "are. Let them be, start Python again, and try again."
        )
    return loaded


@contextlib.contextmanager
def _configurations_read() -> Iterator[list[str]]:
    """The configurations of pipelines that spaCy reads in this thread meanwhile."""
    read: list[str] = []
    spacy_util: Any = sys.modules.get("spacy.util")
    if spacy_util is None:
        yield read
        return
    with _LOADING:
        plain, thread = spacy_util.load_config, threading.get_ident()

        def told(path: str | Path, *arguments: Any, **options: Any) -> Any:
            if threading.get_ident() == thread:
                read.append(str(path))
            return plain(path, *arguments, **options)

        spacy_util.load_config = told
        try:
            yield read
        finally:
            spacy_util.load_config = plain


def loaded_sha256(name: str) -> str | None:
    """Of the files of a package that this process has in memory; None if it has loaded none."""
    return _loaded.get(name)


def _states(name: str) -> dict[Path, State]:
    """Of all files of a package, and of its folders: one that was moved away and back has another one, too.

    Not of folders with Python sources, in which importing them makes `__pycache__`.
    """
    files = _files(_folder(name))
    folders = {path.parent for path in files} - {path.parent for path in files if path.suffix == ".py"}
    return {path: file_state(path) for path in {*files, *folders}}


def _files(folder: Path) -> list[Path]:
    return list(files_below(folder, frozenset({"__pycache__"})))


def _folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SegmentationError(f"The package {name}, by which texts are cut, is not installed here: install it.")
    return Path(next(iter(spec.submodule_search_locations)))
