"""The rows of JSON, CSV and Parquet files, each with where it stands, so that an error can name it.

Several files are one dataset, in the order of their names: a folder, a pattern, or files on other machines that fsspec
reads. One of these is downloaded whole, into the user's cache, when it is read for the first time.
"""

import codecs
import contextlib
import csv
import functools
import glob
import hashlib
import io
import itertools
import json
import lzma
import os
import secrets
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import huggingface_hub.constants

from core.errors import CorpusError, LanguageError, SegmentationError
from core.provenance import file_sha256
from core.whole_files import replacing

Row: TypeAlias = dict[str, object]
# A row that need not be parsed: where it stands ("line 7"), and what parses it. That raises `CorpusError`.
Unparsed: TypeAlias = tuple[str, Callable[[], Row]]
# A few kilobytes can unpack to gigabytes. News articles compress to a third; what unpacks to more than this is no
# dataset, and would take the memory of this machine.
MOST_TIMES_PACKED = 100
ALWAYS_ALLOWED = 64 * 2**20
# Rows of Parquet that are decoded at once, and about how many bytes of one column they may have together.
_BATCH_ROWS = 256
_BATCH_BYTES = 64 * 2**20
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
class Reader:
    """The files of a dataset, which are read one after another, as far as rows are wanted of them.

    Attributes:
        place: what a recipe calls them.
        files: by the name that errors and hashes have for each, in order: what gives its path on this machine, where
            it is downloaded if need be. It raises `CorpusError`.
        opened: of each file that has been read, its SHA-256, taken before its first row, and how many rows there are
            before it.
    """

    place: str
    files: Mapping[str, Callable[[], Path]]
    opened: list[tuple[str, int]] = field(default_factory=list)

    def rows(self, columns: Collection[str] | None = None) -> Iterator[Unparsed]:
        """The rows, lazily, none of which is parsed yet.

        Args:
            columns: of a Parquet file, those that are needed (None: all). The others are None in every row.

        Raises:
            CorpusError: a file cannot be read, or its rows cannot be told apart.
        """
        count = 0
        for number, (name, local) in enumerate(self.files.items()):
            path = local()
            if number == len(self.opened):
                self.opened.append((content_sha256(path), count))
            for place, parse in _unparsed(path, columns):
                count += 1
                yield (f"{name}, {place}" if len(self.files) > 1 else place), parse

    def revision(self, rows: int | None = None) -> str:
        """`sha256:…` of the files that have been opened, or that hold the first `rows` rows.

        Of a single one it is its own, else that of the list of `sha256sum`.
        """
        hashes = [sha256 for sha256, begin in self.opened if rows is None or begin < rows]
        if len(hashes) == 1:
            return f"sha256:{hashes[0]}"
        listed = "".join(f"{sha256}  {name}\n" for sha256, name in zip(hashes, self.files, strict=False))
        return f"sha256:{hashlib.sha256(listed.encode()).hexdigest()}"

    def require_unchanged(self) -> None:
        """Raise `CorpusError` if a file cannot be read, or is not the one that was opened."""
        for (name, local), (sha256, _) in zip(self.files.items(), self.opened, strict=False):
            if content_sha256(local()) != sha256:
                raise changed(self.place, f"the SHA-256 of {name} differs")


def changed(place: str, change: str) -> CorpusError:
    """The error for a dataset that has changed."""
    return CorpusError(
        f"{place} was changed while it was in use ({change}). Restore it and resume the run, or submit a new one."
    )


def read_rows(path: Path, columns: Collection[str] | None = None) -> Iterator[tuple[str, Row]]:
    """The rows of one file, lazily, each with where it stands.

    Args:
        path: JSONL (or a JSON list, which is parsed as a whole), CSV, its cells separated by commas, semicolons or
            tabs, or Parquet. All but the last may be packed.
        columns: see `Reader.rows`.

    Raises:
        CorpusError: the file does not exist, is of another kind, or holds a malformed row (named by its line).
    """
    for place, parse in _unparsed(path, columns):
        with naming(path, place):
            row = parse()
        yield place, row


