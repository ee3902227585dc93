"""Rows of Parquet files. Only needed columns are read. Columns that unpack to far more than their size are refused."""

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet

from core.errors import CorpusError
from core.text.files import ALWAYS_ALLOWED, MOST_TIMES_PACKED

# Rows that are decoded at once, and about how many bytes of one column they may have together.
_BATCH_ROWS = 256
_BATCH_BYTES = 64 * 2**20


def parquet_rows(
    path: Path, choose: Callable[[Sequence[str]], Collection[str]], asked: Iterator[int]
) -> Iterator[tuple[str, dict[str, object]]]:
    """The rows of a Parquet file, each with where it stands; see `core.text.files.read_rows`.

    Raises:
        CorpusError: it is no Parquet file, unpacks to too much, or holds what is no text, number or date of Python's.
        OSError: it is damaged, or cannot be read.
    """
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            wanted = _wanted(path, names, choose)
            rows = _batch_rows(path, file.metadata, wanted)
            number = 0
            for batch in file.iter_batches(batch_size=rows, columns=wanted):
                for index in range(batch.num_rows):
                    number += 1
                    if not next(asked, True):
                        continue
                    place = f"row {number}"
                    values = {name: _value(path, place, name, batch.column(name)[index]) for name in wanted}
                    yield place, {**dict.fromkeys(names), **values}
    except pyarrow.ArrowException as error:
        raise CorpusError(f"{path}: not a readable Parquet file ({error}).") from error


def _wanted(path: Path, names: Sequence[str], choose: Callable[[Sequence[str]], Collection[str]]) -> list[str]:
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
    if metadata.num_rows > path.stat().st_size:
        raise CorpusError(f"{path} says that it holds {metadata.num_rows} rows, which is more than it has bytes.")
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
