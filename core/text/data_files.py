"""The files of a dataset: a file, a folder, a pattern, or files on other machines, which fsspec reads.

Several files are one dataset, in the order of their names. A file on another machine is downloaded as a whole into the
user's cache when it is first read.
"""

import functools
import glob
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import huggingface_hub.constants

from nws.core.errors import CorpusError
from nws.core.text.reader import SUFFIXES, PlacedRow, Reader, content_sha256, is_data_file, is_file
from nws.core.text.rows import LINE, value_of
from nws.core.text.split_folders import has_splits_inside, is_shown_data, split_files
from nws.core.whole_files import replacing

REFERENCES = "references"
"""The field of references that come from a separate file."""
_DOWNLOADED = "nws-datasets"


@dataclass(frozen=True, slots=True)
class DataFiles:
    """The files of a dataset, which are read one after another, as far as their rows are needed.

    Attributes:
        place: their name in a recipe.
        files: for each file, in order, by its name in errors and hashes: a function that returns its path on this
            machine, after a download if needed. It raises `CorpusError`.
        opened: for each file that has been read, its SHA-256 before its first row was read, and the number of rows in
            the files before it.
        references: a text file whose lines are the references of the rows; None if the rows have their own.
    """

    place: str
    files: Mapping[str, Callable[[], Path]]
    opened: list[tuple[str, int]] = field(default_factory=list)
    references: "DataFiles | None" = None

    def rows(self, columns: Collection[str] | None = None) -> Iterator[PlacedRow]:
        """Yield the rows; for `columns` see `Reader`.

        Raises:
            CorpusError: a file, or one of its rows, cannot be read.
        """
        rows = self._own_rows(columns)
        if self.references is None:
            return rows
        lines = (value_of(row, LINE) for _, row in self.references.rows())
        return ((place, row | {REFERENCES: line}) for (place, row), line in zip(rows, lines, strict=False))

    def _own_rows(self, columns: Collection[str] | None) -> Iterator[PlacedRow]:
        count = 0
        for number, (name, local) in enumerate(self.files.items()):
            path = local()
            if number == len(self.opened):
                self.opened.append((content_sha256(path), count))
            is_one = len(self.files) == 1
            for place, row in Reader(path, self.place if is_one else f"{self.place}, {name}", columns).rows():
                count += 1
                yield (place if is_one else f"{name}, {place}"), row

    def revision(self, rows: int | None = None) -> str:
        """Return `sha256:…` of the files that have been opened, or that have the first `rows` rows.

        For a single file this is its own hash, otherwise the hash of the list that `sha256sum` prints.
        """
        hashes = [sha256 for sha256, begin in self.opened if rows is None or begin < rows]
        if len(hashes) == 1 and self.references is None:
            return f"sha256:{hashes[0]}"
        listed = "".join(f"{sha256}  {name}\n" for sha256, name in zip(hashes, self.files, strict=False))
        listed += f"{self.references.revision()}  {REFERENCES}\n" if self.references else ""
        return f"sha256:{hashlib.sha256(listed.encode()).hexdigest()}"

    def require_unchanged(self) -> None:
        """Raise `CorpusError` if a file cannot be read, or has changed since it was opened."""
        for (name, local), (sha256, _) in zip(self.files.items(), self.opened, strict=False):
            if content_sha256(local()) != sha256:
                raise changed(self.place, f"the SHA-256 of {name} differs")
        if self.references is not None:
            self.references.require_unchanged()

    def with_references(self, name: str) -> "DataFiles":
        """Return these files, each of whose rows takes its reference from the same line of a text file.

        Raises:
            CorpusError: the text file does not have as many lines as there are rows.
        """
        references = find_files(name)
        rows, lines = (sum(1 for _ in replace(files, opened=[]).rows(())) for files in (self, references))
        if rows != lines:
            raise CorpusError(f"{self.place} has {rows} rows, but {name} has {lines} lines. Give one line per row.")
        return replace(self, references=references)


def changed(place: str, change: str) -> CorpusError:
    """Return the error for a dataset that has changed."""
    return CorpusError(
        f"{place} was changed while it was in use ({change}). Restore it and resume the run, or submit a new one."
    )


def is_files(name: str) -> bool:
    """Return whether a dataset's name is one of files, not of a Hub dataset. The files need not exist."""
    if is_address(name) or is_data_file(name) or is_file(Path(name)) or glob.has_magic(name):
        return True
    # "a/b" is a Hub dataset, unless it is written as a folder ("./a/b", "a/b/").
    return os.path.isdir(name) and (name.count("/") != 1 or name.startswith((".", "/")) or name.endswith("/"))


