"""Tables for people. A table that is wider than the terminal is printed in parts, and nothing is cropped."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: cells of any number of lines under a heading.

    Its lines fold at `width`; without one it is as wide as its longest line.
    """

    heading: str
    cells: Sequence[Text]
    width: int | None = None
    justify: Literal["left", "right"] = "right"

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
