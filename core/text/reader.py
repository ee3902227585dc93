"""The rows of JSON, CSV, Parquet, Arrow and text files, each with its place in the file for errors."""

import contextlib
import csv
import functools
import io
import itertools
import json
import lzma
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from nws.core.errors import CorpusError, LanguageError, SegmentationError
from nws.core.provenance import file_sha256
from nws.core.text.json_rows import BLANKS, parse, rows_in
from nws.core.text.rows import KEY_FIELDS, LINE, REFERENCE_FIELDS, REWRITE, TEXT_FIELDS, outermost

Row: TypeAlias = dict[str, object]
# A row with its place ("line 7") before it.
PlacedRow: TypeAlias = tuple[str, Row]
_TEXTS = (".jsonl", ".ndjson", ".jsonlines", ".json", ".csv", ".tsv")
_TABLES = (".parquet", ".arrow", ".feather")
_PACKED = (".gz", ".bz2", ".xz", ".zst")
SUFFIXES = ".jsonl, .json, .csv, .tsv (each with or without .gz, .bz2, .xz or .zst), .parquet, .arrow or .feather"
"""The endings of the names of files that can be read here."""
# The first bytes of binary files.
_BINARY = {b"PK\3\4": "Excel or zip", b"\x1f\x8b": "gzip", b"PAR1": "Parquet", b"ARROW1": "Arrow"}
# A source, target, hypothesis, or detokenized hypothesis in the output of `fairseq-generate`.
_FAIRSEQ = re.compile(r"(?P<kind>[STHD])-(?P<number>\d+)\t(?:-?(?:inf|nan|[\d.]+(?:e[+-]?\d+)?)\t)?(?P<text>.*?)\s*")
# For a header that is repeated after a byte order mark, where CSV does not read its quote as a quote.
_AROUND = '\ufeff \t\r\n"'
# One of these names shows that a line is the header of a table.
_COLUMNS = {*TEXT_FIELDS, *REFERENCE_FIELDS, *KEY_FIELDS, "prediction"}
# The number of rows of Parquet that are decoded at once.
_BATCH_ROWS = 256


