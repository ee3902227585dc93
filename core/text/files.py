"""Rows of JSONL, CSV and Parquet files, each with where it stands, so that an error can name it."""

import csv
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from core.errors import CorpusError

# Where a row stands ("line 7"), and the row.
LocatedRow = tuple[str, dict[str, object]]
# From the names of all columns to those that are needed.
Choose = Callable[[Sequence[str]], Collection[str]]


def read_rows(path: Path, choose: Choose, wanted: Iterable[int] = ()) -> Iterator[LocatedRow]:
    """The rows of `path`, lazily.

    Args:
        path: JSONL, CSV or Parquet.
        choose: of the columns of a Parquet file, the names of those that are needed. The others are not read, and are
            None in every row.
        wanted: of each row from the first on, whether it is wanted; of all behind these, every one is. A row that is
            not wanted is passed over: in JSONL it is not parsed, in Parquet not made into Python's values.

    Raises:
        CorpusError: the file does not exist, is of another kind, or holds a malformed row (named by its line).
    """
    if not is_file(path):
        raise CorpusError(f"There is no file {path}.")
    suffix = path.suffix.lower()
    asked = iter(wanted)
    try:
        if suffix == ".parquet":
            from core.text.parquet import parquet_rows  # with pyarrow, which the others need not wait for

            yield from parquet_rows(path, choose, asked)
        elif suffix in _TEXT_READERS:
            yield from _TEXT_READERS[suffix](path, asked)
        else:
            raise CorpusError(f"{path}: a dataset file ends in {', '.join(SUFFIXES)}.")
    except OSError as error:  # also what a damaged Parquet page raises
        raise CorpusError(f"{path} cannot be read: {error}.") from error


def is_file(path: Path) -> bool:
    """Whether there is such a file; not for what `Path.is_file` fails on: too long for a name, or with a NUL in it."""
    return os.path.isfile(path)


def _jsonl(path: Path, wanted: Iterator[int]) -> Iterator[LocatedRow]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip() or not next(wanted, True):
                continue
            try:
                row = _parsed(line)
            except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or nested without end
                raise CorpusError(f"{path}, line {number}: not valid JSON ({error}).") from error
            if not isinstance(row, dict):
                raise CorpusError(f"{path}, line {number}: a row must be a JSON object, not {type(row).__name__}.")
            yield f"line {number}", row


def _parsed(line: bytes) -> object:
    """As `json.loads(line)`, which takes half as long again to find out that the line is UTF-8."""
    try:
        return json.loads(line.decode())
    except ValueError:
        return json.loads(line)  # another encoding, half of a surrogate pair, or its error


def _csv(path: Path, wanted: Iterator[int]) -> Iterator[LocatedRow]:
    # The module's default of 131,072 characters a cell is less than a long article.
    csv.field_size_limit(sys.maxsize)
    with path.open("rb") as file:
        reader = csv.reader(_decoded(file, path), strict=True)
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


_TEXT_READERS: dict[str, Callable[[Path, Iterator[int]], Iterator[LocatedRow]]] = {".jsonl": _jsonl, ".csv": _csv}
SUFFIXES = (*_TEXT_READERS, ".parquet")
