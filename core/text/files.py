"""Rows of JSON, CSV and Parquet files, each with where it stands, so that an error can name it."""

import codecs
import csv
import functools
import gzip
import itertools
import json
import os
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from core.errors import CorpusError
from core.provenance import file_sha256

# Where a row stands ("line 7"), and the row.
LocatedRow = tuple[str, dict[str, object]]
# A few kilobytes can unpack to gigabytes. News articles compress to a third; what unpacks to more than this is no
# dataset, and would take the memory of this machine.
MOST_TIMES_PACKED = 100
ALWAYS_ALLOWED = 64 * 2**20
# Rows of Parquet that are decoded at once, and about how many bytes of one column they may have together.
_BATCH_ROWS = 256
_BATCH_BYTES = 64 * 2**20
# From the names of all columns to those that are needed.
Choose = Callable[[Sequence[str]], Collection[str]]


def read_rows(path: Path, choose: Choose, wanted: Iterable[int] = ()) -> Iterator[LocatedRow]:
    """The rows of `path`, lazily.

    Args:
        path: JSONL (or a JSON list), CSV, its cells separated by commas, semicolons or tabs, or Parquet. All but the
            last may be packed by gzip. A JSON list is parsed as a whole.
        choose: of the columns of a Parquet file, the names of those that are needed. The others are not read, and are
            None in every row.
        wanted: of each row from the first on, whether it is wanted; of all behind these, every one is. A row that is
            not wanted is passed over: in JSONL it is not parsed, in Parquet not made into Python's values, and a row
            group of such rows is not read.

    Raises:
        CorpusError: the file does not exist, is of another kind, or holds a malformed row (named by its line).
    """
    if not is_file(path):
        raise CorpusError(f"There is no file {path}.")
    kind = _kind(path.name)
    asked = iter(wanted)
    try:
        if kind == ".parquet":
            yield from _parquet(path, choose, asked)
        elif kind in _TEXT_READERS:
            yield from _TEXT_READERS[kind](path, asked)
        else:
            raise CorpusError(f"{path}: a dataset file ends in {SUFFIXES}.")
    except (OSError, EOFError, zlib.error) as error:  # also what a damaged Parquet page or gzip file raises
        raise CorpusError(f"{path} cannot be read: {error}.") from error


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
    return _kind(name) in (*_TEXT_READERS, ".parquet")


def _kind(name: str) -> str:
    """The suffix that tells how a file is read: the one before `.gz` of a text that is packed."""
    kind = Path(name).suffix.lower()
    inner = Path(Path(name).stem).suffix.lower() if kind == ".gz" else ""
    return inner if inner in _TEXT_READERS else kind


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a text, unpacked where it is packed.

    Raises:
        CorpusError: it unpacks to too much.
    """
    if path.suffix.lower() != ".gz":
        with path.open("rb") as plain:
            yield from plain
        return
    packed = path.stat().st_size
    most = max(ALWAYS_ALLOWED, MOST_TIMES_PACKED * packed)
    with gzip.open(path, "rb") as file:
        while line := file.readline(most + 1):
            if file.tell() > most:
                raise CorpusError(
                    f"{path} unpacks from {packed} bytes to more than {most}: unpack it yourself if that is meant."
                )
            yield line


def _jsonl(path: Path, wanted: Iterator[int], lines: Iterable[bytes] | None = None) -> Iterator[LocatedRow]:
    for number, line in enumerate(_lines(path) if lines is None else lines, start=1):
        if line.strip() and next(wanted, True):
            place = f"line {number}"
            try:
                row = _parsed(line)
            except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or nested without end
                raise CorpusError(f"{path}, {place}: not valid JSON ({_reason(error)}).") from error
            yield place, _object(path, place, row)


def _json(path: Path, wanted: Iterator[int]) -> Iterator[LocatedRow]:
    """A list of objects; or JSON lines, which many files of this name hold."""
    lines = _lines(path)
    begin = list(itertools.islice(lines, 1))
    if not b"".join(begin).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
        yield from _jsonl(path, wanted, itertools.chain(begin, lines))
        return
    try:
        rows = json.loads(b"".join([*begin, *lines]))
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{path}: not valid JSON ({error}).") from error
    for number, row in enumerate(rows, start=1):
        if next(wanted, True):
            yield f"row {number}", _object(path, f"row {number}", row)


def _object(path: Path, place: str, row: object) -> dict[str, object]:
    if not isinstance(row, dict):
        raise CorpusError(f"{path}, {place}: a row must be a JSON object, not {type(row).__name__}.")
    return row


def _parsed(line: bytes) -> object:
    """As `json.loads(line)`, which takes half as long again to find out that the line is UTF-8."""
    try:
        return json.loads(line.decode())
    except ValueError:
        return json.loads(line)  # another encoding, half of a surrogate pair, or its error


def _reason(error: Exception) -> str:
    """Why a line is not JSON. The line's number is told already; the decoder counts lines from this one."""
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    end = len(error.doc.rstrip("\r\n"))
    return f"{error.msg}, column {min(error.pos, end) + 1}"


