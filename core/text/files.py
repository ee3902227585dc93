"""Rows of JSONL, CSV and Parquet files, each with where it stands, so that an error can name it."""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow.parquet

from core.errors import CorpusError

# Where a row stands ("line 7"), and the row.
LocatedRow = tuple[str, dict[str, object]]


def read_rows(path: Path) -> Iterator[LocatedRow]:
    """The rows of `path`, lazily.

    Raises:
        CorpusError: the file does not exist, is of another kind, or holds a malformed row (named by its line).
    """
    if not path.is_file():
        raise CorpusError(f"There is no file {path}.")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise CorpusError(f"{path}: a dataset file ends in {', '.join(READERS)}.")
    try:
        yield from reader(path)
    except OSError as error:  # also what a damaged Parquet page raises
        raise CorpusError(f"{path} cannot be read: {error}.") from error


def _jsonl(path: Path) -> Iterator[LocatedRow]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or nested without end
                raise CorpusError(f"{path}, line {number}: not valid JSON ({error}).") from error
            if not isinstance(row, dict):
                raise CorpusError(f"{path}, line {number}: a row must be a JSON object, not {type(row).__name__}.")
            yield f"line {number}", row


def _csv(path: Path) -> Iterator[LocatedRow]:
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
                yield place, dict(zip(names, cells, strict=True))


def _decoded(lines: Iterable[bytes], path: Path) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise CorpusError(f"{path}, line {number}: not valid UTF-8 ({error}).") from error


def _parquet(path: Path) -> Iterator[LocatedRow]:
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(batch_size=256):
                for row in batch.to_pylist():
                    number += 1
                    yield f"row {number}", row
    except pyarrow.ArrowException as error:
        raise CorpusError(f"{path}: not a readable Parquet file ({error}).") from error


READERS: dict[str, Callable[[Path], Iterator[LocatedRow]]] = {
    ".jsonl": _jsonl,
    ".csv": _csv,
    ".parquet": _parquet,
}
