"""`nws judge`: a language model behind an endpoint judges summaries, one by one or in pairs. How it is asked."""

import functools
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from core.errors import EndpointError, NwsError, RecipeError
from core.summarizers.endpoint_replies import EndpointAnswer
from core.summarizers.endpoint_requests import LoadedEndpoint
from jobs.evaluate.judge_questions import ATTEMPTS, Asked, Judge, Scale
from jobs.evaluate.judge_replies import Replies, Reply
from jobs.evaluate.judge_texts import JudgedText

_MOST_FAILED = 20
"""Requests in a row that fail, or first replies without a verdict, before none is sent any more."""
_QUOTED = 100
# What OpenAI's API says of a reply that has used up its tokens.
_CUT = "length"

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

Verdict: TypeAlias = int | Choice


@dataclass(frozen=True, slots=True)
class Pair:
    """Two summaries of one article, and for each repeat the questions on them, in both orders.

    Equal summaries have no question: neither is better.
    """

    a: JudgedText
    b: JudgedText
    asked: tuple[tuple[Asked, Asked], ...]

    @property
    def questions(self) -> tuple[Asked, ...]:
        """All of both orders."""
        return tuple(asked for both in self.asked for asked in both)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be asked: `single` summaries, each with a question for each repeat, or `pairs` of them.

    Attributes:
        left_out: documents that one of the two systems of the pairs lacks.
    """

    judge: Judge
    single: tuple[tuple[JudgedText, tuple[Asked, ...]], ...] = ()
    pairs: tuple[Pair, ...] = ()
    left_out: int = 0

    @property
    def questions(self) -> list[Asked]:
        """Each once: equal summaries of an article are asked about once."""
        of_pairs = (asked for pair in self.pairs for asked in pair.questions)
        every = itertools.chain((asked for _, each in self.single for asked in each), of_pairs)
        return list({asked.key: asked for asked in every}.values())

    def read(self, reply: Reply) -> Verdict | None:
        """The verdict of a reply; None where it states none, or was cut before its end."""
        if reply.finish == _CUT:
            return None
        return read_choice(reply.text) if self.judge.prompt.pairwise else read_score(reply.text, self.judge.scale)


def make_plan(judge: Judge, texts: Sequence[JudgedText]) -> Plan:
    """The questions on these summaries.

    Raises:
        RecipeError: pairs are asked for, and the summaries are not those of two systems with a document in common.
    """
    if not judge.prompt.pairwise:
        about = ((text, f"{text.system}, {text.document}") for text in texts)
        return Plan(judge, tuple((one, judge.on_summary(one.article, one.summary, of)) for one, of in about))
    systems = list(dict.fromkeys(text.system for text in texts))
    if len(systems) != 2:
        told = ", ".join(systems)
        raise RecipeError(f"A pair is one of two systems, and here are {len(systems)}: {told}.", settings=("systems",))
    by_document: dict[str, dict[str, JudgedText]] = {}
    for text in texts:
        by_document.setdefault(text.document, {})[text.system] = text
    both = [tuple(found[system] for system in systems) for found in by_document.values() if len(found) == 2]
    if not both:
        raise RecipeError(f"{systems[0]} and {systems[1]} have no document in common.", settings=("systems",))
    return Plan(judge, pairs=tuple(_pair(judge, a, b) for a, b in both), left_out=len(by_document) - len(both))


def _pair(judge: Judge, a: JudgedText, b: JudgedText) -> Pair:
    about = f"{a.system} and {b.system}, {a.document}"
    same = a.summary.split() == b.summary.split()
    return Pair(a, b, () if same else judge.on_pair(a.article, a.summary, b.summary, about))


def unasked(plan: Plan, replies: Replies, attempt: int) -> list[Asked]:
    """The questions whose next request is this attempt: no earlier one has brought a verdict, and this was not made."""
    return [
        asked
        for asked in plan.questions
        if replies.get(asked, attempt) is None
        and all(
            (reply := replies.get(asked, earlier)) is not None and plan.read(reply) is None
            for earlier in range(1, attempt)
        )
    ]


def ask(plan: Plan, replies: Replies) -> list[EndpointError]:
    """Send what has not been answered yet, and keep each reply as it comes. Nothing is sent if nothing is missing.

    Returns:
        The errors of requests that got no reply.

    Raises:
        EndpointError: the endpoint does not answer at all, or refuses the key or the model.
        NwsError: it has stopped to answer, or answers with anything but verdicts.
        OSError: a reply cannot be written.
    """
    loaded: LoadedEndpoint | None = None
    keeper = _Keeper(plan, replies)
    for attempt in range(1, ATTEMPTS + 1):
        if missing := unasked(plan, replies, attempt):
            loaded = loaded or LoadedEndpoint(plan.judge.endpoint, plan.judge.seed)
            heard = functools.partial(keeper.hear, missing, attempt)
            loaded.complete([asked.sent(attempt) for asked in missing], heard)
    return keeper.errors


class _Keeper:
    """Keeps replies as they come, and errors; ends it all where more of the same would be paid for in vain."""

    def __init__(self, plan: Plan, replies: Replies) -> None:
        self._plan, self._replies = plan, replies
        self.errors: list[EndpointError] = []
        self._failed_in_a_row = 0
        self._some_verdict = any(
            (reply := replies.get(asked, attempt)) is not None and plan.read(reply) is not None
            for asked in plan.questions
            for attempt in range(1, ATTEMPTS + 1)
        )

    def hear(self, missing: Sequence[Asked], attempt: int, place: int, answer: EndpointAnswer | EndpointError) -> None:
        if isinstance(answer, EndpointError):
            self.errors.append(answer)
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= _MOST_FAILED:
                raise NwsError(
                    f"{self._failed_in_a_row} requests in a row failed, and no more are sent. The last: {answer} What "
                    f"was answered is in {self._replies.path}: the same command goes on from there."
                )
            return
        verdict = self._replies.add(missing[place], attempt, answer, self._plan.read)
        self._failed_in_a_row = 0
        self._some_verdict |= verdict is not None
        if not self._some_verdict and self._replies.added >= _MOST_FAILED:
            raise NwsError(
                f"None of {self._replies.added} replies holds a verdict, and no more are asked for. The last: "
                f"{answer.text[:_QUOTED]!r}. All are in {self._replies.path}. Take a larger model, or another --prompt."
            )


def read_score(reply: str, scale: Scale) -> int | None:
    """The score that a reply states: alone, behind a label such as "Score:", or in double brackets.

    Nothing is guessed: "The summary has 3 mistakes" is no score of 3.

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