@dataclass(frozen=True, slots=True)
class Reader:
    """The rows of a file, which are read one after another.

    Attributes:
        path: a file of JSONL, JSON (`nws.core.text.json_rows`), CSV (with commas, semicolons, tabs or bars), Parquet,
            or Arrow, which pandas calls Feather. Any other file is text, and each line is a row with the single field
            `LINE`. JSON and CSV may be compressed.
        name: the name of the file in errors.
        columns: for Parquet and Arrow files, the columns that are needed (None: all). The others are None in every row.
    """

    path: Path
    name: str
    columns: Collection[str] | None = None

    def rows(self) -> Iterator[PlacedRow]:
        """Yield the rows, each with its place.

        Raises:
            CorpusError: the file does not exist, is of another kind, or has a malformed row (the error names its line).
        """
        require_file(self.path)
        formats: Mapping[str, Callable[[], Iterator[PlacedRow]]] = {
            **dict.fromkeys((".jsonl", ".ndjson", ".jsonlines"), self._json),
            ".json": self._json,
            ".csv": functools.partial(self._csv, ",;\t|"),
            ".tsv": functools.partial(self._csv, "\t,;|"),
            ".parquet": self._parquet,
            ".arrow": self._arrow,
            ".feather": self._arrow,
        }
        kind = _kind(self.path.name)
        if kind in _PACKED:
            raise CorpusError(f"{self.name} cannot be read: the name of a dataset file ends in {SUFFIXES}.")
        read = formats.get(kind, self._text)
        try:
            yield from read()
        # Damaged Parquet pages and compressed files raise these, too.
        except (OSError, EOFError, UnicodeError, zlib.error, lzma.LZMAError) as error:
            raise CorpusError(f"{self.name} cannot be read: {error}.") from error

    def _json(self) -> Iterator[PlacedRow]:
        """Yield the rows of JSON lines, or of a single value with all rows, since many files have the other's name."""
        lines = enumerate(self._lines(), start=1)
        filled = ((number, line) for number, line in lines if line.strip())
        number, first = next(filled, (1, "[]"))
        try:
            begun = iter([*self._values(first, number)])
        except CorpusError:  # may be a value of several lines
            begun = self._values(first + "".join(line for _, line in lines), number)
        values = itertools.chain(begun, (value for index, line in filled for value in self._values(line, index)))
        number, value = next(values)
        if (second := next(values, None)) is None:
            yield from self._table(value, f"line {number}")
            return
        for index, row in itertools.chain([(number, value), second], values):
            yield f"line {index}", self._object(row, f"line {index}")

    def _table(self, value: object, place: str) -> Iterator[PlacedRow]:
        """Yield the rows of the only value in a file, which begins at `place`."""
        try:
            rows = rows_in(value, is_line=_kind(self.path.name) != ".json")
        except ValueError as error:
            raise CorpusError(f"{self.name} holds {error}.") from error
        for number, row in enumerate(rows, start=1):
            where = place if row is value else f"row {number}"
            yield where, self._object(row, where)

    def _values(self, text: str, number: int) -> Iterator[tuple[int, object]]:
        """Yield the values in a text that begins at line `number`, each with the number of its own line."""
        text = text.rstrip("\r\n")
        line, begin = number, len(text) - len(text.lstrip(BLANKS))
        while begin < len(text):
            try:
                value, end = parse(text, begin)
            except json.JSONDecodeError as error:
                place = f"line {number + error.lineno - 1}"
                raise self._malformed(place, f"not valid JSON ({error.msg}, column {error.colno})") from error
            except (ValueError, RecursionError) as error:  # a repeated key, or nested too deeply
                raise self._malformed(f"line {line}", f"not valid JSON ({error})") from error
            yield line, value
            line += text.count("\n", begin, end)
            begin = end

    def _object(self, value: object, place: str) -> Row:
        if not isinstance(value, dict):
            raise self._malformed(place, f"a row must be a JSON object, not {type(value).__name__}. {REWRITE}")
        return value

    def _text(self) -> Iterator[PlacedRow]:
        lines = enumerate(self._lines(), start=1)
        for number, line in lines:
            if number == 1 and _FAIRSEQ.match(line):
                yield from self._numbered(itertools.chain([(number, line)], lines))
                return
            if "\0" in line or (number == 1 and begins_a_table(line)):
                raise CorpusError(f"{self.name} is not lines of text. Give its name the right ending ({SUFFIXES}).")
            yield f"line {number}", {LINE: line.rstrip("\r\n")}

    def _numbered(self, lines: Iterable[tuple[int, str]]) -> Iterator[PlacedRow]:
        """Yield lines of `fairseq-generate`, such as `H-7<tab>score<tab>text`, in the order of their numbers."""
        rows = dict[int, PlacedRow]()
        kind = ""
        for number, line in lines:
            found = _FAIRSEQ.fullmatch(line)
            if found is None or int(found["number"]) in rows or not line.startswith(kind):
                raise self._malformed(f"line {number}", "fairseq needs one line per number, as from grep ^H- FILE")
            kind = line[0]
            rows[int(found["number"])] = f"line {number}", {LINE: found["text"]}
        yield from (row for _, row in sorted(rows.items()))

    def _csv(self, separators: str) -> Iterator[PlacedRow]:
        """Yield the rows of a table. Its separator is the one that the first line has most often (first of equals)."""
        lines = self._lines(has_cells=True)
        first = next(lines, "")
        if re.fullmatch(r"sep=.\s*", first):  # only for Excel
            first = next(lines, "")
        separator = max(separators, key=first.count)
        # The module's default limit of 131,072 characters per cell is less than a long article.
        csv.field_size_limit(sys.maxsize)
        reader = csv.reader(itertools.chain([first], lines), delimiter=separator, strict=True)
        names: list[str] | None = None
        while True:
            place = f"line {reader.line_num + 1}"  # where the row begins: a quoted cell may have several lines
            try:
                cells = next(reader, None)
            except csv.Error as error:
                problem = f'not valid CSV ({error}). In a cell, write a quote as "", not \\"'
                if "new-line character" in str(error):
                    problem = "a cell without quotes has a carriage return. Replace these with blanks: tr '\\r' ' '"
                raise self._malformed(place, problem) from error
            if cells is None:
                return
            if names is None:
                names = [name.strip(_AROUND) for name in cells]
                self._needed(names)
            elif cells:
                if problem := _row_problem(cells, names, separator):
                    raise self._malformed(place, problem)
                yield place, dict(zip(names, cells, strict=True))

    def _parquet(self) -> Iterator[PlacedRow]:
        """Yield the rows of a Parquet file, reading one row group after another, and only the needed columns."""
        import pyarrow.parquet  # imported here because other files do not need it

        try:
            with pyarrow.parquet.ParquetFile(self.path) as file:
                names = file.schema_arrow.names
                needed = self._needed(names)
                yield from self._cells(names, needed, file.iter_batches(batch_size=_BATCH_ROWS, columns=needed))
        except pyarrow.ArrowException as error:
            raise CorpusError(f"{self.name}: not a readable Parquet file ({error}).") from error

    def _arrow(self) -> Iterator[PlacedRow]:
        """Yield the rows of an Arrow file, as pandas writes it (Feather), or stream, as `Dataset.save_to_disk` does."""
        import pyarrow

        try:
            with pyarrow.memory_map(str(self.path)) as file:
                is_file = file.read(6) == b"ARROW1"
                file.seek(0)
                table = (pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream)(file).read_all()
                names = table.schema.names
                yield from self._cells(names, self._needed(names), table.to_batches(_BATCH_ROWS))
        except pyarrow.ArrowException as error:
            raise CorpusError(f"{self.name}: not a readable Arrow file ({error}).") from error

    def _cells(self, names: list[str], needed: list[str], batches: Iterable[Any]) -> Iterator[PlacedRow]:
        rows = ((batch, index) for batch in batches for index in range(batch.num_rows))
        for number, (batch, index) in enumerate(rows, start=1):
            cells = {name: self._cell(batch, name, index, f"row {number}") for name in needed}
            yield f"row {number}", dict.fromkeys(names) | cells

    def _cell(self, batch: Any, name: str, index: int, place: str) -> object:
        try:
            value = batch.column(name)[index].as_py()
            if isinstance(value, list):
                return [part.decode() if isinstance(part, bytes) else part for part in value]
            return value.decode() if isinstance(value, bytes) else value
        except (ValueError, OverflowError) as error:  # text that is not UTF-8, a date before the year 1
            raise self._malformed(place, f"field {name!r} cannot be read ({error})") from error

    def _needed(self, names: list[str]) -> list[str]:
        wanted = None if self.columns is None else {*self.columns, *map(outermost, self.columns)}
        needed = [name for name in dict.fromkeys(names) if wanted is None or name in wanted]
        if twice := [name for name in needed if names.count(name) > 1]:
            raise CorpusError(f"{self.name} has several columns {twice[0]!r}. Rename all but one.")
        return needed

    def _lines(self, has_cells: bool = False) -> Iterator[str]:
        """Yield the lines of a text, which may be compressed, in UTF-8 or in UTF-16 (as Excel writes it).

        A lone carriage return ends lines only if nothing else does, or if it ends the header of a table, whose cells
        may have line feeds. Otherwise it is part of a line.
        """
        with _opened(self.path) as file:
            head = file.peek()
            if packing := next((name for sign, name in _BINARY.items() if head.startswith(sign)), None):
                raise CorpusError(f"{self.name} is a file of {packing}, but its name does not say so ({SUFFIXES}).")
            encoding = json.detect_encoding(head)
            begins = head.decode(encoding, "ignore")
            is_lone = re.match(r"[^\r\n]*\r[^\n]", begins) and ("\n" not in begins or has_cells)
            if is_lone or not encoding.startswith("utf-8"):
                with io.TextIOWrapper(file, encoding, newline="\r" if is_lone else "\n") as text:
                    yield from text
                return
            for number, line in enumerate(file, start=1):
                try:
                    yield line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogatepass")
                except UnicodeDecodeError as error:
                    # In Korean, two bytes are a syllable. Hardly any text in Latin script has four such bytes in a row.
                    guess = "CP949" if re.search(rb"[\xa1-\xfe]{4}", line) else "CP1252"
                    problem = f"not valid UTF-8 ({error}). It may be {guess}. To convert it: iconv -f {guess} -t UTF-8"
                    raise self._malformed(f"line {number}", problem) from error

    def _malformed(self, place: str, problem: str) -> CorpusError:
        return CorpusError(f"{self.name}, {place}: {problem}.")


