"""What a judge has said, in the terminal: a table and sentences."""

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from core.analysis.intervals import Interval
from core.analysis.paired import ALPHA
from core.analysis.verdicts import Agreement
from jobs.evaluate.judge import Plan, unasked
from jobs.evaluate.judge_questions import ATTEMPTS, MOST_TOKENS, Judge
from jobs.evaluate.judge_replies import Replies
from jobs.evaluate.judge_results import Judged, PairResult
from jobs.terminal.columns import Column, print_table
from jobs.terminal.metrics import few
from jobs.terminal.numerals import counted, decimals, interval_text, listed, p_text, percent
from jobs.terminal.system_names import SystemNames
from jobs.terminal.table_style import names_column, print_line, print_shared


def print_judged(found: Judged, names: SystemNames, out: Path, console: Console) -> None:
    """Print who judged, what it said of each system or of the pair, and what a reader must know of it."""
    for line in _who(found):
        print_line(console, line)
    console.print()
    if found.pair is None:
        _print_systems(found, names, console)
    else:
        for line in _of_pair(found.pair, names):
            print_line(console, line)
    if found.agreement is not None:
        print_line(console, _itself(found.agreement, found.judge))
    console.print()
    for line in _cautions(found):
        print_line(console, line, style="yellow")
    print_shared(names, console)
    for line in _how_to_read(found, out):
        print_line(console, line, style="dim")


def _who(found: Judged) -> Iterator[str]:
    judge, tally = found.judge, found.tally
    scale = "in pairs, in both orders" if judge.prompt.pairwise else f"scores from {judge.scale}"
    times = "" if judge.repeats == 1 else f", each asked {judge.repeats} times"
    yield f"Judge: {judge.endpoint.model}, {scale}{times}; prompt {judge.prompt.sha256}, seed {judge.seed}"
    yield f"Answered by {listed([f'{name} ({count})' for name, count in tally.answered_by.items()] or ['nobody'])}."


def _print_systems(found: Judged, names: SystemNames, console: Console) -> None:
    columns = [
        Column("summaries", [Text(str(one.summaries)) for one in found.systems]),
        Column("mean score", [Text(decimals(one.mean.mean, 2) if one.mean else "none") for one in found.systems]),
        Column("95 % interval", [Text(_ends(one.mean, 2)) for one in found.systems]),
        Column("no verdict", [Text(str(one.no_verdict)) for one in found.systems]),
    ]
    print_table(names_column("system", [Text(names[one.system]) for one in found.systems]), columns, console, gap=2)
    console.print()
    best = found.systems[0]
    if best.mean is not None and len(found.systems) > 1:
        print_line(console, f"{names[best.system]} has the highest mean score, {decimals(best.mean.mean, 2)}.")


def _ends(interval: Interval | None, places: int) -> str:
    return interval_text(interval, places) if interval else ""


def _of_pair(pair: PairResult, names: SystemNames) -> Iterator[str]:
    a, b, test = names[pair.a], names[pair.b], pair.test
    articles = test.wins + test.losses + pair.ties
    yield f"{counted(articles, 'article')}: {a} won {test.wins}, {b} won {test.losses}, and {pair.ties} ended in a tie."
    if test.share is None or test.p is None:
        yield "Nobody has won, so nothing is tested."
    else:
        better = "" if test.wins == test.losses else f"{a if test.wins > test.losses else b} is judged better"
        sure = "more than chance" if test.p < ALPHA else "this may be chance"
        said = f"{better}: {sure}" if better else "Neither is judged better"
        yield (
            f"{said} (sign test, p {p_text(test.p)}). {a} won {percent(test.share.mean)} of the articles that "
            f"somebody won (95 % interval {_percents(test.share)})."
        )
    if pair.asked:
        yield (
            f"Position decided {percent(pair.by_position / pair.asked)} of {counted(pair.asked, 'pair')}: the summary "
            f"in the same place won in both orders. In {percent(pair.halfway / pair.asked)} only one order was a tie."
        )
    if pair.first is not None:
        yield f"The summary in the first place got {percent(pair.first)} of the verdicts that were no ties."
    if pair.same:
        yield f"In {counted(pair.same, 'article')} both summaries are equal: a tie, which was not asked about."


def _percents(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return "none"
    return f"{percent(interval.low)} to {percent(interval.high)}"


def _itself(found: Agreement, judge: Judge) -> str:
    in_pairs = judge.prompt.pairwise
    what = "choice" if in_pairs else "score"
    about = f"{counted(found.units, 'pair')}, each order counted" if in_pairs else counted(found.units, "summary")
    alpha = "undefined, since all verdicts are equal" if found.alpha is None else decimals(found.alpha, 2)
    between = f" (95 % interval {_percents(found.exact)})" if found.exact.low is not None else ""
    return (
        f"Asked again, the judge made the same {what} in {percent(found.exact.mean)} of cases{between}. Krippendorff's "
        f"alpha: {alpha}. It was asked {judge.repeats} times about {about}."
    )


def _cautions(found: Judged) -> Iterator[str]:
    tally = found.tally
    if tally.asked_again:
        again = f"{counted(tally.asked_again, 'reply')} held no verdict and brought the question again."
        yield f"{again} {counted(tally.no_verdict, 'question')} got none then either: not scored."
    if tally.unanswered:
        yield f"{counted(tally.unanswered, 'question')} got no reply. The same command asks only these."
    if len(tally.answered_by) > 1:
        yield "Several models have answered under this name: their verdicts are mixed here. See judge_answered_by."
    if found.pair is not None and found.pair.left_out:
        yield f"{counted(found.pair.left_out, 'article')} left out, of which one of the two has no summary."
    fewest = min((one.summaries for one in found.systems), default=0)
    if found.pair is None and (caution := few(fewest, "summaries")):
        yield caution


def _how_to_read(found: Judged, out: Path) -> Iterator[str]:
    tokens = found.tally.tokens
    read, written = tokens.get("prompt_tokens", 0), tokens.get("completion_tokens", 0)
    yield f"All of it took {read:,} tokens read and {written:,} written, as far as the endpoint counts them."
    if found.pair is None:
        yield f"A judge is no person. Hold it against some: nws correlate {out} --metrics judge --human FIELD"


def print_dry(plan: Plan, replies: Replies, console: Console) -> None:
    """Print what would be sent."""
    for line in dry_lines(plan, replies):
        print_line(console, line)


def dry_lines(plan: Plan, replies: Replies) -> Iterator[str]:
    """How many requests there would be, and about how many tokens."""
    to_send = to_ask(plan, replies)
    answered = len(plan.questions) - to_send["requests"] + to_send["second"]
    yield (
        f"{counted(to_send['requests'], 'request')} to {plan.judge.endpoint.model} at {plan.judge.endpoint.url}, about "
        f"{to_send['tokens']:,} tokens to read, and at most {to_send['most_written']:,} to write."
    )
    yield f"{counted(len(plan.questions), 'question')} in all, {answered} of them answered in {replies.path}."
    yield "A reply that holds no verdict is asked for once more. Before all a greeting of a few tokens is sent."


def to_ask(plan: Plan, replies: Replies) -> dict[str, int]:
    """What `--dry-run --json` prints: requests, `second` of them for replies without a verdict, and their tokens."""
    attempts = [unasked(plan, replies, attempt) for attempt in range(1, ATTEMPTS + 1)]
    missing = [asked for each in attempts for asked in each]
    return {
        "questions": len(plan.questions),
        "requests": len(missing),
        "second": len(missing) - len(attempts[0]),
        "tokens": sum(asked.tokens for asked in missing),
        "most_written": MOST_TOKENS * len(missing),
    }
