"""The files of a dataset: one, a folder, those that fit a pattern, or files on other machines that fsspec reads.

Several files are one dataset, in the order of their names. A file that is not on this machine is downloaded whole, into
the user's cache, when it is read for the first time.
"""

import functools
import glob
import hashlib
import itertools
import json
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import huggingface_hub.constants
import numpy as np
from numpy.typing import NDArray

from core.errors import CorpusError
from core.text.files import SUFFIXES, Choose, LocatedRow, content_sha256, is_data_file, is_file, read_rows
from core.whole_files import replacing

# Its name, its SHA-256, and how many rows it holds, if that is known.
FoundFile: TypeAlias = tuple[str, str, int | None]
_DOWNLOADED = "nws-datasets"
# What file systems tell of a file that another content would change.
_STAMPS = (
    "ETag",
    "etag",
    "mtime",
    "Last-Modified",
    "LastModified",
    "last_modified",
    "generation",
    "md5Hash",
    "created",
)
# Where they tell nothing, a download counts for this process alone. Its number may be another's tomorrow.
_PROCESS = secrets.token_hex(8)
# What file systems raise that is no OSError, by the module that has it.
_FAILURES = {
    "aiohttp": "ClientError",
    "botocore.exceptions": "BotoCoreError",
    "google.auth.exceptions": "GoogleAuthError",
    "gcsfs.retry": "HttpError",
}


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a dataset.

    Attributes:
        name: how errors and hashes call it.
        local: its path on this machine; where it is on another one, it is downloaded if need be. Raises `CorpusError`.
    """

    name: str
    local: Callable[[], Path]


@dataclass(frozen=True, slots=True)
class DataFiles:
    """The files of a dataset, which are read one after another, as far as articles are wanted of them.

    Reading notes what it finds in `sha256s` and `rows`, of the first file, the second, and so on.

    Attributes:
        files: in order.
        sha256s: of the files that have been opened, each taken before its first row was read.
        rows: how many rows those files hold that have been read to their end.
    """

    files: tuple[DataFile, ...]
    sha256s: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def read(self, choose: Choose, wanted: bytes = b"") -> Iterator[LocatedRow]:
        """The rows, lazily, see `read_rows`. A file of which no row is wanted is not opened, if its rows are known.

        Raises:
            CorpusError: a file cannot be read, or holds a malformed row.
        """
        begin = 0
        for number, file in enumerate(self.files):
            known = self.rows[number] if number < len(self.rows) else None
            asked = wanted[begin:] if known is None else wanted[begin : begin + known]
            if known is not None and len(asked) == known and 1 not in asked:
                begin += known
                continue
            if number == len(self.sha256s):
                self.sha256s.append(content_sha256(file.local()))
            counter = _Counter(asked)
            for place, row in read_rows(file.local(), choose, counter):
                yield (f"{file.name}, {place}" if len(self.files) > 1 else place), row
            if number == len(self.rows):
                self.rows.append(counter.count)
            begin += counter.count

    def sha256(self) -> str:
        """Of all files that have been opened: of a single one its own, else that of the list of `sha256sum`."""
        if len(self.sha256s) == 1:
            return self.sha256s[0]
        pairs = zip(self.sha256s, self.files, strict=False)
        return hashlib.sha256("".join(f"{sha256}  {file.name}\n" for sha256, file in pairs).encode()).hexdigest()

    def changed(self, holds_article: NDArray[np.bool_]) -> str | None:
        """The name of a file that holds an article and is not the one that was opened; None if all are as they were.

        Args:
            holds_article: bool, for each row up to the last that was read.

        Raises:
            CorpusError: a file cannot be read.
        """
        ends = [0, *itertools.accumulate(self.rows), len(holds_article)]
        for file, sha256, begin, end in zip(self.files, self.sha256s, ends, ends[1:], strict=False):
            if holds_article[begin:end].any() and content_sha256(file.local()) != sha256:
                return file.name
        return None

    def found(self) -> list[FoundFile]:
        """What is noted of each file that has been opened: name, SHA-256, and rows if it was read to its end."""
        names = (file.name for file in self.files[: len(self.sha256s)])
        return list(itertools.zip_longest(names, self.sha256s, self.rows))

    def up_to(self, rows: int) -> "DataFiles":
        """These files as they would be noted if the first `rows` rows alone had been read, of which all were."""
        ends = list(itertools.accumulate(self.rows))
        opened = sum(end < rows for end in ends) + 1
        return DataFiles(self.files, self.sha256s[:opened], self.rows[: opened - 1])

    def with_found(self, found: Sequence[FoundFile], *, are_all: bool) -> "DataFiles | None":
        """These files with what was noted of them before; None where they have other names now, or there are others.

        Args:
            found: see `found`.
            are_all: whether all files were read.
        """
        names = [file.name for file in self.files]
        if [name for name, _, _ in found] != names[: len(found)] or (are_all and len(found) < len(names)):
            return None
        rows = [of_file for _, _, of_file in found if of_file is not None]
        return DataFiles(self.files, [sha256 for _, sha256, _ in found], rows)


class _Counter:
    """Iterates over what is wanted, then over ones without end. Counts how often it was asked: once for each row."""

    def __init__(self, wanted: bytes) -> None:
        self._wanted = wanted
        self.count = 0

    def __iter__(self) -> "_Counter":
        return self

    def __next__(self) -> int:
        self.count += 1
        return self._wanted[self.count - 1] if self.count <= len(self._wanted) else 1


def is_files(name: str) -> bool:
    """Whether a dataset's name is one of files, and not of a dataset of the Hub. They need not exist."""
    if is_address(name) or is_data_file(name) or is_file(Path(name)) or glob.has_magic(name):
        return True
    # "a/b" is a dataset of the Hub, and a folder only if it is written as one.
    return os.path.isdir(name) and (name.count("/") != 1 or name.startswith((".", "/")) or name.endswith("/"))