def read_rows(path: Path, columns: Collection[str] | None = None) -> Iterator[PlacedRow]:
    """Yield the rows of a file, see `Reader.rows`."""
    return Reader(path, str(path), columns).rows()


@contextlib.contextmanager
def regular_file(path: Path) -> Iterator[Path]:
    """Yield a file that can be read twice. For a pipe or device, this is a copy, whose name fits its beginning."""
    is_there = os.path.exists(path) and not os.path.isdir(path)
    if not is_there or (is_file(path) and path.parts[:2] != ("/", "dev")):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        content = path.read_bytes()
        is_json = re.match(rb"(?:\xef\xbb\xbf)?\s*(\{|\[\s*[\[{])", content)
        is_table = begins_a_table(content.partition(b"\n")[0].decode("utf-8-sig", "replace"))
        copy = Path(folder, "rows.json" if is_json else "rows.csv" if is_table else "lines.txt")
        copy.write_bytes(content)
        yield copy


@contextlib.contextmanager
def naming(file: str | Path, place: str) -> Iterator[None]:
    """Add a row's file and place to errors about the row."""
    try:
        yield
    except (CorpusError, LanguageError, SegmentationError) as error:
        raise type(error)(f"{file}, {place}: {error}", settings=error.settings) from error


def _row_problem(cells: Sequence[str], names: Sequence[str], separator: str) -> str:
    """Say why cells are not a row of a table; "" if they may be one."""
    if len(cells) != len(names):
        return f"the row has {len(cells)} cells, not {len(names)}, with {separator!r} between them"
    if cells[0].strip(_AROUND) in names and all(cell.strip(_AROUND) in names for cell in cells):
        return "the header is repeated. Remove this line"
    between = len(names) - 1
    if separator in "\t|" and any("\n" in c and c.count(separator) == between * c.count("\n") > 0 for c in cells):
        return 'a quote opens a cell that has several lines of the table. Write a quote in a text as ""'
    return ""


