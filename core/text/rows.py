"""Turning a row of any dataset into an `Article`: which field is the text, which the reference, and which the key.

The article's id is computed from these, see `nws.core.article.Article`.
"""

import ast
import contextlib
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from nws.core.article import Article
from nws.core.errors import CorpusError

Lists: TypeAlias = Literal["join", "first"]
"""How to read a list of texts: all, as the sentences of one text, or only the first, as one of several samples."""
LIST_MARKS: Mapping[Lists, str] = {"join": "", "first": "|list_predictions=first"}
"""The part of a signature that says how lists are read."""
LINE = "line of text"
"""The only field of a row that is a line of a text file."""
TEXT_FIELDS = ("article", "document", "dialogue", "text", LINE)
# If a row has both a reference and a summary, the summary is a system's, so references come first.
REFERENCE_FIELDS = ("references", "reference", "highlights", "summaries", "summary")
KEY_FIELDS = ("id", "key", "fname")
REWRITE = 'Write the file again with df.to_json(FILE, orient="records", lines=True)'
"""What to do with a table that no common library writes like this."""
# The `repr` of a text, alone or in a list of numpy, and of a missing value.
_QUOTED = re.compile(
    r"""(?:np\.str_\()?([ub]?'[^'\\]*(?:\\.[^'\\]*)*'|[ub]?"[^"\\]*(?:\\.[^"\\]*)*")\)?|\b(?:None|nan)\b""", re.DOTALL
)
# A list, tuple, set or dictionary, alone or in the `repr` of an array of numpy or pandas.
_WRAPPED = re.compile(
    r"""(?:<\w*Array>\s*|array\()?(\[.*\]|\(['"].*['"],?\)|\{['"].*['"\]]\})(?:, dtype=\w+)?\)?(?:\s*Length: .*)?""",
    re.DOTALL,
)
_LIKE_A_LIST = re.compile(
    r"""(?:[\[({\s]|[ub](?=['"])|(?:array|list|np\.str_)\()*['"].*['"](?:[\])}\s]|, dtype=\w+)*""", re.DOTALL
)
# Between two quoted texts of a list there are no words. In prose there are.
_BETWEEN = re.compile(r"""['"][\s,.\[\]()]+[ub]?['"]""")
# Soft hyphens, zero-width spaces and joiners, direction marks, and byte order marks. Two joiners are kept where they
# are part of the spelling: after letters of Arabic, Indic and Mongolian scripts, where they choose the form of a
# letter, and after emoji, which they join into one.
_SPELT = "\u0600-\u109f\u1780-\u1cff\ua800-\uabff\U00010a00-\U00011fff\u2600-\u27bf\ufe0f\U0001f000-\U0001faff"
_UNSEEN = re.compile(f"[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff](?<![{_SPELT}][\u200c\u200d])")
WORD = re.compile(r"[^\W_]")
_MISSING = frozenset(("nan", "NaN", "None", "<NA>", "NaT", "NA", "N/A", "n/a", "#N/A", "null", "NULL"))
_WHOLE_FLOAT = re.compile(r"^(-?[0-9]+)\.0+$")


def recognise_fields(
    names: Iterable[str], text: str | None, reference: str | None, key: str | None, needs_reference: bool = True
) -> tuple[str, str | None, str | None]:
    """Return the fields with text, reference and key: the given names, or else the first usual name in `names`.

    Without a reference field, articles have no references. Without a key field, the row number is the key.

    Raises:
        CorpusError: a given name does not exist, or a needed field has none of the usual names.
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
        if chosen not in names and outermost(chosen) not in names:
            raise CorpusError(f"There is no field {chosen!r}; the fields are: {', '.join(names)}.", settings=(setting,))
        return chosen
    field = next((name for name in usual if name in names), None)
    if field is None and required:
        raise CorpusError(
            f"None of the fields {', '.join(names) or '(none)'} is one of {', '.join(usual)}. Name the right one. "
            "For a field inside another, write outer.inner.",
            settings=(setting, "references_file") if setting == "reference_field" else (setting,),
        )
    return field


def to_article(
    row: Mapping[str, object], fields: tuple[str, str | None, str | None], dataset: str, split: str, index: int
) -> Article:
    """Return the article in `row`, which is row `index` (from 0) of its dataset; for `fields` see `recognise_fields`.

    A null text becomes an empty one, which the run records as a failure of that article. Sentences in a list are
    joined with blanks.

    Raises:
        CorpusError: a field is missing, or is neither a text nor a list of texts.
    """
    text_field, reference_field, key_field = fields
    text = joined_text_of(row, text_field)
    references = () if reference_field is None else to_references(value_of(row, reference_field), reference_field)
    key = f"row-{index}" if key_field is None else key_of(row, key_field)
    return Article(dataset, split, key, text, references)


def to_references(value: object, field: str) -> tuple[str, ...]:
    """Return the texts with a word in `value`: a text, a list of texts, or a text that is written as such a list.

    Raises:
        CorpusError: `value` is something else. The error names `field`.
    """
    return tuple(text for text in map(cleaned, texts_in(value, field)) if WORD.search(text))


def texts_in(value: Any, field: str) -> list[str]:
    """Return the texts in a value, without missing ones (null, NaN)."""
    parts = _listed(value, field) if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
    texts = [part for part in parts if not is_missing(part) and not _is_written_missing(part)]
    if not all(isinstance(text, str) for text in texts):
        raise CorpusError(f"Field {field!r} holds {shown(value)}, not text or a list of texts.")
    return texts


def is_missing(value: object) -> bool:
    """Return whether a value is missing: null, NaN, or the missing value of pandas."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ == "NAType"


