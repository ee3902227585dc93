"""Predictions: summaries from a file, one for each article, as a system; and the rows of such files.

The fields of these files may have the usual names, or those of batches and of lm-eval. A file may also have only lines.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from nws.core.article import Article
from nws.core.errors import CorpusError, RecipeError
from nws.core.systems.system import Document, Draft, UsualSystem, require_name, uncut_and_cut
from nws.core.text.checks.finding import CheckedRow
from nws.core.text.length import require_summary_length
from nws.core.text.model_outputs import (
    CUT_THOUGHTS,
    DEFAULT_CLEANING,
    RAW,
    Cleaning,
    clean_output,
    cleaning_mark,
    joined_parts,
)
from nws.core.text.reader import PlacedRow, Row, content_sha256, is_data_file, naming, read_rows
from nws.core.text.rows import KEY_FIELDS, LINE, LIST_MARKS, Lists, joined_text_of, key_of, name_of, texts_in, value_of

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
"""The field with texts of `nws write`. If a row also has a `prediction`, this field has a reference."""
USUAL = tuple(dict.fromkeys((*(field for pair in _PAIRS for field in pair), WRITTEN, SYSTEM_FIELD, *KEY_FIELDS)))
"""The usual names of the fields with keys, predictions and systems."""
FieldName = Annotated[str | None, Field(exclude_if=lambda name: name is None)]


@dataclass(frozen=True, slots=True)
class PredictionsSpec:
    """A file of predictions, and the name of its system.

    Attributes:
        name: name of the system; if the file has several systems, each has its own name.
        file: JSONL, CSV or Parquet, or a text with a prediction on each line, see `read_predictions`.
        sha256: 64 hex digits of the file's bytes; "" while the file has not been read.
        id_field: field of the articles' keys, such as `doc.id`; default: a usual name.
        prediction_field: field of the predictions; default: a usual name.
        systems: the systems that take part, if the file has several; none means all.

    Raises:
        RecipeError: no system can have this name.
    """

    name: str
    file: str
    sha256: str = ""
    id_field: FieldName = None
    prediction_field: FieldName = None
    systems: Annotated[tuple[str, ...], Field(exclude_if=lambda systems: not systems)] = ()

    def __post_init__(self) -> None:
        try:
            require_name(self.name)
        except RecipeError as error:
            raise RecipeError(f"{error} Name it before the file: name=file.") from error


def parse_predictions(text: str) -> PredictionsSpec:
    """Parse a value of `--predictions`: `file`, whose system has the file's name without its ending, or `name=file`.

    Raises:
        RecipeError: no system can have this name.
    """
    name, equals, file = text.partition("=")
    return PredictionsSpec(name, file) if equals else PredictionsSpec(Path(text).stem, text)


@dataclass(frozen=True, slots=True)
class Predictions(UsualSystem):
    """A system whose texts come from a file. They are used uncut, and cut to n like those of a generator.

    Attributes:
        name: the name of the system.
        sha256: the hash of the file. It is in the `repr`, by which runs are compared.
        texts: the predictions, on one line each, by the article's key. They are sent to the workers with the system.
            None for one that ends within its thoughts.
        raw: the raw texts of predictions from which something was removed, by the article's key.
        clean_outputs: what was removed.
        parts: the texts of predictions that are lists, by the article's key.
        lists: the way in which such predictions were read.
    """

    has_uncut: ClassVar[bool] = True

    name: str
    sha256: str
    texts: Mapping[str, str | None] = field(repr=False)
    raw: Mapping[str, Mapping[str, float | str]] = field(default_factory=dict, repr=False)
    clean_outputs: tuple[Cleaning, ...] = field(default=DEFAULT_CLEANING, repr=False)
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    lists: Lists = field(default="join", repr=False)

    @property
    def signature(self) -> str:
        return self.name + cleaning_mark(self.clean_outputs) + LIST_MARKS[self.lists]

    def checked_row(self, article: Article) -> CheckedRow | None:
        """Return the row that checks look at; None if there is no prediction for this article."""
        key = article.key
        if key not in self.texts:
            return None
        raw = str(self.raw[key][RAW]) if key in self.raw else None
        parts = self.parts.get(key, ()) if self.lists == "join" else ()
        return CheckedRow(key, article.text, article.references, self.texts[key], raw, parts)

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        """Return the drafts, see `System`.

        Raises:
            CorpusError: there is no prediction for this article, or one that ends within its thoughts.
        """
        article = document.segmented.article
        if article.key not in self.texts:
            raise CorpusError(f"The predictions of {self.name} have none for article {article.key!r}.")
        text = self.texts[article.key]
        if text is None:
            raise CorpusError(f"The prediction of {self.name} for article {article.key!r} {CUT_THOUGHTS}")
        return uncut_and_cut(text, lengths, document.length_unit, self.raw.get(article.key))


def read_predictions(
    path: Path,
    name: str,
    named: Mapping[str, str | None] | None = None,
    with_keys: Callable[[list[PlacedRow]], Iterator[PlacedRow]] | None = None,
    clean_outputs: Sequence[Cleaning] = DEFAULT_CLEANING,
    lists: Lists = "join",
) -> list[Predictions]:
    """Read the predictions in a file whose rows have an article's key as `id`, and a `prediction`, or usual names.

    If its field `system` has several values, each value is a system of that name.

    Args:
        path: the path of the file.
        name: the name of the system, if the file has only one.
        named: see `prediction_rows`.
        with_keys: a function that gives each line the `id` of its article, if the file is a text.
        clean_outputs: what to remove from predictions.
        lists: the way to read predictions that are lists.

    Raises:
        CorpusError: the file does not exist or has no row, or a row (named by its line) is malformed, lacks a field, or
            repeats an id of its system.
        SegmentationError: a prediction (named by its line) is too long.
    """
    sha256 = content_sha256(path)
    rows = read_rows(path, [*USUAL, *filter(None, (named or {}).values())])
    if with_keys is not None and not is_data_file(path.name):
        rows = with_keys(list(rows))
    systems = by_system(path, prediction_rows(path, rows, named or {}))
    found = [_predictions(path, system or name, sha256, own, clean_outputs, lists) for system, own in systems.items()]
    if not found[0].texts:
        raise CorpusError(f"{path} has no prediction.")
    if content_sha256(path) != sha256:
        raise CorpusError(f"{path} was changed while it was read. Try again when it is complete.")
    return found


def _predictions(
    path: Path, name: str, sha256: str, rows: Sequence[PlacedRow], clean_outputs: Sequence[Cleaning], lists: Lists
) -> Predictions:
    texts: dict[str, str | None] = {}
    raws: dict[str, Mapping[str, float | str]] = {}
    places: dict[str, str] = {}
    parts: dict[str, Sequence[str]] = {}
    for place, row in rows:
        with naming(path, place):
            key = key_of(row, KEY_FIELD)
            text, raw = clean_output(joined_text_of(row, TEXT_FIELD, lists), clean_outputs)
            require_summary_length(text or "")
            text = None if text is None else " ".join(text.split())
            if texts.setdefault(key, text) != text:
                raise CorpusError(f"{places[key]} has the id {key!r}, too. Keep one of the rows.")
        places.setdefault(key, place)
        raws |= {key: raw} if raw else {}
        several = texts_in(row[TEXT_FIELD], TEXT_FIELD)
        parts |= {key: several} if len(several) > 1 else {}
    return Predictions(name, sha256, texts, raws, tuple(clean_outputs), parts, lists)


def prediction_rows(file: Path, rows: Iterable[PlacedRow], named: Mapping[str, str | None]) -> Iterator[PlacedRow]:
    """Yield rows with the key in the field `id` and the text in `prediction`, whatever their fields are.

    A request of a batch that failed, or wrote nothing, is left out: its article has no prediction.

    Args:
        file: the file of the rows, for errors.
        rows: the rows as they are.
        named: the field that has `id`, `prediction` or another value, by the name that the rows get. For the first two,
            None stands for the first usual name.

    Raises:
        CorpusError: a row lacks a field that is named, or has none for its prediction.
    """
    first_filter = None
    for place, row in rows:
        if "filtered_resps" in row:  # lm-eval repeats each answer for each filter
            first_filter = first_filter or row.get("filter")
            if row.get("filter") != first_filter:
                continue
        with naming(file, place):
            found = {name: value_of(row, field) for name, field in named.items() if field is not None}
            keys = [(KEY_FIELD, row[name]) for name in KEY_FIELDS if name in row]
            renamed = row | dict(keys[:1]) | _usual(row) | found
            if TEXT_FIELD not in renamed and WRITTEN in row:
                renamed |= {TEXT_FIELD: row[WRITTEN], WRITTEN: None}  # it must not be its own reference
            if TEXT_FIELD not in renamed and "custom_id" not in row:
                fields = ", ".join(map(str, row))
                raise CorpusError(
                    f"Field {TEXT_FIELD!r} is missing; the fields are: {fields}. Name the right one.",
                    settings=("prediction_field",),
                )
        if renamed.get(TEXT_FIELD) or "custom_id" not in row:
            yield place, renamed


def by_system(file: Path, rows: Iterable[PlacedRow]) -> dict[str, list[PlacedRow]]:
    """Split rows by their field `system`, if it has several values. Otherwise all rows stand under "".

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
    """Return the key and the text of a row under NWS's names for them."""
    for key, text in _PAIRS:
        with contextlib.suppress(CorpusError):  # it is not there
            return {KEY_FIELD: value_of(row, key), TEXT_FIELD: joined_parts(value_of(row, text))}
    return {TEXT_FIELD: row[LINE]} if LINE in row and TEXT_FIELD not in row else {}
