"""Rows of a query as a table in the terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[object]], console: Console) -> None:
    """Print rows under their column names, numbers to the right; nothing is cut, so that it can be piped."""
    values = list(rows)
    cells = [[_text(value) for value in row] for row in values]
    lines = [list(columns), ["-" * len(name) for name in columns], *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    numeric = [all(isinstance(row[i], int | float | None) for row in values) for i in range(len(columns))]
    for line in lines:
        padded = [
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(line, widths, numeric, strict=True)
        ]
        console.print("  ".join(padded).rstrip(), markup=False, highlight=False, soft_wrap=True)


def _text(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value).replace("\n", "\\n")