def begins_a_table(line: str) -> bool:
    """Return whether the first line of a text is a JSON object, or has the columns of a table."""
    cells = {cell.strip(' "') for cell in re.split(r"[,;\t|]", line.strip())}
    return line.startswith("{") or (len(cells) > 1 and not cells.isdisjoint(_COLUMNS))


def is_file(path: Path) -> bool:
    """Return whether a file exists. False where `Path.is_file` fails, since the name is too long or has a NUL."""
    return os.path.isfile(path)


def require_file(path: Path) -> None:
    """Raise `CorpusError` if there is no such file."""
    if not is_file(path):
        is_pipe = os.path.exists(path) and not os.path.isdir(path)
        raise CorpusError(f"{path} is a pipe. Write it to a file." if is_pipe else f"There is no file {path}.")


def path_from_anywhere(path: Path) -> Path:
    """Return the absolute path of a file under its own name: links are followed for its folders, not for the file.

    The file's name is stored and shown, and must be the same when a run is resumed.
    """
    return path.parent.resolve() / path.name


def content_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as 64 hex digits.

    Raises:
        CorpusError: the file does not exist, or cannot be read.
    """
    require_file(path)
    try:
        return file_sha256(path)
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error}.") from error


def is_data_file(name: str) -> bool:
    """Return whether a name has the ending of a file that can be read here. The file need not exist."""
    return _kind(name) in (*_TEXTS, *_TABLES)


def _kind(name: str) -> str:
    """Return the suffix that says how to read a file. For compressed text, it is the one before `.gz`."""
    kind = Path(name).suffix.lower()
    inner = Path(Path(name).stem).suffix.lower() if kind in _PACKED else ""
    return inner if inner in _TEXTS else kind


def _opened(path: Path) -> Any:
    """Open a file for reading bytes, and decompress it as its suffix says."""
    if path.suffix.lower() == ".zst":  # Python has it only from 3.14 on, so pyarrow reads it
        import pyarrow

        return io.BufferedReader(pyarrow.input_stream(str(path), compression="zstd"))
    if path.suffix.lower() not in _PACKED:
        return path.open("rb")
    from fsspec.implementations.local import LocalFileSystem  # imported here because other files do not need it

    return io.BufferedReader(LocalFileSystem().open(os.path.abspath(path), "rb", compression="infer"))
