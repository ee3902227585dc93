"""The rows in a JSON value: a list of rows, or a table in any shape of `DataFrame.to_json`."""

import itertools
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from nws.core.text.rows import REWRITE, TEXT_FIELDS

BLANKS = " \t\r\n"
# A key with one of these names shows which keys of a table are its columns.
_COLUMNS = {*TEXT_FIELDS, "prediction"}


def parse(text: str, begin: int) -> tuple[Any, int]:
    """Return the JSON value that begins at a place, and where the next one begins. No object may repeat a key.

    Raises:
        ValueError: the text is not a JSON value. RecursionError: it is nested too deeply.
    """
    value, end = _DECODER.raw_decode(text, begin)
    while end < len(text) and text[end] in BLANKS:
        end += 1
    return value, end


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    value = dict(pairs)
    if len(value) < len(keys):
        raise ValueError(f"the key {next(key for key in value if keys.count(key) > 1)!r} occurs twice; rename one")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def rows_in(value: object, is_line: bool = False) -> Sequence[object]:
    """Return the rows in a value. A value that is not a table is a single row.

    Lists of texts are the columns of a table, but in a line of JSON Lines they are the sentences of its row.

    Raises:
        ValueError: a row of a table has more or fewer cells than there are columns, two columns have the same name, or
            columns and rows cannot be told apart.
    """
    if isinstance(value, list):
        return value
    if not isinstance(value, dict) or not value:
        return [value]
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list):  # orient="split"
        labels = [*map(str, value.get("index", range(len(data))))]
        for number, (label, cells) in enumerate(itertools.zip_longest(labels, data, fillvalue=""), start=1):
            if len(cells) != len(names) or not label:
                problem = "has more or fewer cells, or no label"
                raise ValueError(f"a table of {len(names)} columns, but row {number} {problem}")
        return _with_ids({k: _object([*zip(names, cells, strict=True)]) for k, cells in zip(labels, data, strict=True)})
    parts = list(value.values())
    rows = [part for key, part in value.items() if key != "schema"]  # orient="table", or a named list of rows
    if len(rows) == 1 and isinstance(rows[0], list) and all(isinstance(row, dict) for row in rows[0]):
        return rows[0]
    is_table = all(isinstance(part, list) and not any(isinstance(cell, dict) for cell in part[:1]) for part in parts)
    if is_table and not is_line:
        if len(sizes := {len(part) for part in parts}) > 1:
            raise ValueError(f"a table whose columns have different lengths ({min(sizes)} to {max(sizes)} cells)")
        return [dict(zip(value, cells, strict=True)) for cells in zip(*parts, strict=True)]
    return _labelled(value) if all(isinstance(part, dict) for part in parts) else [value]


def _labelled(table: Mapping[str, Mapping[str, object]]) -> Sequence[object]:
    """Return the rows of orient="columns" (keys: name, then label) or of orient="index" (label, then name).

    A label other than the row's number becomes the row's id.
    """
    first = next(iter(table.values()))
    if _COLUMNS & table.keys() or _are_numbers(first):
        rows = {label: {name: column.get(label) for name, column in table.items()} for label in first}
    elif _COLUMNS & first.keys() or _are_numbers(table):
        rows = {label: dict(row) for label, row in table.items()}
    else:
        raise ValueError(f"a table whose columns cannot be told from its rows. {REWRITE}")
    return _with_ids(rows)


def _with_ids(rows: Mapping[str, dict[str, Any]]) -> Sequence[object]:
    """Return the rows. Unless labels are just row numbers, each row without an id gets its label as `id`."""
    if [*rows] == [str(number) for number in range(len(rows))]:
        return [*rows.values()]
    return [{"id": label} | row for label, row in rows.items()]


def _are_numbers(labels: Collection[str]) -> bool:
    return all(label.isdecimal() for label in labels)
