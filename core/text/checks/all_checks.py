"""Every check. A new one is added here, with a test."""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial

from nws.core.text.checks.finding import SHOWN, CheckedRow, Context, Part, TextCheck
from nws.core.text.checks.looks import (
    FEW,
    Again,
    Incomplete,
    ShiftedReferences,
    common_texts,
    first_letters,
    in_texts,
    last_letters,
    opening_words,
    other_languages,
    rows,
    whole,
)
from nws.core.text.checks.signs import MISSING, SIGNS
from nws.core.text.length import bare_words, count_words
from nws.core.text.model_outputs import LOOKS_MARKED, without_thoughts
from nws.core.text.near_copies import plain_words
from nws.core.text.text_marks import KINDS

_AROUND = 15
"""Characters that are shown on both sides of what is found."""
_HOLDS = {"html": "hold HTML", "marks": "hold marks between sentences", "ptb": "hold tokens of the Penn Treebank"}
_SAMPLE, _SAMPLES = 0.67, 1.25
"""Of the length of a reference: the longest sample, and all samples together."""
_WITHOUT_WORDS: dict[Part, str] = {
    "articles": "These articles fail.",
    "references": "They are left out.",
    "predictions": "They score 0, or next to it.",
}
_LETTER = re.compile(r"[^\W_]")
LOWER_CASED = "lower_cased"
"""The check that matters to kinds of words (`nws.core.text.word_kinds`)."""
_NARROW = "Intervals are too narrow: write one row with a list of references."
_CUT_OUT = "Systems take them for news: remove what is not part of the article."


def _shown(find: Callable[[str], re.Match[str] | None]) -> Callable[[str], str | None]:
    """What is found, with some characters on both sides."""

    def place(text: str) -> str | None:
        found = find(text)
        return None if found is None else text[max(0, found.start() - _AROUND) : found.end() + _AROUND]

    return place


def _without_words(text: str) -> str | None:
    return None if _LETTER.search(text) else text


def _placeholder(text: str) -> str | None:
    return text if len(text) < SHOWN and re.fullmatch(MISSING, text) else None


def _begins_article(row: CheckedRow) -> str | None:
    """The reference with which the article begins, or that is the article."""
    for reference in row.references if row.article else ():
        words = plain_words(reference)
        if words and plain_words(row.article[: 2 * len(reference) + 100])[: len(words)] == words:
            return reference
    return "" if row.article and row.references else None


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
    return f"{len(row.references)} of {row.id}" if len(row.references) > 1 else "" if row.references else None


def _prediction_with_id(row: CheckedRow) -> str | None:
    return f"{row.id}\n{row.prediction}" if row.references and row.prediction else None


CHECKS = (
    *(
        TextCheck(kind, "texts", _HOLDS[kind], f"To remove them: --clean-texts {kind}.", in_texts(_shown(at.find)))
        for kind, at in KINDS.items()
    ),
    *(
        TextCheck(at.name, "texts", at.says, at.advice, in_texts(_shown(re.compile(at.pattern).search), at.least_share))
        for at in SIGNS
    ),
    *(
        TextCheck("no_words", part, "have no word", advice, in_texts(_without_words, 0, 1))
        for part, advice in _WITHOUT_WORDS.items()
    ),
    *(
        TextCheck(
            "placeholder", part, "stand for a missing text", "Leave the field empty.", in_texts(_placeholder, 0, 1)
        )
        for part in _WITHOUT_WORDS
    ),
    TextCheck(
        "language",
        "articles",
        "look like another language than {detail}",
        "They are treated as that language; texts in another script fail.",
        other_languages(0.1),
    ),
    TextCheck(
        "language",
        "predictions",
        "look like another language than {detail}",
        "They are scored as that language.",
        other_languages(0),
    ),
    TextCheck("beginning", "articles", "begin with the same words", _CUT_OUT, common_texts(first_letters, 0.05)),
    TextCheck("end", "articles", "end with the same words", _CUT_OUT, common_texts(last_letters, 0.05)),
    TextCheck(
        "same_text", "articles", "have the text of another article", _NARROW, partial(Again, lambda row: row.article)
    ),
    TextCheck(
        "same_prediction",
        "predictions",
        "repeat another one for the same article",
        _NARROW,
        partial(Again, _prediction_with_id),
    ),
    TextCheck(
        "several_references",
        "references",
        "are lists of several",
        "The best one counts. If they are the sentences of one: --join-references.",
        rows(_several),
    ),
    TextCheck(
        "common_reference",
        "references",
        "are the same text",
        "Remove it if it stands for a missing one.",
        common_texts(whole, least_count=2),
    ),
    TextCheck(
        "begins_article",
        "references",
        "repeat the beginning of their article, or all of it",
        "This favours lead: check the reference field.",
        rows(_begins_article, 0.05, 2),
    ),
    TextCheck(
        LOWER_CASED,
        "references",
        "have no capital letter",
        "Names in them are often not recognized as names: take cased references.",
        rows(_lower_cased, 0.5, FEW),
    ),
    TextCheck(
        "shifted_references",
        "references",
        "fit the {detail} article better than their own",
        "Check that references stand beside their own articles.",
        ShiftedReferences,
    ),
    TextCheck(
        "cut_thoughts",
        "predictions",
        "end within their thoughts",
        "They score 0: raise max_tokens.",
        rows(partial(_thoughts, are_cut=True)),
    ),
    TextCheck(
        "thoughts",
        "predictions",
        "contained the thoughts of a model",
        "Only the text behind them is scored.",
        rows(partial(_thoughts, are_cut=False)),
    ),
    TextCheck(
        "opening",
        "predictions",
        "begin with the same words",
        "To remove a preamble: --clean-outputs preamble.",
        common_texts(opening_words),
    ),
    TextCheck(
        "markdown",
        "predictions",
        "hold Markdown",
        "To remove it: --clean-outputs markup.",
        in_texts(_shown(LOOKS_MARKED.search), 0.1, FEW),
    ),
    TextCheck(
        "common_prediction", "predictions", "are the same text", "Check how they were produced.", common_texts(whole)
    ),
    TextCheck(
        "repeats_article",
        "predictions",
        "repeat their article",
        "Remove the prompt from what the model wrote.",
        rows(_repeats_article, 0.05, 2),
    ),
    TextCheck(
        "samples",
        "predictions",
        "are lists that look like samples",
        "Each list is read as one text. --list-predictions first takes its first item.",
        rows(_samples, 0.5, 1),
    ),
    TextCheck(
        "incomplete",
        "predictions",
        "are present; the other articles have none",
        "Systems are compared on these articles alone.",
        Incomplete,
    ),
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
        check = next(one for one in CHECKS if one.name == self.check and one.looks_at in (self.part, "texts"))
        noun = "rows" if self.part == "texts" else self.part
        example = f", such as “{self.example}”" if self.example else ""
        says = check.says.format(detail=self.detail)
        of = f" of {self.place}" if self.place else ""
        return f"{self.count} of {self.total} {noun}{of} {says}{example}. {check.advice}"


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
