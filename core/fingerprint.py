"""Content hashes of files, by which models, pipelines, datasets and code are recognised again."""

import functools
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

State: TypeAlias = tuple[int, ...]
"""What is another value once a file was written to or replaced, even by what it was before."""


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, as 64 hex digits.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_state(file: str | Path | int) -> State:
    """Device, inode, size, and times in nanoseconds of an open file, or of that at the end of all links.

    Raises:
        OSError: there is none.
    """
    stat = os.stat(file)
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def files_below(folder: Path, leave_out: frozenset[str] = frozenset()) -> Iterator[Path]:
    """Every file in a folder and its subfolders, also through links, in no order; folders of these names are left out.

    A link back to a folder that it lies in is not followed a second time.
    """
    above: dict[str, tuple[str, ...]] = {str(folder): (os.path.realpath(folder),)}
    for path, folders, names in os.walk(folder, followlinks=True):
        real = above.pop(path)
        inside = {name: os.path.realpath(os.path.join(path, name)) for name in folders if name not in leave_out}
        folders[:] = [name for name, at in inside.items() if at not in real]
        above |= {os.path.join(path, name): (*real, inside[name]) for name in folders}
        yield from (found for name in names if (found := Path(path, name)).is_file())


def files_sha256(folder: Path, files: Iterable[Path]) -> str:
    """SHA-256 of the names and contents of files of a folder. They are read again only once one of them changed."""
    return _files_sha256(folder, tuple((path, file_state(path)) for path in sorted(files)))


@functools.lru_cache(maxsize=64)  # 440 MB of a model, which the encoder, the metric and the driver each ask for
def _files_sha256(folder: Path, files: tuple[tuple[Path, State], ...]) -> str:
    digest = hashlib.sha256()
    for path, _ in files:
        digest.update(f"{path.relative_to(folder).as_posix()} {file_sha256(path)}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
