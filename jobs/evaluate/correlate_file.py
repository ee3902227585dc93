"""Scores of summaries from a file, as matrices of systems and documents."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.analysis.coefficients import FloatArray
from core.errors import CorpusError, RecipeError
from core.text.files import read_rows
from core.text.rows import cleaned

SYSTEM, DOCUMENT = "system", "document"
FEWEST = 3
"""With two systems or documents, every correlation is 1, -1 or undefined."""
_NAMED = 5


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Scores of the documents that every system has.

    Attributes:
        systems: in the order of the file.
        documents: in the order of the file.
        scores: by column, float64 of shape (systems, documents).
        lacking: for each document that is left out, the systems that lack it.
    """

    systems: tuple[str, ...]
    documents: tuple[str, ...]
    scores: Mapping[str, FloatArray]
    lacking: Mapping[str, tuple[str, ...]]


def read_scores(path: Path, columns: Sequence[str]) -> ScoreTable:
    """Read a JSONL, CSV or Parquet file with the fields `system`, `document` and `columns`, one row a summary.

    Raises:
        RecipeError: a column is named twice, or is `system` or `document`.
        CorpusError: a row is malformed or there twice (named by its line), or there are too few systems or documents.
    """
    _check_columns(columns)
    cells: dict[tuple[str, str], tuple[float, ...]] = {}
    lines: dict[tuple[str, str], str] = {}
    for where, row in read_rows(path, lambda names: (SYSTEM, DOCUMENT, *columns)):
        try:
            key = _name(row, SYSTEM), _name(row, DOCUMENT)
            if key in cells:
                raise CorpusError(f"System {key[0]!r} has document {key[1]!r} in {lines[key]} already.")
            cells[key] = tuple(_number(row, column) for column in columns)
            lines[key] = where
        except CorpusError as error:
            raise CorpusError(f"{path}, {where}: {error}") from error
    if not cells:
        raise CorpusError(f"{path} holds no row.")
    return _table(path, cells, columns)


def _check_columns(columns: Sequence[str]) -> None:
    for column in columns:
        if column in (SYSTEM, DOCUMENT):
            raise RecipeError(f"{column!r} names summaries: it is no column of scores.")
        if columns.count(column) > 1:
            raise RecipeError(f"Column {column!r} is named twice.")


def _name(row: dict[str, object], field: str) -> str:
    value = _value(row, field)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise CorpusError(f"Field {field!r} holds {_shown(value)}, not text or a whole number.")
    return cleaned(str(value))


def _number(row: dict[str, object], field: str) -> float:
    value = _value(row, field)
    try:
        # A cell of a CSV file is text.
        number = math.nan if isinstance(value, bool) or not isinstance(value, str | int | float) else float(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise CorpusError(f"Field {field!r} holds {_shown(value)}, not a finite number.")
    return number


def _value(row: dict[str, object], field: str) -> object:
    if field not in row:
        raise CorpusError(f"Field {field!r} is missing; the fields are: {', '.join(map(str, row)) or '(none)'}.")
    return row[field]


def _shown(value: object) -> str:
    return "nothing" if value is None or value == "" else repr(value)[:60]


def _table(path: Path, cells: Mapping[tuple[str, str], tuple[float, ...]], columns: Sequence[str]) -> ScoreTable:
    systems, documents = (tuple(dict.fromkeys(key[i] for key in cells)) for i in (0, 1))
    without = {document: tuple(s for s in systems if (s, document) not in cells) for document in documents}
    lacking = {document: names for document, names in without.items() if names}
    shared = tuple(document for document in documents if document not in lacking)
    if len(systems) < FEWEST:
        raise CorpusError(f"{path} has {len(systems)} systems ({_listed(systems)}); a correlation needs {FEWEST}.")
    if len(shared) < FEWEST:
        raise CorpusError(
            f"{path} has {len(shared)} documents with a score of every system; a correlation needs {FEWEST}."
            + _advice(lacking)
        )
    values = np.array([[cells[system, document] for document in shared] for system in systems], dtype=np.float64)
    return ScoreTable(systems, shared, {name: values[:, :, i] for i, name in enumerate(columns)}, lacking)


def _advice(lacking: Mapping[str, tuple[str, ...]]) -> str:
    if not lacking:
        return ""
    missing = Counter(system for systems in lacking.values() for system in systems)
    gaps = [f"{system} lacks {documents}" for system, documents in missing.most_common()]
    return f" Of the other {len(lacking)}, {_listed(gaps)}. Add the missing rows, or leave those systems out."


def _listed(names: Sequence[str]) -> str:
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + rest
