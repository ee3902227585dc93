"""The rows of JSON, CSV and Parquet files, each with where it stands, so that an error can name it."""

import codecs
import contextlib
import csv
import io
import itertools
import json
import lzma
import os
import sys
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from core.errors import CorpusError, LanguageError, SegmentationError
from core.provenance import file_sha256

Row: TypeAlias = dict[str, object]
# Where it stands ("line 7"), and the row.
PlacedRow: TypeAlias = tuple[str, Row]
_KINDS = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
_PACKED = (".gz", ".bz2", ".xz", ".zst")
SUFFIXES = ".jsonl, .json, .csv, .tsv (each with or without .gz, .bz2, .xz or .zst) or .parquet"
"""How the name of a file ends that is read here."""
# Rows of Parquet that are decoded at once.
_BATCH_ROWS = 256


@dataclass(frozen=True, slots=True)
class Reader:
    """The rows of one file, which are read one after another.

    Attributes:
        path: JSONL (or a JSON list, which is parsed as a whole), CSV, its cells separated by commas, semicolons or
            tabs, or Parquet. All but the last may be packed.
        name: what errors call it.
        columns: of a Parquet file, those that are needed (None: all). The others are None in every row.
    """

    path: Path
    name: str
    columns: Collection[str] | None = None

    def rows(self) -> Iterator[PlacedRow]:
        """The rows, lazily, each with where it stands.

        Raises:
            CorpusError: the file does not exist, is of another kind, or holds a malformed row (named by its line).
        """
        require_file(self.path)
        formats = {
            ".jsonl": self._jsonl,
            ".json": self._json,
            ".csv": self._csv,
            ".tsv": self._tsv,
            ".parquet": self._parquet,
        }
        read = formats.get(_kind(self.path.name))
        if read is None:
            raise CorpusError(f"{self.name}: a dataset file ends in {SUFFIXES}.")
        try:
            yield from read()
        # Also what a damaged Parquet page or packed file raises.
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise CorpusError(f"{self.name} cannot be read: {error}.") from error

    def _jsonl(self) -> Iterator[PlacedRow]:
        return self._json_lines(self._lines())

    def _json(self) -> Iterator[PlacedRow]:
        """A list of objects; or JSON lines, which many files of this name hold."""
        lines = self._lines()
        first = next(lines, b"")
        if not first.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
            yield from self._json_lines(itertools.chain([first], lines))
            return
        try:
            values = json.loads(b"".join([first, *lines]))
        except (ValueError, RecursionError) as error:
            raise CorpusError(f"{self.name}: not valid JSON ({error}).") from error
        for number, value in enumerate(values, start=1):
            yield f"row {number}", self._object(value, f"row {number}")

    def _json_lines(self, lines: Iterable[bytes]) -> Iterator[PlacedRow]:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            place = f"line {number}"
            try:
                value = json.loads(line.rstrip(b"\r\n"))
            except json.JSONDecodeError as error:  # which counts lines from this one
                problem = f"not valid JSON ({error.msg}, column {error.pos + 1})"
                raise self._malformed(place, problem) from error
            except (ValueError, RecursionError) as error:  # not UTF-8, or nested without end
                raise self._malformed(place, f"not valid JSON ({error})") from error
            yield place, self._object(value, place)

    def _object(self, value: object, place: str) -> Row:
        if not isinstance(value, dict):
            raise self._malformed(place, f"a row must be a JSON object, not {type(value).__name__}")
        return value

    def _csv(self) -> Iterator[PlacedRow]:
        """The first line tells whether its separator is a comma or, as Excel has it in Europe, a semicolon."""
        lines = self._text_lines()
        first = next(lines, "")
        return self._table(itertools.chain([first], lines), separator=max(",;", key=first.count))

    def _tsv(self) -> Iterator[PlacedRow]:
        return self._table(self._text_lines(), separator="\t")

    def _table(self, lines: Iterator[str], separator: str) -> Iterator[PlacedRow]:
        # The module's default of 131,072 characters a cell is less than a long article.
        csv.field_size_limit(sys.maxsize)
        reader = csv.reader(lines, delimiter=separator, strict=True)
        names: list[str] | None = None
        while True:
            place = f"line {reader.line_num + 1}"  # where the row begins: a quoted cell may hold further lines
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise self._malformed(place, f"not valid CSV ({error})") from error
            if cells is None:
                return
            if names is None:
                names = cells
                self._needed(names)
            elif cells:
                if len(cells) != len(names):
                    raise self._malformed(place, f"the row has {len(cells)} cells, not {len(names)}")
                yield place, dict(zip(names, cells, strict=True))

    def _parquet(self) -> Iterator[PlacedRow]:
        """One row group after another, of which only the needed columns are read."""
        import pyarrow.parquet  # which the others need not wait for

        try:
            with pyarrow.parquet.ParquetFile(self.path) as file:
                names = file.schema_arrow.names
                needed = self._needed(names)
                batches = file.iter_batches(batch_size=_BATCH_ROWS, columns=needed)
                rows = ((batch, index) for batch in batches for index in range(batch.num_rows))
                for number, (batch, index) in enumerate(rows, start=1):
                    cells = {name: self._cell(batch, name, index, f"row {number}") for name in needed}
                    yield f"row {number}", dict.fromkeys(names) | cells
        except pyarrow.ArrowException as error:
            raise CorpusError(f"{self.name}: not a readable Parquet file ({error}).") from error

    def _cell(self, batch: Any, name: str, index: int, place: str) -> object:
        try:
            return batch.column(name)[index].as_py()
        except (ValueError, OverflowError) as error:  # text that is not UTF-8, a date before the year 1
            raise self._malformed(place, f"field {name!r} cannot be read ({error})") from error

    def _needed(self, names: list[str]) -> list[str]:
        needed = [name for name in dict.fromkeys(names) if self.columns is None or name in self.columns]
        if twice := [name for name in needed if names.count(name) > 1]:
            raise CorpusError(f"{self.name} has several columns {twice[0]!r}: rename all but one.")
        return needed

    def _lines(self) -> Iterator[bytes]:
        """The lines of a text, unpacked where it is packed."""
        with _opened(self.path) as file:
            yield from file

    def _text_lines(self) -> Iterator[str]:
        for number, line in enumerate(self._lines(), start=1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise self._malformed(f"line {number}", f"not valid UTF-8 ({error})") from error

    def _malformed(self, place: str, problem: str) -> CorpusError:
        return CorpusError(f"{self.name}, {place}: {problem}.")


def read_rows(path: Path, columns: Collection[str] | None = None) -> Iterator[PlacedRow]:
    """The rows of a file, see `Reader.rows`."""
    return Reader(path, str(path), columns).rows()


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


def require_file(path: Path) -> None:
    """Raise `CorpusError` if there is no such file."""
    if not is_file(path):
        raise CorpusError(f"There is no file {path}.")


def path_from_anywhere(path: Path) -> Path:
    """The absolute path of a file under its own name: links of its folders are followed, and the file's own is not.

    What is told of the file has its name, and must have the same one when a run is resumed.
    """
    return path.parent.resolve() / path.name


def content_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, as 64 hex digits.

    Raises:
        CorpusError: there is none, or it cannot be read.
    """
    require_file(path)
    try:
        return file_sha256(path)
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error}.") from error


def is_data_file(name: str) -> bool:
    """Whether a name has the ending of a file that can be read here. The file need not exist."""
    return _kind(name) in _KINDS


def _kind(name: str) -> str:
    """The suffix that tells how a file is read: the one before `.gz` of a text that is packed."""
    kind = Path(name).suffix.lower()
    inner = Path(Path(name).stem).suffix.lower() if kind in _PACKED else ""
    return inner if inner in _KINDS and inner != ".parquet" else kind


def _opened(path: Path) -> Any:
    """A file, opened to read its bytes, unpacked by what its suffix says."""
    if path.suffix.lower() == ".zst":  # only Python 3.14 has it; pyarrow has it everywhere
        import pyarrow

        return io.BufferedReader(pyarrow.input_stream(str(path), compression="zstd"))
    if path.suffix.lower() not in _PACKED:
        return path.open("rb")
    from fsspec.implementations.local import LocalFileSystem  # which other files need not wait for

    return LocalFileSystem().open(os.path.abspath(path), "rb", compression="infer")