def _is_written_missing(value: object) -> bool:
    """Return whether a text is what programs such as `astype(str)` write for a missing value."""
    return isinstance(value, str) and len(value) < 9 and value.strip() in _MISSING  # spares hashing long texts


def _listed(value: str, field: str) -> list[Any]:
    """Return the parts of a list in a cell, written by JSON, Python, numpy or pandas; for other text, the text itself.

    Bytes as Python writes them are decoded. Numpy separates texts only by blanks, so Python would join them.

    Raises:
        CorpusError: the value looks like a list of quoted texts but is not, since numpy has left parts out (`...`).
    """
    if value.startswith(("b'", 'b"')):  # what `astype(str)` makes of bytes, or a quotation
        with contextlib.suppress(ValueError, SyntaxError, AttributeError, RecursionError):
            return [ast.literal_eval(value).decode()]
    wrapped = _WRAPPED.fullmatch(value.strip())
    if wrapped is None:
        return [value]
    cell = wrapped[1]
    with contextlib.suppress(ValueError, RecursionError):  # RecursionError: nested too deeply
        parsed = json.loads(cell, strict=False)
        if isinstance(parsed, list) and all(isinstance(part, str) or is_missing(part) for part in parsed):
            return parsed
    is_list = cell[0] == "[" or _BETWEEN.search(cell) or cell.endswith(",)")  # ("Yes.") is a quotation
    if is_list and not _QUOTED.sub("", cell[1:-1]).strip(" \t\r\n,"):
        with contextlib.suppress(ValueError, SyntaxError):
            parts = [ast.literal_eval(quoted) for quoted in _QUOTED.findall(cell) if quoted]
            return [part.decode() if isinstance(part, bytes) else part for part in parts]
    if _LIKE_A_LIST.fullmatch(cell) and (_BETWEEN.search(cell) or cell[0] == "{" or cell[1] in "{["):
        raise CorpusError(f"Field {field!r} holds a list that is cut, nested or malformed: {cell[:50]!r}. {REWRITE}.")
    return [value]


def cleaned(text: str) -> str:
    """Normalise a text. Every article, reference and summary from outside passes through here.

    The text is composed (NFC, Unicode Standard Annex 15), so that a syllable or accented letter is the same however it
    was encoded, and no word, seed or score sees a difference that no reader sees. Invisible characters are removed for
    the same reason: tokenizers split a word at a soft hyphen. Finally, the text is made `storable`.
    """
    if text.isascii():  # quick to test, and then there is nothing to compose or to remove
        return storable(text)
    return unicodedata.normalize("NFC", _UNSEEN.sub("", storable(text)))


def storable(text: str) -> str:
    """Return `text` with characters that databases cannot store (NUL, lone surrogates) replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:  # surrogates: a pair becomes one character, and lone ones are replaced
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd")


def value_of(row: Mapping[str, object], field: str) -> object:
    """Return the value of a field, or of a field inside another: `doc.article`, `choices.0.text`.

    A field with exactly this name comes first.

    Raises:
        CorpusError: the field is missing.
    """
    if field in row:
        return row[field]
    value: Any = row
    try:
        for name in field.split("."):
            value = value[int(name)] if isinstance(value, list) else value[name]
    except (LookupError, TypeError, ValueError) as error:
        fields = ", ".join(map(str, row)) or "(none)"
        raise CorpusError(f"Field {field!r} is missing; the fields are: {fields}.") from error
    return value


def outermost(field: str) -> str:
    """Return the outermost part of a field's name: `doc` for `doc.article`."""
    return field.partition(".")[0]


def text_of(row: Mapping[str, object], field: str) -> str:
    """Return the text in a field.

    Raises:
        CorpusError: the field is missing, or is not a text.
    """
    value = value_of(row, field)
    if not isinstance(value, str):
        raise CorpusError(f"Field {field!r} holds {shown(value)}, not text.")
    return cleaned(value)


def joined_text_of(row: Mapping[str, object], field: str, lists: Lists = "join") -> str:
    """Return the text in a field; for a list, its sentences joined with blanks, or the first; "" for null and NaN.

    Raises:
        CorpusError: the field is missing, or is neither a text nor a list of texts.
    """
    texts = texts_in(value_of(row, field), field)
    return cleaned(" ".join(texts[:1] if lists == "first" else texts))


def key_of(row: Mapping[str, object], field: str) -> str:
    """Return the key in a field: text without the blanks around it, or a number or date as text; 7.0 becomes 7.

    Raises:
        CorpusError: the field is missing or empty, or is not a key.
    """
    key = value_of(row, field)
    key = int(key) if isinstance(key, float) and key.is_integer() else key
    text = "" if isinstance(key, list | dict) or is_missing(key) else cleaned(str(key)).strip()
    if not text:
        raise CorpusError(f"Field {field!r} holds {shown(key)}, not a text or a number.")
    return _WHOLE_FLOAT.sub(r"\1", text) if text.endswith("0") else text


def name_of(row: Mapping[str, object], field: str) -> str:
    """Return the name in a field, a text that is not blank or a whole number, in the form of `key_of`.

    Raises:
        CorpusError: the field is missing, or is not a name.
    """
    value = value_of(row, field)
    is_name = isinstance(value, str | int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not is_name or not str(value).strip():
        raise CorpusError(f"Field {field!r} holds {shown(value)}, not text or a whole number.")
    return key_of(row, field)


def shown(value: object) -> str:
    """Return the value of a field for errors."""
    return "nothing" if value is None or value == "" else repr(value)[:60]
