"""From one row of any dataset to an Article: which field is the text, which the reference, which the key.

The article's id follows from these: `nws.core.article.Article`.
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
"""What is read of a list of texts: all, as the sentences of one text, or the first, as one of several samples."""
LIST_MARKS: Mapping[Lists, str] = {"join": "", "first": "|list_predictions=first"}
"""The part of a signature that says what is read of lists."""
LINE = "line of text"
"""The only field of a row that is one."""
TEXT_FIELDS = ("article", "document", "dialogue", "text", LINE)
# A summary beside a reference is that of a system.
REFERENCE_FIELDS = ("references", "reference", "highlights", "summaries", "summary")
KEY_FIELDS = ("id", "key", "fname")
ANEW = 'Write the file anew: df.to_json(FILE, orient="records", lines=True)'
"""What to do with a table that is not as any of its usual writers makes it."""
# What `repr` makes of a text, by itself or in numpy's list, and of one that is missing.
_QUOTED = re.compile(
    r"""(?:np\.str_\()?([ub]?'[^'\\]*(?:\\.[^'\\]*)*'|[ub]?"[^"\\]*(?:\\.[^"\\]*)*")\)?|\b(?:None|nan)\b""", re.DOTALL
)
# A list, tuple, set or dictionary, by itself or as `repr` of an array of numpy or pandas has it.
_WRAPPED = re.compile(
    r"""(?:<\w*Array>\s*|array\()?(\[.*\]|\(['"].*['"],?\)|\{['"].*['"\]]\})(?:, dtype=\w+)?\)?(?:\s*Length: .*)?""",
    re.DOTALL,
)
_LIKE_A_LIST = re.compile(
    r"""(?:[\[({\s]|[ub](?=['"])|(?:array|list|np\.str_)\()*['"].*['"](?:[\])}\s]|, dtype=\w+)*""", re.DOTALL
)
# Between two texts in quotes. Speech has words there.
_BETWEEN = re.compile(r"""['"][\s,.\[\]()]+[ub]?['"]""")
# Soft hyphens, zero-width spaces and joiners, direction marks, and byte order marks. Two joiners are part of the
# spelling, and stay, behind letters of Arabic, Indic and Mongolian scripts, where they choose the form of a letter, and
# behind emoji, of which they make one.
_SPELT = "\u0600-\u109f\u1780-\u1cff\ua800-\uabff\U00010a00-\U00011fff\u2600-\u27bf\ufe0f\U0001f000-\U0001faff"
_UNSEEN = re.compile(f"[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff](?<![{_SPELT}][\u200c\u200d])")
WORD = re.compile(r"[^\W_]")
_MISSING = frozenset(("nan", "NaN", "None", "<NA>", "NaT", "NA", "N/A", "n/a", "#N/A", "null", "NULL"))
_WHOLE_FLOAT = re.compile(r"^(-?[0-9]+)\.0+$")


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
        if chosen not in names and outermost(chosen) not in names:
            raise CorpusError(f"There is no field {chosen!r}; the fields are: {', '.join(names)}.", settings=(setting,))
        return chosen
    field = next((name for name in usual if name in names), None)
    if field is None and required:
        raise CorpusError(
            f"None of the fields {', '.join(names) or '(none)'} is one of {', '.join(usual)}. Name the right one, as "
            "name.inside where it is inside another.",
            settings=(setting, "references_file") if setting == "reference_field" else (setting,),
        )
    return field


def to_article(
    row: Mapping[str, object], fields: tuple[str, str | None, str | None], dataset: str, split: str, index: int
) -> Article:
    """The article in `row`, the `index`-th (from 0) of its dataset; `fields` as `recognise_fields` gives them.

    A null text becomes an empty one, which the run records as a failure of that article. Sentences in a list are
    joined with blanks.

    Raises:
        CorpusError: a field is missing or of another type than text or a list of texts.
    """
    text_field, reference_field, key_field = fields
    text = joined_text_of(row, text_field)
    references = () if reference_field is None else to_references(value_of(row, reference_field), reference_field)
    key = f"row-{index}" if key_field is None else key_of(row, key_field)
    return Article(dataset, split, key, text, references)


def to_references(value: object, field: str) -> tuple[str, ...]:
    """The texts in `value` that hold a word: of a text, of a list of texts, or of a text that is such a list.

    Raises:
        CorpusError: `value` is something else; `field` is named.
    """
    return tuple(text for text in map(cleaned, texts_in(value, field)) if WORD.search(text))


def texts_in(value: Any, field: str) -> list[str]:
    """The texts in a value, without those that are missing (null, NaN)."""
    parts = _listed(value, field) if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
    texts = [part for part in parts if not is_missing(part) and not _is_written_missing(part)]
    if not all(isinstance(text, str) for text in texts):
        raise CorpusError(f"Field {field!r} holds {shown(value)}, not text or a list of texts.")
    return texts


def is_missing(value: object) -> bool:
    """Whether there is no value: null, NaN, or what pandas has for them."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ == "NAType"


def _is_written_missing(value: object) -> bool:
    """Whether a text is what `astype(str)`, and programs like it, make of no value. Long texts need not be hashed."""
    return isinstance(value, str) and len(value) < 9 and value.strip() in _MISSING


def _listed(value: str, field: str) -> list[Any]:
    """The parts of a list that is written in one cell as JSON, Python, numpy or pandas write it; other text by itself.

    So is text that Python has written as bytes.

    Numpy separates texts by blanks alone. To Python they would be one.

    Raises:
        CorpusError: it looks like a list of texts in quotes, and is not one: numpy has left parts out (`...`).
    """
    if value.startswith(("b'", 'b"')):  # as `astype(str)` has a column of bytes; else it is speech
        with contextlib.suppress(ValueError, SyntaxError, AttributeError, RecursionError):
            return [ast.literal_eval(value).decode()]
    wrapped = _WRAPPED.fullmatch(value.strip())
    if wrapped is None:
        return [value]
    cell = wrapped[1]
    with contextlib.suppress(ValueError, RecursionError):  # the latter: nested without end
        parsed = json.loads(cell, strict=False)
        if isinstance(parsed, list) and all(isinstance(part, str) or is_missing(part) for part in parsed):
            return parsed
    is_list = cell[0] == "[" or _BETWEEN.search(cell) or cell.endswith(",)")  # ("Yes.") is speech
    if is_list and not _QUOTED.sub("", cell[1:-1]).strip(" \t\r\n,"):
        with contextlib.suppress(ValueError, SyntaxError):
            parts = [ast.literal_eval(quoted) for quoted in _QUOTED.findall(cell) if quoted]
            return [part.decode() if isinstance(part, bytes) else part for part in parts]
    if _LIKE_A_LIST.fullmatch(cell) and (_BETWEEN.search(cell) or cell[0] == "{" or cell[1] in "{["):
        raise CorpusError(f"Field {field!r} holds a list that is cut, nested or malformed: {cell[:50]!r}. {ANEW}.")
    return [value]


def cleaned(text: str) -> str:
    """`text` as NWS has it: every text from outside comes in through here, whether article, reference or summary.

    It is composed (NFC, Unicode Standard Annex 15): a syllable or accented letter is the same however it was encoded,
    so that no word, seed or score sees a difference that no reader sees. Signs that no reader sees are left out for the
    same reason: tokenizers make two words of one with a soft hyphen. Otherwise it is `storable`.
    """
    if text.isascii():  # which has none of it, and is told at once
        return storable(text)
    return unicodedata.normalize("NFC", _UNSEEN.sub("", storable(text)))


def storable(text: str) -> str:
    """`text` with what no database can hold (NUL, lone surrogates) replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:  # surrogates: those of a pair become one character, the others are replaced
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd")


def value_of(row: Mapping[str, object], field: str) -> object:
    """The value of a field, or of what is inside it: `doc.article`, `choices.0.text`.

    A field that has this very name comes first.

    Raises:
        CorpusError: it is missing.
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
    """The field that holds what a field names, where that is inside another."""
    return field.partition(".")[0]


def text_of(row: Mapping[str, object], field: str) -> str:
    """The text that a field holds.

    Raises:
        CorpusError: it is missing, or holds something else.
    """
    value = value_of(row, field)
    if not isinstance(value, str):
        raise CorpusError(f"Field {field!r} holds {shown(value)}, not text.")
    return cleaned(value)


def joined_text_of(row: Mapping[str, object], field: str, lists: Lists = "join") -> str:
    """The text that a field holds, or of a list the sentences joined with blanks, or the first; "" for null and NaN.

    Raises:
        CorpusError: it is missing, or holds something else.
    """
    texts = texts_in(value_of(row, field), field)
    return cleaned(" ".join(texts[:1] if lists == "first" else texts))


def key_of(row: Mapping[str, object], field: str) -> str:
    """The key that a field holds: text without the blanks around it, or a number or date as text; 7.0 is 7.

    Raises:
        CorpusError: it is missing or empty, or holds something else.
    """
    key = value_of(row, field)
    key = int(key) if isinstance(key, float) and key.is_integer() else key
    text = "" if isinstance(key, list | dict) or is_missing(key) else cleaned(str(key)).strip()
    if not text:
        raise CorpusError(f"Field {field!r} holds no key.")
    return _WHOLE_FLOAT.sub(r"\1", text) if text.endswith("0") else text


def name_of(row: Mapping[str, object], field: str) -> str:
    """The name that a field holds: text that is not blank, or a whole number, as `key_of` has it.

    Raises:
        CorpusError: it is missing, or holds something else.
    """
    value = value_of(row, field)
    is_name = isinstance(value, str | int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not is_name or not str(value).strip():
        raise CorpusError(f"Field {field!r} holds {shown(value)}, not text or a whole number.")
    return key_of(row, field)


def shown(value: object) -> str:
    """The value of a field, as an error shows it."""
    return "nothing" if value is None or value == "" else repr(value)[:60]