def is_address(name: str) -> bool:
    """Whether a name is an address for fsspec: `s3://…`, `gs://…`, `https://…`."""
    return "://" in name


def find_files(name: str) -> DataFiles:
    """The files that a name means: a file, a folder (the data files in it), or a pattern such as `news/*.jsonl`.

    Any of these may be an address, such as `s3://bucket/news/*.parquet`.

    Raises:
        CorpusError: there is none, or the other machine refuses.
    """
    files = _remote_files(name) if is_address(name) else _local_files(_paths(name))
    if not files and glob.has_magic(name):
        raise CorpusError(f"There is no file {name}, and as a pattern it fits none that ends in {SUFFIXES}.")
    if not files:
        raise CorpusError(f"{name} holds no file that ends in {SUFFIXES}.")
    return DataFiles(tuple(files))


def _local_files(paths: Sequence[str]) -> list[DataFile]:
    """They are called by their names below the folder that holds them all: no hash may depend on where that is."""
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths]) if paths else ""
    return [DataFile(os.path.relpath(path, folder), functools.partial(Path, path)) for path in paths]


def _paths(name: str) -> list[str]:
    if is_file(Path(name)):
        return [name]
    if os.path.isdir(name):
        found = [os.path.join(name, one) for one in os.listdir(name) if not _is_hidden(one)]
    elif glob.has_magic(name):
        found = glob.glob(name, recursive=True)
    else:
        return [name]  # which reading it says is not there
    return sorted(one for one in found if is_data_file(one) and is_file(Path(one)))


def _is_hidden(path: str) -> bool:
    return os.path.basename(path).startswith(".")


def _remote_files(address: str) -> list[DataFile]:
    if urlsplit(address).password:
        raise CorpusError(
            f"{urlsplit(address).hostname}: an address is stored with its run, so it must hold no password. Give "
            "credentials in the way of the file system: environment variables, or a file of fsspec's configuration."
        )
    import fsspec  # which a file on this machine need not wait for

    try:
        system, path = fsspec.core.url_to_fs(address)
        if any(sign in path for sign in "*["):
            found = system.glob(path)
        elif is_data_file(urlsplit(path).path):
            found = [path]
        else:
            found = system.ls(path, detail=False)
    except _failures() as error:
        raise CorpusError(f"{address} cannot be read: {_why(error)}") from error
    wanted = sorted(one for one in found if is_data_file(path := urlsplit(one).path) and not _is_hidden(path))
    return [DataFile(one, functools.partial(_downloaded, system, one)) for one in wanted]


def _downloaded(system: Any, path: str) -> Path:
    """A remote file in the cache: as it is there now, unless the cache has just that.

    Raises:
        CorpusError: it cannot be had.
    """
    try:
        info = system.info(path)
        stamps = {name: str(info[name]) for name in _STAMPS if name in info} or {"process": _PROCESS}
        known_by = json.dumps([system.protocol, path, info.get("size"), stamps])
        folder = Path(huggingface_hub.constants.HF_HOME) / _DOWNLOADED / hashlib.sha256(known_by.encode()).hexdigest()
        place = folder / os.path.basename(urlsplit(path).path)
        if not place.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            with replacing(place) as unfinished:
                system.get_file(path, str(unfinished))
    except _failures() as error:
        raise CorpusError(f"{path} cannot be downloaded: {_why(error)}") from error
    return place


def _failures() -> tuple[type[Exception], ...]:
    """What the file systems that have been imported raise."""
    others = (getattr(sys.modules[module], name) for module, name in _FAILURES.items() if module in sys.modules)
    return (OSError, ImportError, ValueError, *others)


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):  # of HTTP also another refusal, of which fsspec tells the address alone
        return "it is not there, it may not be read, or nobody answers."
    return f"{str(error) or type(error).__name__}."