@contextlib.contextmanager
def naming(file: str | Path, place: str) -> Iterator[None]:
    """Let errors about a row name its file, and where it stands there."""
    try:
        yield
    except (CorpusError, LanguageError, SegmentationError) as error:
        raise type(error)(f"{file}, {place}: {error}", settings=error.settings) from error


def is_file(path: Path) -> bool:
    """Whether there is such a file. False if `Path.is_file` fails: the name is too long, or has a NUL in it."""
    return os.path.isfile(path)


def path_from_anywhere(path: Path) -> Path:
    """Where a file lies, under the name that it has here: of its folders links are followed, of itself they are not.

    What is told of the file has its name, and must have the same one when a run is resumed.
    """
    return path.parent.resolve() / path.name


def content_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, as 64 hex digits.

    Raises:
        CorpusError: there is none, or it cannot be read.
    """
    if not is_file(path):
        raise CorpusError(f"There is no file {path}.")
    try:
        return file_sha256(path)
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error}.") from error


def is_data_file(name: str) -> bool:
    """Whether a name has the ending of a file that can be read here. The file need not exist."""
    return _kind(name) in _FORMATS


def _kind(name: str) -> str:
    """The suffix that tells how a file is read: the one before `.gz` of a text that is packed."""
    kind = Path(name).suffix.lower()
    inner = Path(Path(name).stem).suffix.lower() if kind in _PACKED else ""
    return inner if inner in _FORMATS and inner != ".parquet" else kind


def _unparsed(path: Path, columns: Collection[str] | None) -> Iterator[Unparsed]:
    if not is_file(path):
        raise CorpusError(f"There is no file {path}.")
    read = _FORMATS.get(_kind(path.name))
    if read is None:
        raise CorpusError(f"{path}: a dataset file ends in {SUFFIXES}.")
    try:
        yield from read(path, columns)
    # Also what a damaged Parquet page or packed file raises.
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise CorpusError(f"{path} cannot be read: {error}.") from error


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a text, unpacked where it is packed.

    Raises:
        CorpusError: it unpacks to too much.
    """
    if path.suffix.lower() not in _PACKED:
        with path.open("rb") as plain:
            yield from plain
        return
    packed = path.stat().st_size
    left = most = max(ALWAYS_ALLOWED, MOST_TIMES_PACKED * packed)
    with _unpacked(path) as file:
        while line := file.readline(left + 1):
            left -= len(line)
            if left < 0:
                raise CorpusError(
                    f"{path} unpacks from {packed} bytes to more than {most}: unpack it yourself if that is meant."
                )
            yield line


def _unpacked(path: Path) -> Any:
    """A packed file, opened to read its bytes, unpacked by what its suffix says."""
    import fsspec.compression  # which other files need not wait for
    from fsspec.implementations.local import LocalFileSystem

    if "zst" not in fsspec.utils.compressions:  # only Python 3.14 has it; pyarrow has it everywhere
        import pyarrow

        def unpack(file: Any, mode: str) -> Any:
            return io.BufferedReader(pyarrow.CompressedInputStream(file, "zstd"))

        fsspec.compression.register_compression("zstd", unpack, "zst")
    return LocalFileSystem().open(os.path.abspath(path), "rb", compression="infer")


def _jsonl(path: Path, columns: object, lines: Iterable[bytes] | None = None) -> Iterator[Unparsed]:
    for number, line in enumerate(_lines(path) if lines is None else lines, start=1):
        if line.strip():
            yield f"line {number}", functools.partial(_json_line, line)


def _json_line(line: bytes) -> Row:
    try:
        try:
            # As `json.loads(line)`, which takes half as long again to find out that the line is UTF-8.
            return _json_object(json.loads(line.decode()))
        except ValueError:
            return _json_object(json.loads(line))  # another encoding, half of a surrogate pair, or its error
    except json.JSONDecodeError as error:  # the line's number is told already; the decoder counts lines from this one
        column = min(error.pos, len(error.doc.rstrip("\r\n"))) + 1
        raise CorpusError(f"not valid JSON ({error.msg}, column {column}).") from error
    except (ValueError, RecursionError) as error:  # not UTF-8, or nested without end
        raise CorpusError(f"not valid JSON ({error}).") from error


