"""Values of a database as they stand in tables of files."""

import json
from collections.abc import Sequence
from decimal import Decimal

from jobs.report.csv_file import Value
from jobs.terminal.console import printable

_NUMBERS = (int, float, Decimal)


def is_number(rows: Sequence[Sequence[object]], column: int) -> bool:
    """Whether a column has numbers and missing values only."""
    return all(isinstance(row[column], (*_NUMBERS, type(None))) for row in rows)


def text(value: object) -> str:
    """A value on one line: six significant digits, nothing for a missing value, control characters written out."""
    plain = full_value(value)
    return "" if plain is None else f"{plain:.6g}" if isinstance(plain, float) else printable(str(plain))


def full_value(value: object) -> Value:
    """A value with all its digits, as a number or as text. JSON becomes text, bytes become their number."""
    if isinstance(value, Decimal):
        return float(value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes | memoryview):
        return f"<{len(value)} bytes>"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
