"""A table, made once and shown anywhere: in a terminal, on a page, in a paper, in a file, in a notebook."""

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO, TypeAlias

from markupsafe import Markup
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from nws.core.errors import StoreError
from nws.core.whole_files import replacing
from nws.jobs.report.console import printable

if TYPE_CHECKING:
    from jinja2 import Template

Mark: TypeAlias = Literal["", "*", "?", "°"]

_WIDEST = 60
"""Columns of the terminal for a text: what is longer folds."""
_LEAST_NAME = 14
"""The least width of the first column, in columns of the terminal, before a table is printed in parts."""
_PAD = "\N{NO-BREAK SPACE}"  # where other cells have a mark; rich would strip a blank
# What a spreadsheet takes for the beginning of a formula, see OWASP, "CSV Injection".
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
        # Without T1 fonts these three are other characters.
        **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
        # Behind \\ they would be its argument and its star.
        **{"[": "{[}", "]": "{]}", "*": "{*}"},
        **{"`": r"\textasciigrave{}", "'": r"\textquotesingle{}"},
    }
)
_LIGATURE = re.compile(r"-(?=-)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A number as people read it.

    Attributes:
        text: the number, on one line.
        below: the interval, in smaller type under the number, such as "±.012" or "9–11".
        mark: "*" for the highest or a significant one, which is bold, too; "?" for nearly; "°" for not compared.
    """

    text: str
    below: str = ""
    mark: Mark = ""


MISSING = Cell("–")
"""The cell where a row has no number."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings. The first column says what a row is of.

    Attributes:
        columns: the headings, which are names in files.
        rows: values with all their digits, or cells as people read them. A column of texts stands to the left.
        title: says what is shown.
        notes: the sentences on how to read the table.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, records: Iterable[Mapping[str, object]]) -> "Table":
        """Make a table of records with equal keys, which are the columns."""
        rows = list(records)
        return cls(tuple(rows[0]) if rows else (), [tuple(row.values()) for row in rows])

    @property
    def is_left(self) -> tuple[bool, ...]:
        """Whether each column holds texts, which stand to the left."""
        return tuple(
            not all(isinstance(row[i], int | float | None | Cell) for row in self.rows)
            for i in range(len(self.columns))
        )

    def cells(self, missing: str = "") -> Iterator[list[Cell]]:
        """Yield each row as people read it; `missing` stands for None."""
        for row in self.rows:
            yield [value if isinstance(value, Cell) else Cell(shown(value, missing)) for value in row]

    def print(self, console: Console, missing: str = "", fold: bool = True) -> None:
        """Print it with title and notes, in as many parts as the width of the console asks for.

        Nothing is cropped: long texts fold, and the first column begins each part. Unless it is to `fold`, no text of
        at most 60 letters is broken, such as the id of a run.
        """
        if self.title:
            console.print()
            console.print(Text(self.title, style="bold underline"))
        columns = self._printed_columns(missing)
        gap = 2 if _width(columns, 2) <= console.width else 1
        first, *others = _narrowed(columns, console.width, gap) if fold else columns
        for part in _parts(first, others, console.width, gap):
            console.print(_rich_table((first, *part), gap))
        for note in self.notes:
            console.print(Text(note, style="dim"))

    def print_query(self, console: Console) -> None:
        """Print rows of a store: folded for people on a terminal, else a line each."""
        if console.is_terminal:
            self.print(console, "NULL", fold=False)
        else:
            self.print_lines(console)

    def print_lines(self, console: Console) -> None:
        """Print each row on one line under the column names; nothing is cut, so that it can be piped."""
        cells = [[cell.text for cell in row] for row in self.cells("NULL")]
        lines = [self.columns, ["-" * len(name) for name in self.columns], *cells]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            padded = [
                cell.ljust(width) if is_left else cell.rjust(width)
                for cell, width, is_left in zip(line, widths, self.is_left, strict=True)
            ]
            console.print("  ".join(padded).rstrip(), markup=False, highlight=False, soft_wrap=True)

    def objects(self) -> list[dict[str, object]]:
        """Return each row as an object by column name, for JSON.

        A number that JSON does not know (infinite, NaN) becomes null; of bytes, their number is told.

        Raises:
            StoreError: two columns have the same name, so one would be lost.
        """
        for name in self.columns:
            if self.columns.count(name) > 1:
                raise StoreError(f"two columns are called {name!r}: name one of them with AS")
        return [dict(zip(self.columns, map(_json_value, row), strict=True)) for row in self.rows]

    def csv(self, file: TextIO) -> None:
        """Write it to a file, see `put_csv`."""
        put_csv(file, self.columns, self.rows)

    def latex(self) -> str:
        """Write a `tabular` with the rules of the package booktabs; a missing value is an empty cell."""
        lines = [
            rf"\begin{{tabular}}{{{''.join('l' if is_left else 'r' for is_left in self.is_left)}}}",
            r"\toprule",
            rf"{' & '.join('$n$' if name == 'n' else latex_cell(name) for name in self.columns)} \\",
            r"\midrule",
            *(rf"{' & '.join(map(latex_cell, row))} \\" for row in self.rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
        return "\n".join(lines) + "\n"

    def html(self) -> Markup:
        """Write a `table` element with the title as its caption. Every text is escaped."""
        return Markup(_html_template().render(table=self, is_left=self.is_left, rows=list(self.cells("–"))))

    def _printed_columns(self, missing: str) -> "list[_Printed]":
        cells = list(zip(*self.cells(missing), strict=True)) or [() for _ in self.columns]
        return [
            _Printed.of(heading, column, is_left)
            for heading, column, is_left in zip(self.columns, cells, self.is_left, strict=True)
        ]


@cache
def _html_template() -> "Template":
    from jinja2 import Environment, StrictUndefined  # which `nws ls` need not wait for

    return Environment(autoescape=True, undefined=StrictUndefined).from_string(
        '<table class="numbers"><caption>{{ table.title }}</caption><thead><tr>'
        '{% for name in table.columns %}<th scope="col">{{ name }}</th>{% endfor %}</tr></thead>\n<tbody>'
        '{% for row in rows %}<tr><th scope="row">{{ row[0].text }}</th>{% for cell in row[1:] %}'
        '<td{% if is_left[loop.index] %} class="text"{% endif %}>'
        '{% if cell.mark == "*" %}<b>{{ cell.text }}*</b>{% else %}{{ cell.text }}{{ cell.mark }}{% endif %}'
        "{% if cell.below %}<small>{{ cell.below }}</small>{% endif %}</td>{% endfor %}</tr>"
        '{% if not loop.last %}{{ "\n" }}{% endif %}{% endfor %}</tbody></table>'
    )


def put_csv(file: TextIO, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows under their column names; None is an empty cell.

    A text that a spreadsheet would compute, as the name of a dataset might be, gets a ' in front. Numbers stay as they
    are, negative ones too.
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([_harmless(name) for name in columns])
    writer.writerows([_harmless(plain(value)) for value in row] for row in rows)


def write_csv(path: Path, table: Table) -> None:
    """Write a table to a file in UTF-8, see `put_csv`.

    Raises:
        OSError: `path` cannot be written.
    """
    with replacing(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        table.csv(file)


def plain(value: object) -> str | int | float | None:
    """Return a value with all its digits, as a number or as text. JSON becomes text; bytes become their number."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes | memoryview):  # nobody reads a checkpoint
        return f"<{len(value)} bytes>"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def shown(value: object, missing: str = "") -> str:
    """Write a value on one line: six significant digits, `missing` for none, control characters escaped."""
    short = plain(value)
    if short is None:
        return missing
    return f"{short:.6g}" if isinstance(short, float) else printable(str(short))


def latex_cell(value: object) -> str:
    """Write a value for a cell: special characters are escaped, and a minus sign is typeset as one."""
    if isinstance(value, Cell):
        return _latex_number(value)
    text = shown(value)
    if not isinstance(value, str) and text.startswith("-"):
        return f"$-${text[1:]}"
    return _LIGATURE.sub("-{}", text.translate(_LATEX))


def _latex_number(cell: Cell) -> str:
    """Write half of an interval as a subscript, and other intervals in brackets."""
    if cell == MISSING:
        return "--"
    text, below = (part.replace("-", "$-$").replace("–", "--").replace(">", "$>$") for part in (cell.text, cell.below))
    if cell.mark:
        text = rf"\textbf{{{text}}}" if cell.mark == "*" else rf"{text}$^{{\circ}}$"
    if below.startswith("±"):
        return rf"{text}$_{{\pm{below[1:]}}}$"
    return f"{text} ({below})" if below else text


def _json_value(value: object) -> object:
    if isinstance(value, bytes | memoryview):
        return plain(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _harmless(value: str | float | None) -> str | float | None:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


@dataclass(frozen=True, slots=True)
class _Printed:
    """A column in a terminal, and how wide it is."""

    heading: str
    cells: Sequence[Text]
    width: int
    is_left: bool

    @classmethod
    def of(cls, heading: str, cells: Sequence[Cell], is_left: bool) -> "_Printed":
        pad = _PAD if any(cell.mark for cell in cells) else ""
        texts = []
        for cell in cells:
            text = Text(cell.text + (cell.mark or pad), "bold" if cell.mark == "*" else "")
            texts.append(text.append(f"\n{cell.below}", "not bold dim") if cell.below else text)
        lines = [line for text in (heading + pad, *map(str, texts)) for line in text.split("\n")]
        widest = max(map(cell_len, lines))
        return cls(heading + pad, texts, min(widest, _WIDEST) if is_left else widest, is_left)

    def folded(self, width: int) -> "_Printed":
        """Fold the column to at most `width` columns of the terminal."""
        return _Printed(self.heading, [_broken(cell.plain, width) for cell in self.cells], min(self.width, width), True)


def _broken(name: str, width: int) -> Text:
    """Break a name into lines of `width`, each behind one of "|/- "; a role at its end is not broken."""
    lines = [""]
    for piece in re.findall(r"\([^)]*\)$|[^|/ -]*[|/ -]|[^|/ -]+$", name):
        if lines[-1].strip() and len(lines[-1]) + len(piece) > width:
            lines.append(" ")
        lines[-1] += piece
    return Text("\n".join(lines))


def _width(columns: Sequence[_Printed], gap: int) -> int:
    return sum(column.width for column in columns) + gap * (len(columns) - 1)


def _narrowed(columns: Sequence[_Printed], width: int, gap: int) -> list[_Printed]:
    """Fold columns of texts, the widest first, where that makes them fit; else only the first."""
    narrow = list(columns)
    texts = [i for i, column in enumerate(columns) if column.is_left]
    for i in sorted(texts, key=lambda i: -columns[i].width):
        excess = _width(narrow, gap) - width
        if excess > 0 and columns[i].width > _LEAST_NAME:
            narrow[i] = columns[i].folded(max(_LEAST_NAME, columns[i].width - excess))
    if _width(narrow, gap) <= width:
        return narrow
    first, *others = columns
    return [first.folded(_LEAST_NAME) if first.is_left else first, *others]


def _parts(first: _Printed, columns: Sequence[_Printed], width: int, gap: int) -> Iterator[list[_Printed]]:
    """Yield the columns in parts, each with as many as fit beside `first` on a line, at least one."""
    part: list[_Printed] = []
    available = max(1, width - first.width)
    for column in columns:
        if part and sum(member.width + gap for member in (*part, column)) > available:
            yield part
            part = []
        part.append(column)
    yield part


def _rich_table(columns: Sequence[_Printed], gap: int) -> RichTable:
    """Make a table without lines, with `gap` blanks between its columns."""
    table = RichTable(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for column in columns:
        side: Literal["left", "right"] = "left" if column.is_left else "right"
        table.add_column(column.heading, width=column.width, justify=side, overflow="fold")
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*row)
    return table