def _json_object(row: object) -> Row:
    if not isinstance(row, dict):
        raise CorpusError(f"a row must be a JSON object, not {type(row).__name__}.")
    return row


def _json(path: Path, columns: object) -> Iterator[Unparsed]:
    """A list of objects; or JSON lines, which many files of this name hold."""
    lines = _lines(path)
    begin = list(itertools.islice(lines, 1))
    if not b"".join(begin).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
        yield from _jsonl(path, columns, itertools.chain(begin, lines))
        return
    try:
        rows = json.loads(b"".join([*begin, *lines]))
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{path}: not valid JSON ({error}).") from error
    for number, row in enumerate(rows, start=1):
        yield f"row {number}", functools.partial(_json_object, row)


def _csv(path: Path, columns: Collection[str] | None, separator: str | None = None) -> Iterator[Unparsed]:
    """Without a `separator`, the first line tells whether it is a comma or, as Excel has it in Europe, a semicolon."""
    # The module's default of 131,072 characters a cell is less than a long article.
    csv.field_size_limit(sys.maxsize)
    lines = _decoded(_lines(path), path)
    first = next(lines, "")
    separator = separator or max(",;", key=first.count)
    reader = csv.reader(itertools.chain([first], lines), delimiter=separator, strict=True)
    names: list[str] | None = None
    while True:
        place = f"line {reader.line_num + 1}"  # where the row begins: a quoted cell may hold further lines
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise CorpusError(f"{path}, {place}: not valid CSV ({error}).") from error
        if cells is None:
            return
        if names is None:
            names = cells
            _needed(path, names, columns)
        elif cells:
            if len(cells) != len(names):
                raise CorpusError(f"{path}, {place}: the row has {len(cells)} cells, not {len(names)}.")
            yield place, functools.partial(dict, zip(names, cells, strict=True))


def _decoded(lines: Iterable[bytes], path: Path) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise CorpusError(f"{path}, line {number}: not valid UTF-8 ({error}).") from error


def _needed(path: Path, names: Sequence[str], columns: Collection[str] | None) -> list[str]:
    needed = [name for name in dict.fromkeys(names) if columns is None or name in columns]
    if twice := [name for name in needed if names.count(name) > 1]:
        raise CorpusError(f"{path} has several columns {twice[0]!r}: rename all but one.")
    return needed


def _parquet(path: Path, columns: Collection[str] | None) -> Iterator[Unparsed]:
    """One row group after another, of which only the needed columns are read.

    Raises:
        CorpusError: it is no Parquet file, unpacks to too much, or a needed column is there twice.
        OSError: it is damaged, or cannot be read.
    """
    import pyarrow.parquet  # which the others need not wait for

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            needed = _needed(path, names, columns)
            batches = file.iter_batches(batch_size=_batch_rows(path, file.metadata, needed), columns=needed)
            rows = ((batch, index) for batch in batches for index in range(batch.num_rows))
            for number, (batch, index) in enumerate(rows, start=1):
                yield f"row {number}", functools.partial(_parquet_row, names, needed, batch, index)
    except pyarrow.ArrowException as error:
        raise CorpusError(f"{path}: not a readable Parquet file ({error}).") from error


def _parquet_row(names: Sequence[str], needed: Sequence[str], batch: Any, index: int) -> Row:
    row: Row = dict.fromkeys(names)
    for name in needed:
        try:
            row[name] = batch.column(name)[index].as_py()
        except (ValueError, OverflowError) as error:  # text that is not UTF-8, a date before the year 1
            raise CorpusError(f"field {name!r} cannot be read ({error}).") from error
    return row


