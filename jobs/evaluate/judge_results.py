"""What a judge has said of summaries: scores of systems, agreement with itself, and how the terminal shows them."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from core.analysis.intervals import CONFIDENCE, Interval, mean_interval
from jobs.evaluate.judge_questions import ATTEMPTS, MOST_TOKENS, OF_JUDGE, Judge, JudgedText
from jobs.evaluate.judge_replies import Judging
from jobs.terminal.columns import Column, print_table
from jobs.terminal.metrics import few
from jobs.terminal.numerals import counted, decimals, interval_text, listed, percent
from jobs.terminal.table_style import names_column, print_line

_NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the questions.

    Attributes:
        questions: how many different ones there are.
        asked_again: those whose first reply held no verdict.
        no_verdict: those whose second reply held none either.
        unanswered: those that have no reply.
        answered_by: how many replies each model says to have written.
        tokens: of all these replies, whenever they came, as far as the endpoint has counted them.
    """

    questions: int
    asked_again: int
    no_verdict: int
    unanswered: int
    answered_by: Mapping[str, int]
    tokens: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """A system's mean score over the summaries that have a verdict; None if none has."""

    system: str
    summaries: int
    no_verdict: int
    mean: Interval | None


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How far a judge says the same when it is asked again.

    Attributes:
        units: how many summaries have two or more verdicts.
        exact: the share of pairs of verdicts on the same summary that are equal; its interval is over documents.
        alpha: Krippendorff's alpha: 1 where all verdicts agree, 0 where they agree as often as by chance. None where
            there is but one verdict in all, so that nothing could disagree.
    """

    units: int
    exact: Interval
    alpha: float | None


def agreement(verdicts: Mapping[tuple[str, str], Sequence[int]]) -> JudgeAgreement | None:
    """The agreement of repeated verdicts; None where no summary has two of them.

    Alpha is that of NLTK (`nltk.metrics.agreement.AnnotationTask.alpha`; Krippendorff, Content Analysis, 1980), with
    the squared distance of numbers (interval data).

    Args:
        verdicts: by document and system. The shares of a document's summaries are averaged first, since they are no
            independent draws.
    """
    repeated = {unit: list(each) for unit, each in verdicts.items() if len(each) > 1}
    if not repeated:
        return None
    shares: dict[str, list[float]] = {}
    for (document, _), each in repeated.items():
        pairs = list(combinations(each, 2))
        shares.setdefault(document, []).append(sum(one == other for one, other in pairs) / len(pairs))
    exact = mean_interval([sum(share) / len(share) for share in shares.values()])
    return JudgeAgreement(len(repeated), exact, _alpha(list(repeated.values())))


def _alpha(repeated: Sequence[Sequence[int]]) -> float | None:
    # With much of SciPy and pandas, which others need not wait for.
    from nltk.metrics.agreement import AnnotationTask
    from nltk.metrics.distance import interval_distance

    if len({verdict for each in repeated for verdict in each}) == 1:
        return None
    rated = [(coder, unit, verdict) for unit, each in enumerate(repeated) for coder, verdict in enumerate(each)]
    return float(AnnotationTask(rated, interval_distance).alpha())


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """What a judge has said of summaries.

    Attributes:
        judge: who, and how it was asked.
        tally: what became of the questions.
        systems: from the highest mean to the lowest.
        agreement: of the judge with itself; None where it was asked once.
        rows: of the file: the summaries that have a verdict.
    """

    judge: Judge
    tally: Tally
    systems: tuple[JudgedSystem, ...]
    agreement: JudgeAgreement | None
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
            "repeats": judge.repeats,
            "temperature": int(judge.repeats > 1),
            "max_tokens": MOST_TOKENS,
            "signature": judge.signature,
            "confidence": CONFIDENCE,
            **asdict(self.tally),
            "systems": [asdict(one) for one in self.systems],
            "agreement": None if self.agreement is None else asdict(self.agreement),
        }


def judge_result(judging: Judging) -> JudgeResult:
    """What the replies say of the summaries. Those without a verdict are counted, and not scored."""
    scores = [
        [score for question in text.questions if (score := judging.verdict(question)) is not None]
        for text in judging.texts
    ]
    repeated = {(text.document, text.system): each for text, each in zip(judging.texts, scores, strict=True)}
    rows = [_row(judging, text, each) for text, each in zip(judging.texts, scores, strict=True) if each]
    systems = _by_system(judging.texts, scores)
    return JudgeResult(judging.judge, _tally(judging), systems, agreement(repeated), tuple(rows))


def _row(judging: Judging, text: JudgedText, scores: Sequence[int]) -> dict[str, Any]:
    every = (reply for question in text.questions for reply in judging.replies_to(question))
    return {
        **text.fields,
        OF_JUDGE: sum(scores) / len(scores),
        f"{OF_JUDGE}_verdicts": scores,
        f"{OF_JUDGE}_model": judging.judge.endpoint.model,
        f"{OF_JUDGE}_answered_by": ", ".join(sorted({reply.answered_by or _NOT_STATED for reply in every})),
        f"{OF_JUDGE}_signature": judging.judge.signature,
    }


def _tally(judging: Judging) -> Tally:
    replies = [(question, judging.replies_to(question)) for question in judging.questions]
    every = [reply for _, each in replies for reply in each]
    without = [each for question, each in replies if judging.verdict(question) is None]
    return Tally(
        questions=len(replies),
        asked_again=sum(len(each) > 1 for _, each in replies),
        no_verdict=sum(len(each) == ATTEMPTS for each in without),
        unanswered=sum(len(each) < ATTEMPTS for each in without),
        answered_by=dict(sorted(Counter(reply.answered_by or _NOT_STATED for reply in every).items())),
        tokens=dict(sum((Counter(reply.tokens) for reply in every), Counter[str]())),
    )


def _by_system(texts: Sequence[JudgedText], scores: Sequence[Sequence[int]]) -> tuple[JudgedSystem, ...]:
    """The systems, from the highest mean to the lowest. Of a summary, the mean of its repeats counts."""
    by_system: dict[str, list[Sequence[int]]] = {}
    for text, each in zip(texts, scores, strict=True):
        by_system.setdefault(text.system, []).append(each)
    found = []
    for system, of_system in by_system.items():
        means = [sum(each) / len(each) for each in of_system if each]
        without = len(of_system) - len(means)
        found.append(JudgedSystem(system, len(means), without, mean_interval(means) if means else None))
    return tuple(sorted(found, key=lambda one: (-one.mean.mean if one.mean else 0.0, one.system)))


def print_judged(found: JudgeResult, out: Path, console: Console) -> None:
    """Print who judged, what it said of each system, and what a reader must know of it."""
    judge, tally = found.judge, found.tally
    times = "" if judge.repeats == 1 else f", each asked {judge.repeats} times"
    made_by = f"prompt {judge.prompt.sha256}, seed {judge.seed}"
    print_line(console, f"Judge: {judge.endpoint.model}, scores from {judge.scale}{times}; {made_by}")
    answered = [f"{name} ({count})" for name, count in tally.answered_by.items()] or ["nobody"]
    print_line(console, f"Answered by {listed(answered)}.")
    console.print()
    _print_systems(found.systems, console)
    if found.agreement is not None:
        print_line(console, _itself(found.agreement, judge.repeats))
    console.print()
    for line in _cautions(found):
        print_line(console, line, style="yellow")
    read, written = tally.tokens.get("prompt_tokens", 0), tally.tokens.get("completion_tokens", 0)
    tokens = f"{read:,} tokens read and {written:,} written"
    print_line(console, f"All of it took {tokens}, as far as the endpoint counts them.", style="dim")
    advice = f"Hold it against some: nws correlate {out} --metrics judge --human FIELD"
    print_line(console, f"A judge is no person. {advice}", style="dim")


def _print_systems(systems: Sequence[JudgedSystem], console: Console) -> None:
    columns = [
        Column("summaries", [Text(str(one.summaries)) for one in systems]),
        Column("mean score", [Text(decimals(one.mean.mean, 2) if one.mean else "none") for one in systems]),
        Column("95 % interval", [Text(interval_text(one.mean, 2) if one.mean else "") for one in systems]),
        Column("no verdict", [Text(str(one.no_verdict)) for one in systems]),
    ]
    print_table(names_column("system", [Text(one.system) for one in systems]), columns, console, gap=2)
    console.print()
    best = systems[0]
    if best.mean is not None and len(systems) > 1:
        print_line(console, f"{best.system} has the highest mean score, {decimals(best.mean.mean, 2)}.")


def _itself(found: JudgeAgreement, repeats: int) -> str:
    alpha = "undefined, since all verdicts are equal" if found.alpha is None else decimals(found.alpha, 2)
    low, high = found.exact.low, found.exact.high
    between = "" if low is None or high is None else f" (95 % interval {percent(low)} to {percent(high)})"
    return (
        f"Asked again, the judge made the same score in {percent(found.exact.mean)} of cases{between}. Krippendorff's "
        f"alpha: {alpha}. It was asked {repeats} times about {counted(found.units, 'summary')}."
    )


def _cautions(found: JudgeResult) -> Iterator[str]:
    tally = found.tally
    if tally.asked_again:
        again = f"{counted(tally.asked_again, 'reply')} held no verdict and brought the question again."
        yield f"{again} {counted(tally.no_verdict, 'question')} got none then either: not scored."
    if tally.unanswered:
        yield f"{counted(tally.unanswered, 'question')} got no reply. The same command asks only these."
    if len(tally.answered_by) > 1:
        yield "Several models have answered under this name: their verdicts are mixed here. See judge_answered_by."
    fewest = min(one.summaries for one in found.systems)
    if caution := few(fewest, "summaries"):
        yield caution


def print_dry(judging: Judging, as_json: bool, console: Console) -> None:
    """Print what would be sent: requests, `second` of them for replies without a verdict, and about how many tokens."""
    attempts = [judging.unasked(attempt) for attempt in range(1, ATTEMPTS + 1)]
    missing = [question for each in attempts for question in each]
    to_send = {
        "questions": len(judging.questions),
        "requests": len(missing),
        "second": len(missing) - len(attempts[0]),
        "tokens": sum(question.tokens for question in missing),
        "most_written": MOST_TOKENS * len(missing),
    }
    if as_json:
        print(json.dumps(to_send))
        return
    endpoint, answered = judging.judge.endpoint, len(judging.questions) - len(attempts[0])
    for line in (
        f"{counted(len(missing), 'request')} to {endpoint.model} at {endpoint.url}, about {to_send['tokens']:,} tokens "
        f"to read, and at most {to_send['most_written']:,} to write.",
        f"{counted(len(judging.questions), 'question')} in all, {answered} of them answered in {judging.replies.path}.",
        "A reply that holds no verdict is asked for once more. Before all a greeting of a few tokens is sent.",
    ):
        print_line(console, line)
