"""What two checkouts have made, read and compared."""

import csv
import difflib
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import sqlalchemy as sa
from safetensors.numpy import load_file

Made = dict[str, object]
"""By place: the lines of a text, or what JSON has."""

TOLERANCE = 1e-6

TABLES = {
    "runs": "id",
    "systems": "run_id system",
    "articles": "id",
    "summaries": "run_id article_id system n",
    "failures": "run_id article_id stage",
    "run_means": "run_id dataset system n",
    "run_best_n": "run_id article_id system",
    "content_kept": "run_id dataset system of n",
    "smallest_n": "run_id dataset system of x",
    "policies": "run_id name",
    "updates": "run_id policy update_number",
    "episodes": "run_id policy update_number article_id n sample",
    "sweep_curve": "run_id dataset system n",
    "best_n": "run_id article_id system",
    "leaderboard": "run_id dataset system n",
    "learning_curve": "run_id policy n update_number",
}
"""Tables and views, with the columns that name a row."""

LEFT_OUT = {
    *("seconds", "node", "failed_at", "saved_at", "state", "created_at", "started_at", "finished_at", "heartbeat_at"),
    *("claimed_at", "worked_seconds", "driver_host", "driver_pid", "driver_epoch"),
    *("recipe_hash", "code_version", "work", "revisions"),
    *("seconds_per_article", "mean_seconds"),
}
"""Columns and keys that differ from run to run, or say what the code is."""

MOVED = {"study": "parent"}
"""Columns of BEFORE that have another name in AFTER."""


def read_rows(url: str, same: Callable[[str], str]) -> Iterator[tuple[str, dict[str, object]]]:
    """The tables of a store, each with its rows by what names them."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        for table, key in TABLES.items():
            rows = {}
            for row in connection.execute(sa.text(f"SELECT * FROM {table}")).mappings():
                values = {column: _plain(value, same) for column, value in row.items() if column not in LEFT_OUT}
                rows[" ".join(str(values[name]) for name in key.split())] = values
            yield table, rows


def _plain(value: object, same: Callable[[str], str]) -> object:
    """A value of a row as Python has it, whichever database it is from."""
    if isinstance(value, str):
        value = same(value)
        if value[:1] in ("{", "["):
            try:
                return json.loads(value)
            except json.JSONDecodeError:
                return value
    if isinstance(value, dict | list):
        return json.loads(same(json.dumps(value, ensure_ascii=False)))
    return value if isinstance(value, int | float | None) else str(value)


def read_file(file: Path, same: Callable[[str], str]) -> object:
    """What a file has: lines of a text, values of JSON, rows of a table in the order of their text."""
    if file.suffix == ".parquet":
        rows = [json.loads(same(json.dumps(row))) for row in pyarrow.parquet.read_table(file).to_pylist()]
    elif file.suffix == ".safetensors":
        return {name: tensor.ravel().tolist() for name, tensor in load_file(file).items()}
    elif file.suffix == ".json":
        return json.loads(same(file.read_text()))
    elif file.suffix == ".jsonl":
        rows = [json.loads(same(line)) for line in file.read_text().splitlines()]
    elif file.suffix == ".csv":
        with file.open(newline="") as opened:
            rows = [{k: _number(same(v)) for k, v in row.items()} for row in csv.DictReader(opened)]
    else:
        return same(file.read_text()).splitlines()
    names = ("run_id", "article_id", "dataset", "system", "metric", "of", "n")
    keys = [" ".join(str(row[name]) for name in names if name in row) for row in rows]
    return dict(zip(keys, rows, strict=True)) if len(set(keys)) == len(keys) else rows


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def differences(before: Made, after: Made) -> list[tuple[str, str]]:
    """What differs: the place, and what was there and is there now."""
    found = []
    for place in [*before, *(place for place in after if place not in before)]:
        a, b = before.get(place), after.get(place)
        if a is None or b is None:
            found.append((place, "is new" if a is None else "is gone"))
        elif _is_text(a) and _is_text(b):
            found.extend((place, line) for line in _of_texts(a, b))
        else:
            found.extend((place, line) for line in _of_values(a, b, ""))
    return found


def _is_text(made: Any) -> bool:
    return isinstance(made, list) and all(isinstance(line, str) for line in made)


def _of_texts(a: Any, b: Any) -> Iterator[str]:
    """A line for each line that differs."""
    for kind, a_start, a_end, b_start, b_end in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        old, new = a[a_start:a_end], b[b_start:b_end]
        for number in range(max(len(old), len(new))):
            yield f"{_line(old, number)} → {_line(new, number)}"


def _line(lines: list[str], number: int) -> str:
    return repr(lines[number].strip()) if number < len(lines) else "nothing"


def _of_values(a: Any, b: Any, path: str) -> Iterator[str]:
    """A line for each value that differs, with the path to it."""
    if isinstance(a, dict) and isinstance(b, dict):
        a = {MOVED.get(key, key): value for key, value in a.items()}
        for key in [*a, *(key for key in b if key not in a)]:
            if key in LEFT_OUT:
                continue
            below = f"{path}/{key}"
            if key not in a or key not in b:
                yield f"{below} is {'new' if key in b else 'gone'}: {str(b.get(key) if key in b else a[key])[:80]}"
            else:
                yield from _of_values(a[key], b[key], below)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for number, (old, new) in enumerate(zip(a, b, strict=True)):
            yield from _of_values(old, new, f"{path}/{number}")
    elif isinstance(a, float | int) and isinstance(b, float | int) and not isinstance(a, bool):
        if not math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) and not (math.isnan(a) and math.isnan(b)):
            yield f"{path}: {a} → {b}"
    elif a != b:
        yield f"{path}: {str(a)[:300]!r} → {str(b)[:300]!r}"
