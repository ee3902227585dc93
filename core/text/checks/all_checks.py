"""Every check. A new one is added here, with a test."""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial

from nws.core.text.checks.finding import SHOWN, Check, CheckedRow, Context, Part
from nws.core.text.checks.looks import (
    FEW,
    Again,
    Boilerplate,
    Incomplete,
    Inside,
    SeveralReferences,
    ShiftedReferences,
    Thoughts,
    common_texts,
    in_texts,
    opening_words,
    other_languages,
    reference_from_beginning,
    repeated_article,
    without_words,
)
from nws.core.text.checks.signs import MISSING, SIGNS
from nws.core.text.model_outputs import LOOKS_MARKED
from nws.core.text.text_marks import KINDS

_CLEAN = "To remove them, set clean_outputs to {}."
_MARKS = {"html": "hold HTML", "marks": "hold marks between sentences", "ptb": "hold tokens of the Penn Treebank"}


def _shown(find: Callable[[str], re.Match[str] | None]) -> Callable[[str], str | None]:
    """What is found, with some characters on both sides."""

    def place(text: str) -> str | None:
        found = find(text)
        return None if found is None else text[max(0, found.start() - 15) : found.end() + 15]

    return place


def _placeholder(text: str) -> str | None:
    return text if len(text) < SHOWN and re.fullmatch(MISSING, text) else None


CHECKS = (
    *(
        Check(kind, "texts", _MARKS[kind], f"To remove them, set clean_texts to {kind}.", in_texts(_shown(at.find)))
        for kind, at in KINDS.items()
    ),
    *(
        Check(
            sign.name,
            "texts",
            sign.says,
            sign.advice,
            in_texts(_shown(re.compile(sign.pattern).search), sign.least_share),
        )
        for sign in SIGNS
    ),
    Check("no_words", "articles", "have no word", "They fail.", in_texts(without_words, 0, 1)),
    Check("no_words", "references", "have no word", "They are left out.", in_texts(without_words, 0, 1)),
    Check("no_words", "predictions", "have no word", "Each scores 0, or next to it.", in_texts(without_words, 0, 1)),
    Check(
        "placeholder", "references", "stand for a missing one", "Leave the field empty.", in_texts(_placeholder, 0, 1)
    ),
    Check(
        "placeholder", "predictions", "stand for a missing one", "Leave the field empty.", in_texts(_placeholder, 0, 1)
    ),
    Check(
        "language",
        "articles",
        "look like another language than {detail}",
        "They are treated as that language, and texts in another script fail.",
        other_languages(0.1),
    ),
    Check(
        "language",
        "predictions",
        "look like another language than {detail}",
        "They are scored as that language.",
        other_languages(0),
    ),
    Check(
        "boilerplate",
        "articles",
        "{detail} with the same words",
        "Systems take them for news: remove what is not part of the article.",
        Boilerplate,
    ),
    Check(
        "same_text",
        "articles",
        "have the text of another article",
        "Intervals are too narrow: write one row with a list of references.",
        partial(Again, lambda row: row.article or None),
    ),
    Check(
        "same_prediction",
        "predictions",
        "repeat the prediction before for the same article",
        "Intervals are too narrow: write one row with a list of references.",
        partial(Again, lambda row: f"{row.id}\n{row.prediction}" if row.references and row.prediction else None),
    ),
    Check(
        "several_references",
        "references",
        "have several references, {detail} on average",
        "The best one counts. If they are the sentences of one, set join_references.",
        SeveralReferences,
    ),
    Check(
        "common_reference",
        "references",
        "have the same reference",
        "Remove it if it stands for a missing one.",
        common_texts(lambda text: text, least_count=2),
    ),
    Check(
        "reference_in_article",
        "references",
        "have a reference with which their article begins",
        "Then lead scores too well: check the reference field.",
        partial(Inside, reference_from_beginning),
    ),
    Check(
        "shifted_references",
        "references",
        "have a reference that fits the {detail} article better",
        "Check that references stand beside their own articles.",
        ShiftedReferences,
    ),
    Check(
        "cut_thoughts",
        "predictions",
        "end within their thoughts",
        "They score 0: raise max_tokens.",
        partial(Thoughts, True),
    ),
    Check("thoughts", "predictions", "had thoughts", "Only the text behind them is scored.", partial(Thoughts, False)),
    Check(
        "opening",
        "predictions",
        "begin with the same words",
        _CLEAN.format("preamble"),
        common_texts(opening_words, least_count=FEW),
    ),
    Check(
        "markdown",
        "predictions",
        "hold Markdown",
        _CLEAN.format("markup"),
        in_texts(_shown(LOOKS_MARKED.search), 0.1, FEW),
    ),
    Check(
        "common_prediction",
        "predictions",
        "are the same text",
        "Check how they were written.",
        common_texts(lambda text: text, least_count=FEW),
    ),
    Check(
        "repeated_article",
        "predictions",
        "repeat their article",
        "Cut the prompt off.",
        partial(Inside, repeated_article),
    ),
    Check(
        "incomplete",
        "predictions",
        "that the articles need are there",
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
        place: what was looked at, as it is called in sentences.
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
        return f"{self.count} of {self.total} {noun} of {self.place} {says}{example}. {check.advice}"


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