def _batch_rows(path: Path, metadata: Any, needed: Collection[str]) -> int:
    """How many rows to decode at once: the fewer, the longer one of them may be.

    Raises:
        CorpusError: the file unpacks to too much.
    """
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    if (most := max(metadata.num_rows, sum(group.num_rows for group in groups))) > path.stat().st_size:
        raise CorpusError(f"{path} says that it holds {most} rows, which is more than it has bytes.")
    largest = 1
    for column in (group.column(index) for group in groups for index in range(group.num_columns)):
        name = column.path_in_schema
        if not any(name == field or name.startswith(f"{field}.") for field in needed):
            continue
        packed, unpacked = column.total_compressed_size, column.total_uncompressed_size
        if unpacked > max(ALWAYS_ALLOWED, MOST_TIMES_PACKED * packed):
            raise CorpusError(
                f"{path}: column {name!r} unpacks from {packed} bytes to {unpacked}, more than {MOST_TIMES_PACKED} "
                "times as much. Take out the rows that repeat themselves without end."
            )
        largest = max(largest, unpacked)
    return max(1, min(_BATCH_ROWS, _BATCH_BYTES // largest))


_FORMATS: dict[str, Callable[[Path, Collection[str] | None], Iterator[Unparsed]]] = {
    ".jsonl": _jsonl,
    ".json": _json,
    ".csv": _csv,
    ".tsv": functools.partial(_csv, separator="\t"),
    ".parquet": _parquet,
}
_PACKED = (".gz", ".bz2", ".xz", ".zst")
SUFFIXES = ".jsonl, .json, .csv, .tsv (each with or without .gz, .bz2, .xz or .zst) or .parquet"
"""How the name of a file ends that is read here."""


def is_files(name: str) -> bool:
    """Whether a dataset's name is one of files, and not of a dataset of the Hub. They need not exist."""
    if is_address(name) or is_data_file(name) or is_file(Path(name)) or glob.has_magic(name):
        return True
    # "a/b" is a dataset of the Hub, and a folder only if it is written as one.
    return os.path.isdir(name) and (name.count("/") != 1 or name.startswith((".", "/")) or name.endswith("/"))


def is_address(name: str) -> bool:
    """Whether a name is an address for fsspec: `s3://…`, `gs://…`, `https://…`."""
    return "://" in name


def find_files(name: str) -> Reader:
    """Reads what a name means: a file, a folder (the data files in it), or a pattern such as `news/*.jsonl`.

    Any of these may be an address, such as `s3://bucket/news/*.parquet`.

    Raises:
        CorpusError: there is none, or the other machine refuses.
    """
    files = _remote_files(name) if is_address(name) else _local_files(name)
    if not files and glob.has_magic(name):
        raise CorpusError(f"There is no file {name}, and as a pattern it fits none that ends in {SUFFIXES}.")
    if not files:
        raise CorpusError(f"{name} holds no file that ends in {SUFFIXES}.")
    return Reader(name, files)


def _local_files(name: str) -> dict[str, Callable[[], Path]]:
    """They are called by their names below the folder that holds them all: no hash may depend on where that is."""
    is_folder = os.path.isdir(name)
    if is_file(Path(name)) or not (is_folder or glob.has_magic(name)):
        paths = [name]  # if it is not there, reading says so
    else:
        found = [os.path.join(name, one) for one in os.listdir(name)] if is_folder else glob.glob(name, recursive=True)
        paths = sorted(filter(_is_shown_data, found))
        paths = [path for path in paths if is_file(Path(path))]
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths]) if paths else ""
    return {os.path.relpath(path, folder): functools.partial(Path, path) for path in paths}


def _is_shown_data(path: str) -> bool:
    return is_data_file(path) and not os.path.basename(path).startswith(".")


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
            found = system.glob(path)
        elif is_data_file(urlsplit(path).path):
            found = [path]
        else:
            found = system.ls(path, detail=False)
    except _failures() as error:
        raise CorpusError(f"{address} cannot be read: {_why(error)}") from error
    wanted = sorted(one for one in found if _is_shown_data(urlsplit(one).path))
    return {one: functools.partial(_downloaded, system, one) for one in wanted}


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
