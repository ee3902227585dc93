"""The columns of tables, told once: what stands in each, and how people, files and papers have it.

A table for people that is wider than the terminal is printed in parts, and nothing is cropped.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Generic, Literal, TypeAlias, TypeVar

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from core.errors import StoreError
from jobs.terminal.console import printable

Align: TypeAlias = Literal["left", "right"]
Value: TypeAlias = str | int | float | None
Row = TypeVar("Row")

_WIDEST = 60
"""Columns of the terminal for a text: what is longer folds."""


@dataclass(frozen=True, slots=True)
class ColumnSpec(Generic[Row]):
    """A column of a table of rows, wherever it is shown.

    Attributes:
        name: in files and frames.
        value: what a row has there, with all its digits.
        label: the heading for people, of any number of lines; default: the name.
        shown: a row's cell for people, of any number of lines; default: the `text` of its value.
        align: the side at which cells begin; numbers stand to the right.
        width: at which lines for people fold; default: as wide as the longest.
        explained: what a reader must know of the column, if anything.
    """

    name: str
    value: Callable[[Row], object]
    label: str = ""
    shown: Callable[[Row], str | Text] | None = None
    align: Align = "right"
    width: int | None = None
    explained: str = ""

    def cell(self, row: Row) -> Text:
        """A row's cell for people."""
        found = text(self.value(row)) if self.shown is None else self.shown(row)
        return found if isinstance(found, Text) else Text(found)

    def column(self, rows: Iterable[Row]) -> "Column":
        """The column for people."""
        return Column(self.label or self.name, [self.cell(row) for row in rows], self.width, self.align)


def columns_of(names: Sequence[str], rows: Iterable[Sequence[object]]) -> list[ColumnSpec[Sequence[object]]]:
    """The columns of rows of which only the names are known, such as those of a query: numbers to the right."""
    values = list(rows)
    return [
        ColumnSpec(
            name,
            itemgetter(i),
            align="right" if all(isinstance(row[i], int | float | None) for row in values) else "left",
        )
        for i, name in enumerate(names)
    ]


def distinct(names: Sequence[str]) -> Sequence[str]:
    """The names of columns, where each tells one column.

    Raises:
        StoreError: two columns have the same name, so one would be lost.
    """
    for name in names:
        if names.count(name) > 1:
            raise StoreError(f"two columns are called {name!r}: name one of them with AS")
    return names


def file_rows(columns: Sequence[ColumnSpec[Row]], rows: Iterable[Row]) -> Iterator[list[Value]]:
    """What each row has in a file or a frame."""
    return ([plain(column.value(row)) for column in columns] for row in rows)


def plain(value: object) -> Value:
    """A value with all its digits, as a number or as text. JSON becomes text; of bytes, their number is told."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes | memoryview):  # nobody reads a checkpoint
        return f"<{len(value)} bytes>"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def text(value: object, missing: str = "") -> str:
    """A value on one line: six significant digits, `missing` for none, control characters written out."""
    found = plain(value)
    return missing if found is None else f"{found:.6g}" if isinstance(found, float) else printable(str(found))


def as_objects(names: Sequence[str], rows: Iterable[Sequence[object]]) -> list[dict[str, object]]:
    """Each row as an object by column name.

    A number that JSON does not know (infinite, NaN) becomes null; of bytes, their number is told.

    Raises:
        StoreError: two columns have the same name, so one would be lost.
    """
    distinct(names)
    return [dict(zip(names, map(_json_value, row), strict=True)) for row in rows]


def _json_value(value: object) -> object:
    if isinstance(value, bytes | memoryview):
        return plain(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_rows(columns: Sequence[ColumnSpec[Row]], rows: Iterable[Row], console: Console) -> None:
    """Print rows under their column names; nothing is cut, so that it can be piped."""
    cells = [[text(column.value(row), "NULL") for column in columns] for row in rows]
    names = [column.name for column in columns]
    lines = [names, ["-" * len(name) for name in names], *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = [
            cell.rjust(width) if column.align == "right" else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        ]
        console.print("  ".join(padded).rstrip(), markup=False, highlight=False, soft_wrap=True)


def print_for_people(columns: Sequence[ColumnSpec[Row]], rows: Sequence[Row], console: Console) -> None:
    """Print rows for a terminal: long texts fold, and what is too wide for it goes on in a further part."""
    first, *others = [
        Column(column.name, cells := [Text(text(column.value(row), "NULL")) for row in rows],
               min(_WIDEST, Column(column.name, cells).wide), column.align)
        for column in columns
    ]  # fmt: skip
    print_table(first, others, console, gap=2)


@dataclass(frozen=True, slots=True)
class Column:
    """A column as it is printed: cells of any number of lines under a heading.

    Its lines fold at `width`; without one it is as wide as its longest line.
    """

    heading: str
    cells: Sequence[Text]
    width: int | None = None
    justify: Align = "right"

    @property
    def wide(self) -> int:
        """Columns of the terminal that it takes."""
        lines = [line for text in (self.heading, *map(str, self.cells)) for line in text.split("\n")]
        return self.width or max(map(cell_len, lines))


def print_table(first: Column, columns: Sequence[Column], console: Console, gap: int = 1) -> None:
    """Print a table, in as many parts as the width of the console asks for; `first` begins each of them.

    Nothing is cropped: what is wider than the console folds.
    """
    available = max(1, console.width - first.wide - gap)
    part: list[Column] = []
    for column in columns:
        if part and sum(member.wide + gap for member in (*part, column)) - gap > available:
            console.print(_table(first, part, gap))
            part = []
        part.append(column)
    console.print(_table(first, part, gap))


def _table(first: Column, columns: Sequence[Column], gap: int) -> Table:
    """Without lines, `gap` blanks between its columns."""
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for column in (first, *columns):
        table.add_column(column.heading, width=column.wide, justify=column.justify, overflow="fold")
    for row in zip(*(column.cells for column in (first, *columns)), strict=True):
        table.add_row(*row)
    return table
