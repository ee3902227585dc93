"""Every check. A new one is added here, with its sentence in `SENTENCES` and a test."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial

from nws.core.text.checks.finding import SHOWN, CheckedRow, Context, Part, TextCheck
from nws.core.text.checks.looks import (
    FEW,
    OtherLanguages,
    ShiftedReferences,
    again,
    around,
    common_texts,
    first_letters,
    in_texts,
    last_letters,
    opening_words,
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
"""The check that matters to kinds of words (`nws.core.text.word_kinds`)."""
_SAMPLE, _SAMPLES = 0.67, 1.25
"""Of the length of a reference: the longest sample, and all samples together."""


def _placeholder(text: str) -> str | None:
    return text if len(text) < SHOWN and re.fullmatch(MISSING, text) else None


def _begins_article(row: CheckedRow) -> str | None:
    """The reference with which the article begins, or that is the article."""
    article = row.article or ""
    for reference in row.references:
        words = plain_words(reference)
        if words and plain_words(article[: 2 * len(reference) + 100])[: len(words)] == words:
            return reference
    return "" if article and row.references else None


def _repeats_article(row: CheckedRow) -> str | None:
    """The prediction that holds nine tenths of its article, word by word."""
    if row.prediction is None or not row.article:
        return None
    words = bare_words(row.article) if len(row.prediction) > 0.8 * len(row.article) else []
    beginning = " ".join(words[: -(-9 * len(words) // 10)])
    return row.prediction if len(words) > FEW and beginning in " ".join(bare_words(row.prediction)) else ""


def _lower_cased(row: CheckedRow) -> str | None:
    """The first reference that has English letters and none of them as a capital."""
    if not row.references:
        return None
    return next((one for one in row.references if re.search("[a-z]", one) and one == one.lower()), "")


def _thoughts(row: CheckedRow, are_cut: bool) -> str | None:
    """The id of a row whose prediction ends within its thoughts, or stands behind them."""
    if row.raw is None:
        return None if row.prediction is None else ""
    rest = without_thoughts(row.raw)
    return row.id if rest != row.raw and (rest is None) == are_cut else ""


def _samples(row: CheckedRow) -> str | None:
    """The first of several texts of which the longest is as long as a reference, and all of which are longer."""
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
    TextCheck("same_text", "articles", again(lambda row: row.article)),
    TextCheck("several_references", "articles", rows(_several)),
    TextCheck("common_reference", "references", common_texts(whole, least_count=2)),
    TextCheck("begins_article", "references", rows(_begins_article, 0.05, 2)),
    TextCheck(LOWER_CASED, "references", rows(_lower_cased, 0.5, FEW)),
    TextCheck("shifted_references", "references", ShiftedReferences),
    TextCheck("same_prediction", "predictions", again(_prediction_with_id)),
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
    """What a check found.

    Attributes:
        check: its name.
        part: what it looked at.
        place: the file or system, as it is called in sentences; "" where nothing else is looked at.
        count, total: how many of how many rows have it.
        example: what one of them has; may be "".
        detail: what else the sentence says; may be "".
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
    """What findings say: a line each, but one for all systems in whose predictions the same check found something."""
    alike = dict[object, list[Finding]]()
    for finding in findings:
        alike.setdefault(finding.check if finding.part == "predictions" else finding, []).append(finding)
    lines = list[str]()
    for first, *others in alike.values():
        places = ", ".join(f"{other.place} ({other.count} of {other.total})" for other in others)
        lines.append(f"{first} The same check found something in {places}." if others else str(first))
    return lines


LOOKED_AT = 2_000
"""The first rows, for what is all over a file or nowhere: so many are looked at before a run."""


class Checking:
    """All checks at work on rows, which are added one by one.

    Args:
        context: what is known of the rows.
        removed: kinds of marks that are removed before the texts are used.
        part: of the rows, what is looked at.
    """

    def __init__(self, context: Context, removed: Collection[str] = (), part: Part = "texts") -> None:
        parts = [(check, part if check.looks_at == "texts" else check.looks_at) for check in CHECKS]
        self._looks = [
            (check.name, looked_at, check.look(looked_at, context))
            for check, looked_at in parts
            if check.name not in removed and part in ("texts", looked_at)
        ]

    def add(self, row: CheckedRow) -> None:
        """Look at a row."""
        for _, _, look in self._looks:
            look.add(row)

    @property
    def languages(self) -> dict[str, int]:
        """How many of the articles that were looked at are in each language, by ISO 639 code."""
        look = next(look for _, _, look in self._looks if isinstance(look, OtherLanguages))
        return dict(look.codes.most_common())

    def findings(self, place: str) -> list[Finding]:
        """What was found in the rows so far."""
        return [
            Finding(name, part, place, found.count, found.total, found.example, found.detail)
            for name, part, look in self._looks
            for found in look.found()
        ]


def check_rows(
    rows: Iterable[CheckedRow], place: str, context: Context, removed: Collection[str] = (), part: Part = "texts"
) -> list[Finding]:
    """What all checks find in some rows."""
    checking = Checking(context, removed, part)
    for row in rows:
        checking.add(row)
    return checking.findings(place)
