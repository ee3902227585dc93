"""The files of a dataset: one, a folder, a pattern, or files on other machines that fsspec reads.

Several files are one dataset, in the order of their names. A file on another machine is downloaded whole, into the
user's cache, when it is read for the first time.
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
"""The field of the references that come from a file of their own."""
_DOWNLOADED = "nws-datasets"


@dataclass(frozen=True, slots=True)
class DataFiles:
    """The files of a dataset, which are read one after another, as far as rows are wanted of them.

    Attributes:
        place: what a recipe calls them.
        files: by the name that errors and hashes have for each, in order: what gives its path on this machine, where
            it is downloaded if need be. It raises `CorpusError`.
        opened: of each file that has been read, its SHA-256, taken before its first row, and how many rows there are
            before it.
        references: text whose lines are the references of the rows; None where the rows have their own.
    """

    place: str
    files: Mapping[str, Callable[[], Path]]
    opened: list[tuple[str, int]] = field(default_factory=list)
    references: "DataFiles | None" = None

    def rows(self, columns: Collection[str] | None = None) -> Iterator[PlacedRow]:
        """The rows, lazily; `columns` are those of `Reader`.

        Raises:
            CorpusError: a file cannot be read, or a row of it.
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
        """`sha256:…` of the files that have been opened, or that hold the first `rows` rows.

        Of a single one it is its own, else that of the list of `sha256sum`.
        """
        hashes = [sha256 for sha256, begin in self.opened if rows is None or begin < rows]
        if len(hashes) == 1 and self.references is None:
            return f"sha256:{hashes[0]}"
        listed = "".join(f"{sha256}  {name}\n" for sha256, name in zip(hashes, self.files, strict=False))
        listed += f"{self.references.revision()}  {REFERENCES}\n" if self.references else ""
        return f"sha256:{hashlib.sha256(listed.encode()).hexdigest()}"

    def require_unchanged(self) -> None:
        """Raise `CorpusError` if a file cannot be read, or is not the one that was opened."""
        for (name, local), (sha256, _) in zip(self.files.items(), self.opened, strict=False):
            if content_sha256(local()) != sha256:
                raise changed(self.place, f"the SHA-256 of {name} differs")
        if self.references is not None:
            self.references.require_unchanged()

    def with_references(self, name: str) -> "DataFiles":
        """These rows, each with the reference in its line of a text.

        Raises:
            CorpusError: there are not as many lines as rows.
        """
        references = find_files(name)
        rows, lines = (sum(1 for _ in replace(files, opened=[]).rows(())) for files in (self, references))
        if rows != lines:
            raise CorpusError(f"{self.place} has {rows} rows, and {name} {lines} lines: each row needs one, in order.")
        return replace(self, references=references)


def changed(place: str, change: str) -> CorpusError:
    """The error for a dataset that has changed."""
    return CorpusError(
        f"{place} was changed while it was in use ({change}). Restore it and resume the run, or submit a new one."
    )


def is_files(name: str) -> bool:
    """Whether a dataset's name is one of files, and not of a dataset of the Hub. They need not exist."""
    if is_address(name) or is_data_file(name) or is_file(Path(name)) or glob.has_magic(name):
        return True
    # "a/b" is a dataset of the Hub, and a folder only if it is written as one.
    return os.path.isdir(name) and (name.count("/") != 1 or name.startswith((".", "/")) or name.endswith("/"))


def is_address(name: str) -> bool:
    """Whether a name is an address for fsspec: `s3://…`, `gs://…`, `https://…`."""
    return "://" in name


def find_files(name: str, split: str = "") -> DataFiles:
    """The files of a dataset's name: a file, a folder (the data files in it), or a pattern such as `news/*.jsonl`.

    Of a folder with splits they are those of `split`.

    Any of these may be an address, such as `s3://bucket/news/*.parquet`.

    Raises:
        CorpusError: there is none, or the other machine refuses.
    """
    files = _remote_files(name) if is_address(name) else _local_files(name, split)
    if not files:
        raise CorpusError(f"{name} holds, or fits, no file that ends in {SUFFIXES}.{_other_files(name)}")
    return DataFiles(name, files)


def _other_files(name: str) -> str:
    """What to do with the files of another kind that a name fits, or with those in the folders of a folder."""
    pattern = name if glob.has_magic(name) else os.path.join(glob.escape(name), "**", "*")
    paths = [*itertools.islice(filter(os.path.isfile, glob.iglob(pattern, recursive=True)), 10_000)]
    suffixes = [Path(path).suffix for path in (*filter(is_data_file, paths), *paths)]
    if suffixes and is_data_file(f"x{suffixes[0]}"):
        return f" Folders in it have some: name '{os.path.join(name, '**', '*')}{suffixes[0]}', in quotes."
    return f" Write the texts of its {suffixes[0]} files as rows of one JSONL file." if suffixes else ""


def _local_files(name: str, split: str) -> dict[str, Callable[[], Path]]:
    """They are called by their names below the folder that holds them all: no hash may depend on where that is."""
    is_folder = os.path.isdir(name)
    if is_file(Path(name)) or not (is_folder or glob.has_magic(name)):
        paths = [name]  # if it is not there, reading says so
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
            f"{urlsplit(address).hostname}: an address is stored with its run, so it must hold no password. Give "
            "credentials in the way of the file system: environment variables, or a file of fsspec's configuration."
        )
    import fsspec  # which a file on this machine need not wait for

    try:
        system, path = fsspec.core.url_to_fs(address)
        if any(sign in path for sign in "*["):
            candidates = system.glob(path)
        elif is_data_file(urlsplit(path).path):
            candidates = [path]
        else:
            candidates = system.ls(path, detail=False)
    except Exception as error:  # each file system has its own
        raise CorpusError(f"{address} cannot be read: {_reason(error)}") from error
    data_paths = sorted(candidate for candidate in candidates if is_shown_data(urlsplit(candidate).path))
    return {candidate: functools.partial(_downloaded, system, candidate) for candidate in data_paths}


def _downloaded(system: Any, path: str) -> Path:
    """A remote file in the cache: as it is there now, unless the cache has just that.

    Raises:
        CorpusError: it cannot be had.
    """
    try:
        stamps = {name: value for name, value in system.info(path).items() if name != "url"}  # it may be signed anew
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
    if isinstance(error, FileNotFoundError):  # of HTTP also another refusal, of which fsspec tells the address alone
        return "it is not there, it may not be read, or nobody answers."
    return f"{str(error) or type(error).__name__}."
