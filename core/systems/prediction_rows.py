"""The rows of files of predictions, whatever their fields are called: also of batches, of lm-eval, and lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from core.text.reader import PlacedRow, Row, naming
from core.text.rows import LINE, has, value_of

KEY_FIELD, TEXT_FIELD = "id", "prediction"
_PAIRS = (
    (KEY_FIELD, TEXT_FIELD),
    # Batches of OpenAI, vLLM and Mistral: chats, completions, and responses, whose text comes after their thoughts.
    ("custom_id", "response.body.choices.0.message.content.0.text"),
    ("custom_id", "response.body.choices.0.message.content"),
    ("custom_id", "response.body.choices.0.text"),
    ("custom_id", "response.body.output.-1.content.0.text"),
    # Batches of Anthropic.
    ("custom_id", "result.message.content.-1.text"),
    # Samples of lm-eval.
    *((key, text) for key in ("doc.id", "doc_id") for text in ("filtered_resps.0.0", "filtered_resps.0", "resps.0.0")),
)
USUAL = tuple(dict.fromkeys(field for pair in _PAIRS for field in pair))
"""What the fields of keys and predictions are called."""


def prediction_rows(
    file: str | Path, rows: Iterable[PlacedRow], named: Mapping[str, str | None] | None = None
) -> Iterator[PlacedRow]:
    """Rows in which the key is the field `id` and the text `prediction`, too, wherever it stands.

    Args:
        file: what they are rows of, for errors.
        rows: as they are.
        named: by `id`, `prediction` or another name that the rows are to have, the field that holds it. Of the first
            two, None is the first usual one.

    Raises:
        CorpusError: a row lacks a field that is named.
    """
    given = {name: field for name, field in (named or {}).items() if field is not None}
    for place, row in rows:
        with naming(file, place):
            found = _usual(row) | {name: value_of(row, field) for name, field in given.items()}
        yield place, row | found


def _usual(row: Row) -> Row:
    """The key and the text of a row under the names that NWS has for them."""
    for key, text in _PAIRS:
        if has(row, key) and has(row, text):
            return {KEY_FIELD: value_of(row, key), TEXT_FIELD: value_of(row, text)}
    if "custom_id" in row and TEXT_FIELD not in row:  # the request failed
        return {KEY_FIELD: row["custom_id"], TEXT_FIELD: None}
    return {TEXT_FIELD: row[LINE]} if LINE in row and TEXT_FIELD not in row else {}


def with_keys(rows: Iterable[PlacedRow], keys: Callable[[int], Mapping[int, str]]) -> Iterator[PlacedRow]:
    """The lines of a text that belong to articles, with their keys.

    Args:
        rows: all lines.
        keys: from their number, the keys by the numbers of their lines, from 0.
    """
    lines = list(rows)
    for index, key in keys(len(lines)).items():
        place, row = lines[index]
        yield place, row | {KEY_FIELD: key}
