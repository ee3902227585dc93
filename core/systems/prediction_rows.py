"""The rows of files of predictions, whatever their fields are called: also of batches, of lm-eval, and lines."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nws.core.errors import CorpusError
from nws.core.text.model_outputs import joined_parts
from nws.core.text.reader import PlacedRow, Row, naming
from nws.core.text.rows import KEY_FIELDS, LINE, name_of, value_of

KEY_FIELD, TEXT_FIELD, SYSTEM_FIELD = "id", "prediction", "system"
_PAIRS = (
    (KEY_FIELD, TEXT_FIELD),
    # Batches of OpenAI, vLLM and Mistral: chats, completions, and responses, whose text comes after their thoughts.
    ("custom_id", "response.body.choices.0.message.content"),
    ("custom_id", "response.body.choices.0.text"),
    ("custom_id", "response.body.output.-1.content"),
    # Batches of Anthropic.
    ("custom_id", "result.message.content"),
    # Samples of lm-eval.
    *((key, text) for key in ("doc.id", "doc_id") for text in ("filtered_resps.0.0", "filtered_resps.0", "resps.0.0")),
)
WRITTEN = "summary"
"""The field of the texts that `nws write` has written. Where a row has a `prediction`, it is one of references."""
USUAL = tuple(dict.fromkeys((*(field for pair in _PAIRS for field in pair), WRITTEN, SYSTEM_FIELD, *KEY_FIELDS)))
"""What the fields of keys, predictions and systems are called."""


def prediction_rows(file: Path, rows: Iterable[PlacedRow], named: Mapping[str, str | None]) -> Iterator[PlacedRow]:
    """Rows in which the key is the field `id` and the text `prediction`, too, wherever it stands.

    A request of a batch that failed, or wrote nothing, is none of them: its article has no prediction.

    Args:
        file: what they are rows of, for errors.
        rows: as they are.
        named: by `id`, `prediction` or another name that the rows are to have, the field that holds it. Of the first
            two, None is the first usual one.

    Raises:
        CorpusError: a row lacks a field that is named, or has none for its prediction.
    """
    first_filter = None
    for place, row in rows:
        if "filtered_resps" in row:  # lm-eval has each answer once for each filter
            first_filter = first_filter or row.get("filter")
            if row.get("filter") != first_filter:
                continue
        with naming(file, place):
            found = {name: value_of(row, field) for name, field in named.items() if field is not None}
            keys = [(KEY_FIELD, row[name]) for name in KEY_FIELDS if name in row]
            renamed = row | dict(keys[:1]) | _usual(row) | found
            if TEXT_FIELD not in renamed and WRITTEN in row:
                renamed |= {TEXT_FIELD: row[WRITTEN], WRITTEN: None}  # it is no reference of its own
            if TEXT_FIELD not in renamed and "custom_id" not in row:
                fields = ", ".join(map(str, row))
                raise CorpusError(
                    f"Field {TEXT_FIELD!r} is missing; the fields are: {fields}. Name the right one.",
                    settings=("prediction_field",),
                )
        if renamed.get(TEXT_FIELD) or "custom_id" not in row:
            yield place, renamed


def by_system(file: Path, rows: Iterable[PlacedRow]) -> dict[str, list[PlacedRow]]:
    """Split rows by their field `system`, if it has several values. Else all of them stand under "".

    Raises:
        CorpusError: the field has several values, but no name in a row (named by its line).
    """
    rows = list(rows)
    if len({str(row[SYSTEM_FIELD]) for _, row in rows if row.get(SYSTEM_FIELD) not in (None, "")}) < 2:
        return {"": rows}
    systems: dict[str, list[PlacedRow]] = {}
    for place, row in rows:
        with naming(file, place):
            systems.setdefault(name_of(row, SYSTEM_FIELD), []).append((place, row))
    return systems


def _usual(row: Row) -> Row:
    """The key and the text of a row under the names that NWS has for them."""
    for key, text in _PAIRS:
        with contextlib.suppress(CorpusError):  # it is not there
            return {KEY_FIELD: value_of(row, key), TEXT_FIELD: joined_parts(value_of(row, text))}
    return {TEXT_FIELD: row[LINE]} if LINE in row and TEXT_FIELD not in row else {}
