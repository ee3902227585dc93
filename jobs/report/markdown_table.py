"""A table in Markdown, as GitHub reads it."""

from collections.abc import Sequence

from jobs.report.table_cells import is_number, text

# CommonMark 0.31, 2.4: a backslash before a character of ASCII punctuation takes its meaning away.
_ESCAPED = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|~&#!$"})


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The rows under their column names, numbers to the right; a missing value is an empty cell."""
    sides = ["---:" if is_number(rows, i) else "---" for i in range(len(columns))]
    lines = [[cell(name) for name in columns], sides, *([cell(value) for value in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def cell(value: object) -> str:
    """A value as it stands in a cell: no character of it means anything to Markdown."""
    return text(value).translate(_ESCAPED)
