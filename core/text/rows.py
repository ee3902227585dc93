"""From one row of any dataset to an Article: which field is the text, which the reference, which the key.

The article's id follows from these: `core.article.Article`.
"""

import ast
import json
import math
import unicodedata
from collections.abc import Iterable, Mapping

from core.article import Article
from core.errors import CorpusError

TEXT_FIELDS = ("article", "document", "dialogue", "text")
REFERENCE_FIELDS = ("highlights", "summary", "summaries", "references", "reference")
KEY_FIELDS = ("id", "key", "fname")


def recognise_fields(
    names: Iterable[str], text: str | None, reference: str | None, key: str | None, needs_reference: bool = True
) -> tuple[str, str | None, str | None]:
    """The fields that hold text, reference and key: those given, else the first usual name that is among `names`.

    Without a reference, articles have none. Without a key, the row number names the article.

    Raises:
        CorpusError: a given name is not there, or no usual name is of a field that is needed.
    """
    names = list(names)
    return (
        _field(names, text, TEXT_FIELDS, "text_field") or "",
        _field(names, reference, REFERENCE_FIELDS, "reference_field", required=needs_reference),
        _field(names, key, KEY_FIELDS, "key_field", required=False),
    )


def _field(
    names: list[str], chosen: str | None, usual: tuple[str, ...], setting: str, required: bool = True
) -> str | None:
    if chosen is not None:
        if chosen not in names:
            raise CorpusError(f"There is no field {chosen!r}; the fields are: {', '.join(names)}.", settings=(setting,))
        return chosen
    field = next((name for name in usual if name in names), None)
    if field is None and required:
        raise CorpusError(
            f"None of the fields {', '.join(names) or '(none)'} is one of {', '.join(usual)}. Name the right one.",
            settings=(setting,),
        )
    return field


def to_article(
    row: Mapping[str, object], fields: tuple[str, str | None, str | None], dataset: str, split: str, index: int
) -> Article:
    """The article in `row`, the `index`-th (from 0) of its dataset; `fields` as `recognise_fields` gives them.

    A null text becomes an empty one, which the run records as a failure of that article.

    Raises:
        CorpusError: a field is missing or of another type than text (for references: text or a list of texts).
    """
    text_field, reference_field, key_field = fields
    text = "" if value_of(row, text_field) is None else text_of(row, text_field)
    references = () if reference_field is None else to_references(value_of(row, reference_field), reference_field)
    key = f"row-{index}" if key_field is None else key_of(row, key_field)
    return Article(dataset, split, key, text, references)


def to_references(value: object, field: str) -> tuple[str, ...]:
    """The texts in `value` that are not blank: of a text, of a list of texts, or of a text that is a JSON list.

    Raises:
        CorpusError: `value` is something else; `field` is named.
    """
    if value is None:
        return ()
    texts = _listed(value) if isinstance(value, str) else value
    if isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts):
        return tuple(cleaned(text) for text in texts if text.strip())
    raise CorpusError(f"Field {field!r} holds {shown(value)}, not text or a list of texts.")


def _listed(value: str) -> list[str]:
    """One reference, or several that are written as a JSON or Python list in one CSV cell."""
    if value.strip().startswith("[") and value.strip().endswith("]"):
        for parse in (json.loads, ast.literal_eval):  # pandas writes a list the Python way
            try:
                parsed = parse(value.strip())
            except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last two: nested without end
                continue
            if isinstance(parsed, list) and all(isinstance(item, str) for item in parsed):
                return parsed
    return [value]


def cleaned(text: str) -> str:
    """`text` as NWS has it: every text from outside comes in through here, whether article, reference or summary.

    It is composed (NFC, Unicode Standard Annex 15): a syllable or accented letter is the same however it was encoded,
    so that no word, seed or score sees a difference that no reader sees. Otherwise it is `storable`.
    """
    return unicodedata.normalize("NFC", storable(text))


def storable(text: str) -> str:
    """`text` with what no database can hold (NUL, lone surrogates) replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:  # surrogates: those of a pair become one character, the others are replaced
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd")


def value_of(row: Mapping[str, object], field: str) -> object:
    """The value of a field.

    Raises:
        CorpusError: it is missing.
    """
    if field not in row:
        raise CorpusError(f"Field {field!r} is missing; the fields are: {', '.join(map(str, row)) or '(none)'}.")
    return row[field]


def text_of(row: Mapping[str, object], field: str) -> str:
    """The text that a field holds.

    Raises:
        CorpusError: it is missing, or holds something else.
    """
    value = value_of(row, field)
    if not isinstance(value, str):
        raise CorpusError(f"Field {field!r} holds {shown(value)}, not text.")
    return cleaned(value)


def output_of(row: Mapping[str, object], field: str) -> str:
    """What a model wrote, as a field holds it: "" for null and NaN, which tools write where it wrote nothing.

    Raises:
        CorpusError: it is missing, or holds something else.
    """
    value = value_of(row, field)
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else text_of(row, field)


def key_of(row: Mapping[str, object], field: str) -> str:
    """The key that a field holds: text, or a number or date as text.

    Raises:
        CorpusError: it is missing, or holds something else.
    """
    key = value_of(row, field)
    if key is None or isinstance(key, list | dict):
        raise CorpusError(f"Field {field!r} holds no key.")
    return cleaned(str(key))


def name_of(row: Mapping[str, object], field: str) -> str:
    """The name that a field holds: text that is not empty, or a whole number.

    Raises:
        CorpusError: it is missing, or holds something else.
    """
    value = value_of(row, field)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise CorpusError(f"Field {field!r} holds {shown(value)}, not text or a whole number.")
    return cleaned(str(value))


def shown(value: object) -> str:
    """The value of a field, as an error shows it."""
    return "nothing" if value is None or value == "" else repr(value)[:60]