def _csv(path: Path, wanted: Iterator[int], separator: str | None = None) -> Iterator[LocatedRow]:
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
        elif cells:
            if len(cells) != len(names):
                raise CorpusError(f"{path}, {place}: the row has {len(cells)} cells, not {len(names)}.")
            if next(wanted, True):
                yield place, dict(zip(names, cells, strict=True))


def _decoded(lines: Iterable[bytes], path: Path) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise CorpusError(f"{path}, line {number}: not valid UTF-8 ({error}).") from error


def _parquet(path: Path, choose: Choose, asked: Iterator[int]) -> Iterator[LocatedRow]:
    """Only needed columns are read, of the row groups in which a row is asked for.

    Raises:
        CorpusError: it is no Parquet file, unpacks to too much, or holds what is no text, number or date of Python's.
        OSError: it is damaged, or cannot be read.
    """
    import pyarrow.parquet  # which the others need not wait for

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            wanted = _wanted(path, names, choose)
            rows = _batch_rows(path, file.metadata, wanted)
            before = 0
            for group in range(file.num_row_groups):
                of_group = [next(asked, 1) for _ in range(file.metadata.row_group(group).num_rows)]
                if any(of_group):
                    batches = file.iter_batches(batch_size=rows, row_groups=[group], columns=wanted)
                    in_batches = ((batch, index) for batch in batches for index in range(batch.num_rows))
                    for number, (batch, index) in itertools.compress(enumerate(in_batches, before + 1), of_group):
                        place = f"row {number}"
                        values = {name: _value(path, place, name, batch.column(name)[index]) for name in wanted}
                        yield place, {**dict.fromkeys(names), **values}
                before += len(of_group)
    except pyarrow.ArrowException as error:
        raise CorpusError(f"{path}: not a readable Parquet file ({error}).") from error


def _wanted(path: Path, names: Sequence[str], choose: Choose) -> list[str]:
    try:
        chosen = choose(names)
    except CorpusError as error:
        raise CorpusError(f"{path}: {error}", settings=error.settings) from error
    wanted = [name for name in dict.fromkeys(names) if name in chosen]
    if twice := [name for name in wanted if names.count(name) > 1]:
        raise CorpusError(f"{path} has several columns {twice[0]!r}: rename all but one.")
    return wanted


def _value(path: Path, place: str, name: str, scalar: Any) -> object:
    try:
        return scalar.as_py()
    except (ValueError, OverflowError) as error:  # text that is not UTF-8, a date before the year 1
        raise CorpusError(f"{path}, {place}: field {name!r} cannot be read ({error}).") from error


def _batch_rows(path: Path, metadata: Any, wanted: Collection[str]) -> int:
    """How many rows to decode at once: the fewer, the longer one of them may be.

    Raises:
        CorpusError: the file unpacks to too much.
    """
    of_groups = sum(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
    if (most := max(metadata.num_rows, of_groups)) > path.stat().st_size:
        raise CorpusError(f"{path} says that it holds {most} rows, which is more than it has bytes.")
    largest = 1
    for column in _columns(metadata):
        name = column.path_in_schema
        if not any(name == field or name.startswith(f"{field}.") for field in wanted):
            continue
        packed, unpacked = column.total_compressed_size, column.total_uncompressed_size
        if unpacked > max(ALWAYS_ALLOWED, MOST_TIMES_PACKED * packed):
            raise CorpusError(
                f"{path}: column {name!r} unpacks from {packed} bytes to {unpacked}, more than {MOST_TIMES_PACKED} "
                "times as much. Take out the rows that repeat themselves without end."
            )
        largest = max(largest, unpacked)
    return max(1, min(_BATCH_ROWS, _BATCH_BYTES // largest))


def _columns(metadata: Any) -> Iterator[Any]:
    """Every column of every row group, as the footer of the file tells of it."""
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for index in range(group.num_columns):
            yield group.column(index)


_TEXT_READERS: dict[str, Callable[[Path, Iterator[int]], Iterator[LocatedRow]]] = {
    ".jsonl": _jsonl,
    ".json": _json,
    ".csv": _csv,
    ".tsv": functools.partial(_csv, separator="\t"),
}
SUFFIXES = f"{', '.join(_TEXT_READERS)} (each with or without .gz) or .parquet"
"""How the name of a file ends that is read here."""
