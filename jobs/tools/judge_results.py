"""What a judge has said of summaries: scores of systems, and how the terminal shows them."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from core.analysis.intervals import CONFIDENCE, Interval, mean_interval
from jobs.report.metric_names import few
from jobs.report.numerals import counted, decimals, interval_text, listed
from jobs.report.printed_lines import print_line
from jobs.report.table import Cell, Table
from jobs.tools.judge_questions import MOST_TOKENS, OF_JUDGE, Judge, JudgedText
from jobs.tools.judge_replies import Judging

_NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """A system's mean score over the summaries that have one; None if none has."""

    system: str
    summaries: int
    no_verdict: int
    mean: Interval | None


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """What a judge has said of summaries.

    Attributes:
        judge: who, and how it was asked.
        questions: how many different ones there are.
        no_verdict: those whose reply held no score.
        unanswered: those that have no reply.
        answered_by: how many replies each model says to have written.
        tokens: of all these replies, whenever they came, as far as the endpoint has counted them.
        systems: from the highest mean to the lowest.
        rows: of the file: the summaries that have a score.
    """

    judge: Judge
    questions: int
    no_verdict: int
    unanswered: int
    answered_by: Mapping[str, int]
    tokens: Mapping[str, int]
    systems: tuple[JudgedSystem, ...]
    rows: tuple[Mapping[str, Any], ...]

    def as_dict(self) -> dict[str, Any]:
        """What `nws judge --json` prints: every number, and what made it."""
        judge = self.judge
        return {
            "model": judge.endpoint.model,
            "base_url": judge.endpoint.url,
            "prompt": judge.prompt.text,
            "prompt_sha256": judge.prompt.sha256,
            "scale": [judge.scale.low, judge.scale.high],
            "seed": judge.seed,
            "max_tokens": MOST_TOKENS,
            "signature": judge.signature,
            "confidence": CONFIDENCE,
            "questions": self.questions,
            "no_verdict": self.no_verdict,
            "unanswered": self.unanswered,
            "answered_by": self.answered_by,
            "tokens": self.tokens,
            "systems": [asdict(system) for system in self.systems],
        }


def judge_result(judging: Judging) -> JudgeResult:
    """What the replies say of the summaries. Those without a score are counted, and not scored."""
    scores = [judging.score(text.question) for text in judging.texts]
    replies = [reply for question in judging.questions if (reply := judging.replies.get(question)) is not None]
    scored = sum(judging.score(question) is not None for question in judging.questions)
    return JudgeResult(
        judging.judge,
        questions=len(judging.questions),
        no_verdict=len(replies) - scored,
        unanswered=len(judging.questions) - len(replies),
        answered_by=dict(sorted(Counter(reply.answered_by or _NOT_STATED for reply in replies).items())),
        tokens=dict(sum((Counter(reply.tokens) for reply in replies), Counter[str]())),
        systems=_by_system(judging.texts, scores),
        rows=tuple(
            _row(judging, text, score) for text, score in zip(judging.texts, scores, strict=True) if score is not None
        ),
    )


def _row(judging: Judging, text: JudgedText, score: int) -> dict[str, Any]:
    reply = judging.replies.get(text.question)
    return {
        **text.fields,
        OF_JUDGE: score,
        f"{OF_JUDGE}_model": judging.judge.endpoint.model,
        f"{OF_JUDGE}_answered_by": (reply and reply.answered_by) or _NOT_STATED,
        f"{OF_JUDGE}_signature": judging.judge.signature,
    }


def _by_system(texts: Sequence[JudgedText], scores: Sequence[int | None]) -> tuple[JudgedSystem, ...]:
    """The systems, from the highest mean to the lowest."""
    by_system: dict[str, list[int | None]] = {}
    for text, score in zip(texts, scores, strict=True):
        by_system.setdefault(text.system, []).append(score)
    judged = []
    for system, of_system in by_system.items():
        known = [score for score in of_system if score is not None]
        mean = mean_interval(known) if known else None
        judged.append(JudgedSystem(system, len(known), len(of_system) - len(known), mean))
    return tuple(sorted(judged, key=lambda one: (-one.mean.mean if one.mean else 0.0, one.system)))


def print_judged(found: JudgeResult, out: Path, console: Console) -> None:
    """Print who judged, what it said of each system, and what a reader must know of it."""
    judge = found.judge
    made_by = f"prompt {judge.prompt.sha256}, seed {judge.seed}"
    print_line(console, f"Judge: {judge.endpoint.model}, scores from {judge.scale}; {made_by}")
    answered = [f"{name} ({count})" for name, count in found.answered_by.items()] or ["nobody"]
    print_line(console, f"Answered by {listed(answered)}.")
    console.print()
    _print_systems(found.systems, console)
    console.print()
    for line in _cautions(found):
        print_line(console, line, style="yellow")
    read, written = found.tokens.get("prompt_tokens", 0), found.tokens.get("completion_tokens", 0)
    tokens = f"{read:,} tokens read and {written:,} written"
    print_line(console, f"All of it took {tokens}, as far as the endpoint counts them.", style="dim")
    advice = f"Hold it against some: nws correlate {out} --metrics judge --human FIELD"
    print_line(console, f"A judge is no person. {advice}", style="dim")


def _print_systems(systems: Sequence[JudgedSystem], console: Console) -> None:
    rows = [(one.system, one.summaries, _mean_cell(one.mean), one.no_verdict) for one in systems]
    Table(("system", "summaries", "mean score", "no verdict"), rows, notes=("Below a mean: its 95 % interval.",)).print(
        console
    )


def _mean_cell(mean: Interval | None) -> Cell:
    return Cell("none") if mean is None else Cell(decimals(mean.mean, 2), interval_text(mean, 2))


def _cautions(found: JudgeResult) -> Iterator[str]:
    if found.no_verdict:
        yield f"{counted(found.no_verdict, 'reply')} held no score: not counted. Another --seed asks all of them anew."
    if found.unanswered:
        yield f"{counted(found.unanswered, 'question')} got no reply. The same command asks only these."
    if len(found.answered_by) > 1:
        yield "Several models have answered under this name: their scores are mixed here. See judge_answered_by."
    fewest = min(one.summaries for one in found.systems)
    if caution := few(fewest, "summaries"):
        yield caution


def print_dry(judging: Judging, as_json: bool, console: Console) -> None:
    """Print what would be sent: requests, and about how many tokens."""
    missing = judging.unasked
    to_send = {
        "questions": len(judging.questions),
        "requests": len(missing),
        "tokens": sum(question.tokens for question in missing),
        "most_written": MOST_TOKENS * len(missing),
    }
    if as_json:
        print(json.dumps(to_send))
        return
    endpoint, answered = judging.judge.endpoint, len(judging.questions) - len(missing)
    for line in (
        f"{counted(len(missing), 'request')} to {endpoint.model} at {endpoint.url}, about {to_send['tokens']:,} tokens "
        f"to read, and at most {to_send['most_written']:,} to write. Before all a greeting of a few tokens is sent.",
        f"{counted(len(judging.questions), 'question')} in all, {answered} of them answered in {judging.replies.path}.",
    ):
        print_line(console, line)