def is_address(name: str) -> bool:
    """Return whether a name is an address for fsspec: `s3://…`, `gs://…`, `https://…`."""
    return "://" in name


def find_files(name: str, split: str = "") -> DataFiles:
    """Find the files that a name stands for: a file, a folder (its data files), or a pattern such as `news/*.jsonl`.

    For a folder with splits, these are the files of `split`. Any name may be an address, such as
    `s3://bucket/news/*.parquet`.

    Raises:
        CorpusError: there is no such file, or the other machine refuses access.
    """
    files = _remote_files(name) if is_address(name) else _local_files(name, split)
    if not files:
        raise CorpusError(f"No file of {name} ends in {SUFFIXES}.{_other_files(name)}")
    return DataFiles(name, files)


def _other_files(name: str) -> str:
    """Say what to do with files of another kind that match a name, or with files in subfolders."""
    pattern = name if glob.has_magic(name) else os.path.join(glob.escape(name), "**", "*")
    paths = [*itertools.islice(filter(os.path.isfile, glob.iglob(pattern, recursive=True)), 10_000)]
    suffixes = [Path(path).suffix for path in (*filter(is_data_file, paths), *paths)]
    if suffixes and is_data_file(f"x{suffixes[0]}"):
        return f" Its subfolders have some. Give '{os.path.join(name, '**', '*')}{suffixes[0]}', in quotes."
    return f" Write the texts of its {suffixes[0]} files as rows of one JSONL file." if suffixes else ""


def _local_files(name: str, split: str) -> dict[str, Callable[[], Path]]:
    """Find files by their paths inside their common folder, since no hash may depend on where that folder is."""
    is_folder = os.path.isdir(name)
    if is_file(Path(name)) or not (is_folder or glob.has_magic(name)):
        paths = [name]  # if it does not exist, reading fails
    elif is_folder and has_splits_inside(name):
        paths = split_files(name, split)
    else:
        files = (
            [os.path.join(name, file) for file in os.listdir(name)] if is_folder else glob.glob(name, recursive=True)
        )
        paths = sorted(filter(is_shown_data, files))
        paths = [path for path in paths if is_file(Path(path))]
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths]) if paths else ""
    return {os.path.relpath(path, folder): functools.partial(Path, path) for path in paths}


def _remote_files(address: str) -> dict[str, Callable[[], Path]]:
    if urlsplit(address).password:
        raise CorpusError(
            f"{urlsplit(address).hostname}: an address is stored with its run, so it must not have a password. Give "
            "credentials as the file system expects them, in environment variables or fsspec's configuration files."
        )
    import fsspec  # imported here because files on this machine do not need it

    try:
        system, path = fsspec.core.url_to_fs(address)
        if any(sign in path for sign in "*["):
            candidates = system.glob(path)
        elif is_data_file(urlsplit(path).path):
            candidates = [path]
        else:
            candidates = system.ls(path, detail=False)
    except Exception as error:  # each file system has its own exceptions
        raise CorpusError(f"{address} cannot be read: {_reason(error)}") from error
    data_paths = sorted(candidate for candidate in candidates if is_shown_data(urlsplit(candidate).path))
    return {candidate: functools.partial(_downloaded, system, candidate) for candidate in data_paths}


def _downloaded(system: Any, path: str) -> Path:
    """Download the current version of a remote file, unless the cache has it, and return its path in the cache.

    Raises:
        CorpusError: the file cannot be downloaded.
    """
    try:
        # The URL is left out, since its signature may differ each time.
        stamps = {name: value for name, value in system.info(path).items() if name != "url"}
        known_by = json.dumps([system.protocol, path, stamps], sort_keys=True, default=str)
        folder = Path(huggingface_hub.constants.HF_HOME) / _DOWNLOADED / hashlib.sha256(known_by.encode()).hexdigest()
        place = folder / os.path.basename(urlsplit(path).path)
        if not place.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            with replacing(place) as unfinished:
                system.get_file(path, str(unfinished))
    except Exception as error:
        raise CorpusError(f"{path} cannot be downloaded: {_reason(error)}") from error
    return place


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):  # for HTTP, fsspec raises it on any refusal, with the address alone
        return "it does not exist, access is refused, or the server does not answer."
    return f"{str(error) or type(error).__name__}."
