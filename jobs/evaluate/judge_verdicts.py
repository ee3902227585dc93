"""What a judge's reply says, if it says one thing: nothing is guessed.

A reply that could be read in two ways holds no verdict. "The summary has 3 mistakes" is no score of 3.
"""

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from jobs.evaluate.judge_questions import Scale

Choice: TypeAlias = Literal["A", "B", "tie"]
_CALLED: Mapping[str, Choice] = {"a": "A", "b": "B", "tie": "tie"}

# What some models think aloud before they answer.
_THOUGHT = re.compile(r".*</think>", re.DOTALL)
_THINKS_STILL = "<think>"
_LABEL = r"\b(?:score|rating|verdict|answer|winner)\b[^\w\-]{0,6}(?:is\b[^\w\-]{0,4})?"
_OPEN = r"[^\w\-−.,]*"
# Neither a decimal, a fraction, a range, nor a choice of two.
_NO_MORE = r"(?!\w)(?![.,:/\-–][0-9])(?!\s*/\s*[0-9])(?!\s*[-–]\s*[0-9])(?!\s*(?:to|of|out|or|and)\b)"
_SUMMARY = r"(?:summary\W{1,3})?"
_WHOLE_CHOICE = re.compile(
    rf"\W*(?:{_LABEL})?{_SUMMARY}(?P<choice>A|B|tie)(?:\W+is(?:\W+the)?\W+better(?:\W+(?:one|summary))?)?\W*",
    re.IGNORECASE,
)
# In a sentence "a" is an article.
_CHOICE = r"(?P<choice>(?-i:A|B)|tie)"
_CHOICES = (
    re.compile(rf"{_LABEL}{_SUMMARY}{_CHOICE}(?![\w'’])(?!\W*(?:or|and|/)\W*{_SUMMARY}[AB]\b)", re.IGNORECASE),
    re.compile(rf"\[\[{_CHOICE}\]\]", re.IGNORECASE),
)


def read_score(reply: str, scale: Scale) -> int | None:
    """The score that a reply states: alone, behind a label such as "Score:", or in double brackets.

    Returns:
        A whole number of the scale; None where the reply states none, several, or one that is not on the scale.
    """
    answer = _answer(reply)
    number = rf"(?P<score>[0-9]{{1,4}})(?:\.0+(?![0-9]))?(?:\s*(?:/|out of)\s*{scale.high}(?![0-9.,]*[0-9]))?"
    if found := re.fullmatch(rf"{_OPEN}(?:{_LABEL})?{number}(?:\s*points?|점)?\W*", answer, re.IGNORECASE):
        stated = {int(found["score"])}
    else:
        patterns = (rf"{_LABEL}{number}{_NO_MORE}", r"\[\[(?P<score>[0-9]{1,4})\]\]")
        stated = {int(one["score"]) for pattern in patterns for one in re.finditer(pattern, answer, re.IGNORECASE)}
    score = stated.pop() if len(stated) == 1 else None
    return score if score is not None and scale.low <= score <= scale.high else None


def read_choice(reply: str) -> Choice | None:
    """The summary that a reply prefers: A, B or neither ("tie"); None where it says none, or several."""
    answer = _answer(reply)
    whole = _WHOLE_CHOICE.fullmatch(answer)
    matches = [whole] if whole else [one for pattern in _CHOICES for one in pattern.finditer(answer)]
    stated = {one["choice"].lower() for one in matches}
    if len(stated) != 1:
        return None
    return _CALLED[stated.pop()]


def _answer(reply: str) -> str:
    """The reply without what was thought aloud; nothing where that has no end."""
    answer = _THOUGHT.sub("", reply)
    return "" if _THINKS_STILL in answer else answer
