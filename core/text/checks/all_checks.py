"""The list of all checks. A new check needs an entry here, a sentence in `SENTENCES`, and a test."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial

from nws.core.text.checks.finding import SHOWN, CheckedRow, Context, Part, TextCheck
from nws.core.text.checks.looks import (
    FEW,
    OtherLanguages,
    ShiftedReferences,
    around,
    common_texts,
    first_letters,
    in_texts,
    last_letters,
    opening_words,
    repeated,
    rows,
    whole,
    without_words,
)
from nws.core.text.checks.sentences import SENTENCES
from nws.core.text.length import bare_words, count_words
from nws.core.text.model_outputs import LOOKS_MARKED, without_thoughts
from nws.core.text.near_copies import plain_words
from nws.core.text.text_marks import KINDS

SIGNS = {
    # "the ##th" of Gigaword is none, nor is a name of Malta.
    "subwords": (r"@@(?<=\w@@)(?=\s|$)|▁\w|Ġ\w+ ?Ġ\w|##(?<=\w ##)(?!(?:th|st|nd|rd|s|am|pm|km|mph|m|bn?|c|f)\b)[a-z]"),
    "special_tokens": (
        r"<extra_id_\d+>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|<unk>|\[UNK\]|\[MASK\]|<mask>|<pad>"
    ),
    "ligatures": "[ﬀ-ﬆ]",
    "hyphens": r"-(?<=[^\W\d_]{2}-)(?<!-[lr][rsc]b-)\s+(?!(?:and|or|to|nor|but|versus|vs|und|oder|bis)\b)[^\W\d_]{2}",
    "escapes": r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}",
    "mojibake": "â€[™œ\x9d“”˜¦\x80-\xbf]|â\x80[\x80-\xbf]|Ã[\x80-\xbf]|Â[\xa0£°·»«]|ï»¿|\ufffd",
    "bbcode": r"(?i)\[/(?:b|i|u|s|url|img|quote|code|color|size|list)\]|\[url=",
    "formulas": r"@xmath\d*|@xcite",
}
"""A regular expression for each sign that is no word: what tokenizers, chat templates, PDF files, web pages and wrong
encodings leave in texts."""
LEAST_SHARES = {"hyphens": 0.1}  # one article in twenty has a dash without a blank before it
"""Of the rows: fewer may have a sign by chance. Of other signs, fewer than one in a hundred."""
MISSING = (
    r"(?i)\W*(?:n/?a|nan|nil|null|none|missing|unknown|undefined|tbd|todo|no summary(?: available)?|not available)\W*"
)
"""A whole text that stands for none."""

_PARTS: tuple[Part, ...] = ("articles", "references", "predictions")
LOWER_CASED = "lower_cased"
"""The check that matters for kinds of words (`nws.core.text.word_kinds`)."""
_SAMPLE, _SAMPLES = 0.67, 1.25
"""The least lengths of the longest sample and of all samples together, as shares of a reference's length."""


def _placeholder(text: str) -> str | None:
    return text if len(text) < SHOWN and re.fullmatch(MISSING, text) else None


def _begins_article(row: CheckedRow) -> str | None:
    """Return the reference with which the article begins, which may be the whole article."""
    article = row.article or ""
    for reference in row.references:
        words = plain_words(reference)
        if words and plain_words(article[: 2 * len(reference) + 100])[: len(words)] == words:
            return reference
    return "" if article and row.references else None


