"""Tables as files and for papers: CSV that is safe in a spreadsheet, Parquet, Markdown as GitHub reads it, LaTeX."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from core.errors import StoreError
from core.whole_files import replacing
from jobs.terminal.columns import ColumnSpec, Row, Value, distinct, file_rows, text

# What a spreadsheet takes for the beginning of a formula, see OWASP, "CSV Injection".
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# CommonMark 0.31, 2.4: a backslash before a character of ASCII punctuation takes its meaning away.
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|~&#!$"})
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


def write_csv(path: Path, columns: Sequence[ColumnSpec[Row]], rows: Iterable[Row]) -> None:
    """Write rows under their column names to a file, in UTF-8, see `put_csv`.

    Raises:
        OSError: `path` cannot be written.
    """
    with replacing(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        put_csv(file, columns, rows)


def put_csv(file: TextIO, columns: Sequence[ColumnSpec[Row]], rows: Iterable[Row]) -> None:
    """Write rows under their column names; None is an empty cell.

    A text that a spreadsheet would compute, as the name of a dataset might be, gets a ' in front. Numbers stay as they
    are, negative ones too.
    """
    table = csv.writer(file, lineterminator="\n")
    table.writerow([_harmless(column.name) for column in columns])
    table.writerows([_harmless(value) for value in values] for values in file_rows(columns, rows))


def _harmless(value: Value) -> Value:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def parquet_bytes(columns: Sequence[ColumnSpec[Row]], rows: Sequence[Row]) -> bytes:
    """The rows as a Parquet file, each column of the type that its values have; JSON as its text.

    Raises:
        StoreError: two columns have the same name, or one holds values of two types.
    """
    import pyarrow as pa
    import pyarrow.parquet

    names, arrays = distinct([column.name for column in columns]), []
    for column in columns:
        try:
            arrays.append(pa.array([_stored(column.value(row)) for row in rows]))
        except pa.ArrowException as error:
            raise StoreError(f"the column {column.name!r} holds values of several types ({error}): use CAST") from error
    file = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(arrays, names=list(names)), file, compression="zstd")
    return file.getvalue()


def _stored(value: object) -> object:
    if isinstance(value, memoryview):
        return bytes(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def markdown_table(columns: Sequence[ColumnSpec[Row]], rows: Iterable[Row]) -> str:
    """The rows under their column names; a missing value is an empty cell, and no character means anything."""
    names = [column.name.translate(_MARKDOWN) for column in columns]
    sides = ["---:" if column.align == "right" else "---" for column in columns]
    cells = [[text(column.value(row)).translate(_MARKDOWN) for column in columns] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in (names, sides, *cells))


def latex_table(columns: Sequence[ColumnSpec[Row]], rows: Iterable[Row]) -> str:
    """The rows under their column names, with the rules of the package booktabs; a missing value is an empty cell."""
    sides = "".join(column.align[0] for column in columns)
    cells = [[latex_cell(column.value(row)) for column in columns] for row in rows]
    return tabular(sides, [latex_cell(column.name) for column in columns], cells)


def tabular(sides: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A `tabular` of cells that are LaTeX already; `sides` has a letter for each column, as LaTeX takes them."""
    lines = [
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        rf"{' & '.join(columns)} \\",
        r"\midrule",
        *(rf"{' & '.join(row)} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def latex_cell(value: object) -> str:
    """A value as it stands in a cell: special characters are escaped, and a minus sign is typeset as one."""
    shown = text(value)
    if not isinstance(value, str) and shown.startswith("-"):
        return f"$-${shown[1:]}"
    return _LIGATURE.sub("-{}", shown.translate(_LATEX))
