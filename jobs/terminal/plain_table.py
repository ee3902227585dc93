"""Rows of a query as a table: for a terminal, for a pipe, and as objects."""

import math
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from core.errors import StoreError
from jobs.terminal.console import printable
from jobs.terminal.parted_table import Column, print_table

_WIDEST = 60
"""Columns of the terminal for a text: what is longer folds."""


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[object]], console: Console) -> None:
    """Print rows under their column names, numbers to the right; nothing is cut, so that it can be piped."""
    values = list(rows)
    cells = [[_text(value) for value in row] for row in values]
    lines = [list(columns), ["-" * len(name) for name in columns], *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    numeric = [_is_number(values, i) for i in range(len(columns))]
    for line in lines:
        padded = [
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(line, widths, numeric, strict=True)
        ]
        console.print("  ".join(padded).rstrip(), markup=False, highlight=False, soft_wrap=True)


def print_for_people(columns: Sequence[str], rows: Iterable[Sequence[object]], console: Console) -> None:
    """Print rows for a terminal: long texts fold, and what is too wide for it goes on in a further part."""
    values = list(rows)
    first, *others = [
        Column(
            name,
            cells := [Text(_text(row[i])) for row in values],
            width=min(_WIDEST, Column(name, cells).wide),
            justify="right" if _is_number(values, i) else "left",
        )
        for i, name in enumerate(columns)
    ]
    print_table(first, others, console, gap=2)


def _is_number(rows: Sequence[Sequence[object]], column: int) -> bool:
    return all(isinstance(row[column], int | float | None) for row in rows)


def as_objects(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[dict[str, object]]:
    """Each row as an object by column name.

    A number that JSON does not know (infinite, NaN) becomes null; of bytes, their number is told.

    Raises:
        StoreError: two columns have the same name, so one would be lost.
    """
    for name in columns:
        if columns.count(name) > 1:
            raise StoreError(f"two columns are called {name!r}: name one of them with AS")
    return [dict(zip(columns, map(_plain, row), strict=True)) for row in rows]


def _plain(value: object) -> object:
    if isinstance(value, bytes | memoryview):
        return _bytes(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _bytes(value: bytes | memoryview) -> str:
    """Nobody reads a checkpoint."""
    return f"<{len(value)} bytes>"


def _text(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, bytes | memoryview):
        return _bytes(value)
    return printable(str(value))