def _repeats_article(row: CheckedRow) -> str | None:
    """Return the prediction if it repeats nine tenths of its article, word by word."""
    if row.prediction is None or not row.article:
        return None
    words = bare_words(row.article) if len(row.prediction) > 0.8 * len(row.article) else []
    beginning = " ".join(words[: -(-9 * len(words) // 10)])
    return row.prediction if len(words) > FEW and beginning in " ".join(bare_words(row.prediction)) else ""


def _lower_cased(row: CheckedRow) -> str | None:
    """Return the first reference that has English letters, but no capitals."""
    if not row.references:
        return None
    return next((one for one in row.references if re.search("[a-z]", one) and one == one.lower()), "")


def _thoughts(row: CheckedRow, are_cut: bool) -> str | None:
    """Return the id of a row whose prediction ends within its thoughts, or follows them."""
    if row.raw is None:
        return None if row.prediction is None else ""
    rest = without_thoughts(row.raw)
    return row.id if rest != row.raw and (rest is None) == are_cut else ""


def _samples(row: CheckedRow) -> str | None:
    """Return the first of a prediction's texts if their lengths look like those of samples."""
    if len(row.parts) < 2 or not row.references:
        return None
    words, reference = [count_words(text) for text in row.parts], min(map(count_words, row.references))
    return row.parts[0] if max(words) >= _SAMPLE * reference and sum(words) >= _SAMPLES * reference else ""


def _several(row: CheckedRow) -> str | None:
    return f"{row.id} with {len(row.references)}" if len(row.references) > 1 else "" if row.references else None


def _prediction_with_id(row: CheckedRow) -> str | None:
    return f"{row.id}\n{row.prediction}" if row.references and row.prediction else None


CHECKS = (
    *(TextCheck(kind, "texts", in_texts(around(marks.find))) for kind, marks in KINDS.items()),
    *(
        TextCheck(name, "texts", in_texts(around(re.compile(pattern).search), LEAST_SHARES.get(name, 0.01)))
        for name, pattern in SIGNS.items()
    ),
    *(TextCheck("no_words", part, in_texts(without_words, 0, 1)) for part in _PARTS),
    *(TextCheck("placeholder", part, in_texts(_placeholder, 0, 1)) for part in _PARTS),
    TextCheck("language", "articles", partial(OtherLanguages, 0.1)),
    TextCheck("language", "predictions", partial(OtherLanguages, 0)),
    TextCheck("beginning", "articles", common_texts(first_letters, 0.05)),
    TextCheck("end", "articles", common_texts(last_letters, 0.05)),
    TextCheck("same_text", "articles", repeated(lambda row: row.article)),
    TextCheck("several_references", "articles", rows(_several)),
    TextCheck("common_reference", "references", common_texts(whole, least_count=2)),
    TextCheck("begins_article", "references", rows(_begins_article, 0.05, 2)),
    TextCheck(LOWER_CASED, "references", rows(_lower_cased, 0.5, FEW)),
    TextCheck("shifted_references", "references", ShiftedReferences),
    TextCheck("same_prediction", "predictions", repeated(_prediction_with_id)),
    TextCheck("cut_thoughts", "predictions", rows(partial(_thoughts, are_cut=True))),
    TextCheck("thoughts", "predictions", rows(partial(_thoughts, are_cut=False))),
    TextCheck("opening", "predictions", common_texts(opening_words)),
    TextCheck("markdown", "predictions", in_texts(around(LOOKS_MARKED.search), 0.1, FEW)),
    TextCheck("common_prediction", "predictions", common_texts(whole)),
    TextCheck("repeats_article", "predictions", rows(_repeats_article, 0.05, 2)),
    TextCheck("samples", "predictions", rows(_samples, 0.5, 1)),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that a check found.

    Attributes:
        check: the name of the check.
        part: the part of the rows that it checked.
        place: the file or system, as sentences call it; "" if only one is checked.
        count, total: the number of rows with the problem, and of all checked rows.
        example: an example from one of them; may be "".
        detail: more for the sentence; may be "".
    """

    check: str
    part: Part
    place: str
    count: int
    total: int
    example: str = ""
    detail: str = ""

    def __str__(self) -> str:
        noun = {"texts": "rows", "references": "articles"}.get(self.part, self.part)
        of = f" of {self.place}" * bool(self.place) + " have references that" * (self.part == "references")
        such = f", such as “{self.example}”" * bool(self.example)
        return f"{self.count} of {self.total} {noun}{of} {SENTENCES[self.check].format(such=such, detail=self.detail)}"


def finding_lines(findings: Iterable[Finding]) -> list[str]:
    """Return a line for each finding, but a single line for all systems with the same finding in their predictions."""
    alike = dict[object, list[Finding]]()
    for finding in findings:
        alike.setdefault(finding.check if finding.part == "predictions" else finding, []).append(finding)
    lines = list[str]()
    for first, *others in alike.values():
        places = ", ".join(f"{other.place} ({other.count} of {other.total})" for other in others)
        lines.append(f"{first} The same check found something in {places}." if others else str(first))
    return lines


LOOKED_AT = 2_000
"""How many rows at the beginning are checked before a run. Most problems are everywhere in a file or nowhere."""


class Checking:
    """All checks, applied to rows that are added one by one.

    Args:
        context: what is known about the rows.
        removed: the kinds of marks that are removed before the texts are used.
        part: the part of the rows to check.
    """

    def __init__(self, context: Context, removed: Collection[str] = (), part: Part = "texts") -> None:
        parts = [(check, part if check.part == "texts" else check.part) for check in CHECKS]
        self._accumulators = [
            (check.name, checked, check.new_accumulator(checked, context))
            for check, checked in parts
            if check.name not in removed and part in ("texts", checked)
        ]

    def add(self, row: CheckedRow) -> None:
        """Check a row."""
        for _, _, accumulator in self._accumulators:
            accumulator.add(row)

    @property
    def languages(self) -> dict[str, int]:
        """The number of checked articles in each language, by ISO 639 code."""
        accumulators = (accumulator for _, _, accumulator in self._accumulators)
        languages = next(one for one in accumulators if isinstance(one, OtherLanguages))
        return dict(languages.codes.most_common())

    def findings(self, place: str) -> list[Finding]:
        """Return the findings in the rows so far."""
        return [
            Finding(name, part, place, found.count, found.total, found.example, found.detail)
            for name, part, accumulator in self._accumulators
            for found in accumulator.found()
        ]


def check_rows(
    rows: Iterable[CheckedRow], place: str, context: Context, removed: Collection[str] = (), part: Part = "texts"
) -> list[Finding]:
    """Apply all checks to rows, and return the findings."""
    checking = Checking(context, removed, part)
    for row in rows:
        checking.add(row)
    return checking.findings(place)
