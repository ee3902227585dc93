"""The rows in a JSON value: a list of them, or a table in any shape of `DataFrame.to_json`."""

import itertools
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from nws.core.text.rows import ANEW, TEXT_FIELDS

# By one of these it is told which keys of a table are its columns.
BLANKS = " \t\r\n"
_COLUMNS = {*TEXT_FIELDS, "prediction"}


def parse(text: str, begin: int) -> tuple[Any, int]:
    """The JSON value that begins at a place, in whose objects no key stands twice, and where the next one begins.

    Raises:
        ValueError: it is none. RecursionError: it is nested without end.
    """
    value, end = _DECODER.raw_decode(text, begin)
    while end < len(text) and text[end] in BLANKS:
        end += 1
    return value, end


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    value = dict(pairs)
    if len(value) < len(keys):
        raise ValueError(f"the key {next(key for key in value if keys.count(key) > 1)!r} is there twice: rename one")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def rows_in(value: object, is_line: bool = False) -> Sequence[object]:
    """The rows in a value, which is itself the only one if it holds no table.

    Lists of texts are the columns of a table; in a line of JSON Lines they are the sentences of its row.

    Raises:
        ValueError: the cells of a table are not as many as its columns, two columns have one name, or nobody can tell
            its columns from its rows.
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
                raise ValueError(f"a table of {len(names)} columns, whose row {number} has others, or no label")
        return _with_ids({k: _object([*zip(names, cells, strict=True)]) for k, cells in zip(labels, data, strict=True)})
    parts = list(value.values())
    rows = [part for key, part in value.items() if key != "schema"]  # orient="table", or any list by its name
    if len(rows) == 1 and isinstance(rows[0], list) and all(isinstance(row, dict) for row in rows[0]):
        return rows[0]
    is_table = all(isinstance(part, list) and not any(isinstance(cell, dict) for cell in part[:1]) for part in parts)
    if is_table and not is_line:
        if len(sizes := {len(part) for part in parts}) > 1:
            raise ValueError(f"a table of columns that have from {min(sizes)} to {max(sizes)} cells")
        return [dict(zip(value, cells, strict=True)) for cells in zip(*parts, strict=True)]
    return _labelled(value) if all(isinstance(part, dict) for part in parts) else [value]


def _labelled(table: Mapping[str, Mapping[str, object]]) -> Sequence[object]:
    """The rows of orient="columns", by name and label, or orient="index", by label and name.

    A label that is not the row's number becomes its id.
    """
    first = next(iter(table.values()))
    if _COLUMNS & table.keys() or _are_numbers(first):
        rows = {label: {name: column.get(label) for name, column in table.items()} for label in first}
    elif _COLUMNS & first.keys() or _are_numbers(table):
        rows = {label: dict(row) for label, row in table.items()}
    else:
        raise ValueError(f"a table whose columns cannot be told from its rows. {ANEW}")
    return _with_ids(rows)


def _with_ids(rows: Mapping[str, dict[str, Any]]) -> Sequence[object]:
    """Rows by label, each with its label as `id`, if labels are more than its number and it has no other id."""
    if [*rows] == [str(number) for number in range(len(rows))]:
        return [*rows.values()]
    return [{"id": label} | row for label, row in rows.items()]


def _are_numbers(labels: Collection[str]) -> bool:
    return all(label.isdecimal() for label in labels)
