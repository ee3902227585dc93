"""What a judge has said of summaries: scores of systems, wins of one over another, and agreement with itself."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.analysis.intervals import CONFIDENCE, Interval, mean_interval
from core.analysis.verdicts import Agreement, SignTest, agreement, sign_test
from core.errors import RecipeError
from core.whole_files import replacing
from jobs.evaluate.judge import Pair, Plan, Verdict
from jobs.evaluate.judge_questions import ATTEMPTS, MOST_TOKENS, Asked, Judge
from jobs.evaluate.judge_replies import Replies, Reply
from jobs.evaluate.judge_texts import DOCUMENT, OF_JUDGE, JudgedText

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
class SystemScore:
    """A system's mean score over the summaries that have a verdict; None if none has."""

    system: str
    summaries: int
    no_verdict: int
    mean: Interval | None


@dataclass(frozen=True, slots=True)
class PairResult:
    """How often which of two systems was better.

    A win counts where both orders agree; of several repeats, the one with more wins has won the article.

    Attributes:
        a, b: the systems.
        test: wins of `a` and of `b` over articles.
        ties: articles without a winner, `same` of them since both summaries are equal, which were not asked about.
        no_verdict: articles without a verdict in both orders.
        left_out: articles that one of them has no summary of.
        asked: how often both orders brought a verdict.
        by_position: how often of these the same place won in both orders: A twice, or B twice.
        halfway: how often one order was a tie, and the other none.
        first: the share of A among all verdicts that are no ties.
    """

    a: str
    b: str
    test: SignTest
    ties: int
    same: int
    no_verdict: int
    left_out: int
    asked: int
    by_position: int
    halfway: int
    first: float | None


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge has said of summaries.

    Attributes:
        judge: who, and how it was asked.
        tally: what became of the questions.
        systems: one by one; empty of pairs.
        pair: None where summaries were judged one by one.
        agreement: of the judge with itself; None where it was asked once.
        rows: of the file: the summaries, or pairs, that have a verdict.
    """

    judge: Judge
    tally: Tally
    systems: tuple[SystemScore, ...]
    pair: PairResult | None
    agreement: Agreement | None
    rows: tuple[Mapping[str, Any], ...]

    def as_dict(self) -> dict[str, Any]:
        """What `nws judge --json` prints: every number, and what made it."""
        judge = self.judge
        return {
            "model": judge.endpoint.model,
            "base_url": judge.endpoint.url,
            "prompt": judge.prompt.text,
            "prompt_sha256": judge.prompt.sha256,
            "scale": None if judge.prompt.pairwise else [judge.scale.low, judge.scale.high],
            "seed": judge.seed,
            "repeats": judge.repeats,
            "temperature": int(judge.repeats > 1),
            "max_tokens": MOST_TOKENS,
            "signature": judge.signature,
            "confidence": CONFIDENCE,
            **asdict(self.tally),
            "systems": [asdict(one) for one in self.systems],
            "pair": None if self.pair is None else asdict(self.pair),
            "agreement": None if self.agreement is None else asdict(self.agreement),
        }


def result(plan: Plan, replies: Replies) -> Judged:
    """What the replies say of the summaries of a plan. Those without a verdict are counted, and not scored."""
    verdicts = Verdicts(plan, replies)
    return _of_pairs(plan, verdicts) if plan.judge.prompt.pairwise else _of_single(plan, verdicts)


def _of_single(plan: Plan, verdicts: "Verdicts") -> Judged:
    scores = [[v for one in asked if isinstance(v := verdicts[one], int)] for _, asked in plan.single]
    rows = [
        {
            **text.fields,
            OF_JUDGE: sum(each) / len(each),
            f"{OF_JUDGE}_verdicts": each,
            **_made_by(plan, asked, verdicts),
        }
        for (text, asked), each in zip(plan.single, scores, strict=True)
        if each
    ]
    texts = [text for text, _ in plan.single]
    repeated = {(text.document, text.system): each for text, each in zip(texts, scores, strict=True)}
    return Judged(plan.judge, verdicts.tally(), _by_system(texts, scores), None, agreement(repeated), tuple(rows))


class Verdicts:
    """The verdict on each question, None where there is none."""

    def __init__(self, plan: Plan, replies: Replies) -> None:
        self._plan, self._replies = plan, replies

    def __getitem__(self, asked: Asked) -> Verdict | None:
        said = (self._plan.read(reply) for reply in self._of(asked))
        return next((verdict for verdict in said if verdict is not None), None)

    def _of(self, asked: Asked) -> list[Reply]:
        every = (self._replies.get(asked, attempt) for attempt in range(1, ATTEMPTS + 1))
        return [reply for reply in every if reply is not None]

    def answered_by(self, questions: Iterable[Asked]) -> list[str]:
        """Who says to have answered these, in the order of the names."""
        return sorted({reply.answered_by or _NOT_STATED for asked in questions for reply in self._of(asked)})

    def tally(self) -> Tally:
        questions = self._plan.questions
        replies = [(asked, self._of(asked)) for asked in questions]
        every = [reply for _, each in replies for reply in each]
        without = [each for asked, each in replies if self[asked] is None]
        return Tally(
            questions=len(questions),
            asked_again=sum(len(each) > 1 for _, each in replies),
            no_verdict=sum(len(each) == ATTEMPTS for each in without),
            unanswered=sum(len(each) < ATTEMPTS for each in without),
            answered_by=dict(sorted(Counter(reply.answered_by or _NOT_STATED for reply in every).items())),
            tokens=dict(sum((Counter(reply.tokens) for reply in every), Counter[str]())),
        )


def _by_system(texts: Sequence[JudgedText], scores: Sequence[Sequence[int]]) -> tuple[SystemScore, ...]:
    """The systems, from the highest mean to the lowest. Of a summary, the mean of its repeats counts."""
    by_system: dict[str, list[Sequence[int]]] = {}
    for text, each in zip(texts, scores, strict=True):
        by_system.setdefault(text.system, []).append(each)
    found = []
    for system, of_system in by_system.items():
        means = [sum(each) / len(each) for each in of_system if each]
        without = len(of_system) - len(means)
        found.append(SystemScore(system, len(means), without, mean_interval(means) if means else None))
    return tuple(sorted(found, key=lambda one: (-one.mean.mean if one.mean else 0.0, one.system)))


def _made_by(plan: Plan, questions: Sequence[Asked], verdicts: Verdicts) -> dict[str, Any]:
    judge = plan.judge
    return {
        f"{OF_JUDGE}_model": judge.endpoint.model,
        f"{OF_JUDGE}_answered_by": ", ".join(verdicts.answered_by(questions)),
        f"{OF_JUDGE}_signature": judge.signature,
    }


def _of_pairs(plan: Plan, verdicts: Verdicts) -> Judged:
    rows: list[dict[str, Any]] = []
    whys, winners = Counter[str](), Counter[str]()
    for pair in plan.pairs:
        said = [(verdicts[forward], verdicts[backward]) for forward, backward in pair.asked]
        outcomes = [decided(one, other) for one, other in said if one is not None and other is not None]
        whys.update(why for _, why in outcomes)
        if outcomes or not pair.asked:
            winner = _winner([winner for winner, _ in outcomes])
            winners[winner] += 1
            rows.append(_pair_row(pair, winner, outcomes, said, _made_by(plan, pair.questions, verdicts)))
    repeated = _repeated(plan.pairs, verdicts)
    letters = Counter(verdict for each in repeated.values() for verdict in each)
    no_ties = letters["A"] + letters["B"]
    found = PairResult(
        a=plan.pairs[0].a.system,
        b=plan.pairs[0].b.system,
        test=sign_test(winners["a"], winners["b"]),
        ties=winners["tie"],
        same=sum(not pair.asked for pair in plan.pairs),
        no_verdict=len(plan.pairs) - len(rows),
        left_out=plan.left_out,
        asked=whys.total(),
        by_position=whys["position"],
        halfway=whys["halfway"],
        first=letters["A"] / no_ties if no_ties else None,
    )
    return Judged(plan.judge, verdicts.tally(), (), found, agreement(repeated), tuple(rows))


def _repeated(pairs: Sequence[Pair], verdicts: Verdicts) -> dict[tuple[str, str], list[str]]:
    """By article and order, the verdicts of all repeats."""
    found: dict[tuple[str, str], list[str]] = {}
    for pair in pairs:
        for both in pair.asked:
            for order, asked in zip(("ab", "ba"), both, strict=True):
                if (verdict := verdicts[asked]) is not None:
                    found.setdefault((pair.a.document, order), []).append(str(verdict))
    return found


def decided(forward: Verdict, backward: Verdict) -> tuple[str, str]:
    """The winner of a pair, `a`, `b` or `tie`, and why.

    Args:
        forward: the verdict where `a` stands first: `A`, `B` or `tie`.
        backward: the one where `b` does, so that its `A` is `b`.

    Returns:
        The winner, where both orders name the same one, and `agree`; or a tie that both orders name, `agree`, that
        comes of the same place winning twice, `position`, or of one order only, `halfway`.
    """
    one, other = {"A": "a", "B": "b"}.get(str(forward), "tie"), {"A": "b", "B": "a"}.get(str(backward), "tie")
    if one == other:
        return one, "agree"
    return "tie", "position" if forward == backward else "halfway"


def _winner(outcomes: Sequence[str]) -> str:
    lead = outcomes.count("a") - outcomes.count("b")
    return "a" if lead > 0 else "b" if lead < 0 else "tie"


def _pair_row(
    pair: Pair,
    winner: str,
    outcomes: Sequence[tuple[str, str]],
    said: Sequence[tuple[Verdict | None, Verdict | None]],
    made_by: Mapping[str, Any],
) -> dict[str, Any]:
    return {
        DOCUMENT: pair.a.document,
        **{"a": pair.a.fields, "b": pair.b.fields},
        f"{OF_JUDGE}_winner": winner,
        f"{OF_JUDGE}_why": [why for _, why in outcomes] or ["same"],
        f"{OF_JUDGE}_verdicts": [list(both) for both in said],
        **made_by,
    }


def write_rows(out: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a JSON line for each row to a new or replaced file: all of them, or none.

    Raises:
        RecipeError: the file cannot be written; an older one is as it was.
    """
    try:
        with replacing(out) as unfinished, unfinished.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    except OSError as error:
        raise RecipeError(f"-o {out} cannot be written ({error.strerror or error}).") from error
