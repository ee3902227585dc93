"""CSV files that are safe to open in a spreadsheet."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from core.whole_files import replacing

# What a spreadsheet takes for the beginning of a formula, see OWASP, "CSV Injection".
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

Value = str | int | float | None


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
    """Write `rows` under their column names to a file, in UTF-8, see `put_csv`.

    Raises:
        OSError: `path` cannot be written.
    """
    with replacing(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        put_csv(file, columns, rows)


def put_csv(file: TextIO, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
    """Write `rows` under their column names; None is an empty cell.

    A text that a spreadsheet would compute, as the name of a dataset might be, gets a ' in front. Numbers stay as they
    are, negative ones too.
    """
    table = csv.writer(file, lineterminator="\n")
    table.writerow([_harmless(name) for name in columns])
    table.writerows([_harmless(value) for value in row] for row in rows)


def _harmless(value: Value) -> Value:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
