"""What a run says of a claim such as "7 to 13 words", in plain sentences: `nws report --claim`."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple

from rich.console import Console

from nws.core.findings.comparisons import FEWEST_ARTICLES
from nws.core.findings.lengths import OF_LONGEST, ClaimedLengths, Step, lengths_text
from nws.core.findings.scores import ONE_SIDED_LEVEL
from nws.core.text.length import LengthUnit
from nws.core.types import RANDOM
from nws.jobs.report.metric_names import metric_name
from nws.jobs.report.numerals import counted, decimals, in_brackets, length_text, listed, percent, percent_interval
from nws.jobs.report.printed_lines import print_line, print_sentence, print_title
from nws.jobs.report.run_report import RunReport

CLAIMS_EXPLAINED = (
    "In brackets: 95 % CIs over articles; for a largest gain, all n that do not gain significantly less. Each step is "
    "named by the n where it ends. Steps are tested together (Holm): what is significant is wrong in at most 5 % of "
    "studies."
)


def headline(claim: ClaimedLengths, unit: LengthUnit) -> str:
    """Word the verdict: what more words add, what the claimed n keep, and whether the tests single these n out."""
    shares = dict.fromkeys(percent(share.mean).removesuffix(" %") for share in claim.shares)
    sure = in_brackets(" and ".join(dict.fromkeys(filter(None, map(percent_interval, claim.shares)))))
    longest = f"{length_text(claim.longest, unit)} keep{sure}"
    keep = f"{'keeps' if claim.high == 1 else 'keep'} {' to '.join(shares)} % of what {longest}"
    if not claim.steps:
        few = f"With {counted(claim.articles, 'article')} nothing is tested: take at least {FEWEST_ARTICLES}."
        return f"{_lengths(claim, unit)} {keep}. {few}"
    there = f"by every metric, the gain over {RANDOM} is significantly largest there"
    singled = there if claim.is_singled_out else "no test singles these lengths out"
    return f"{_steps_clause(claim.steps, unit.removesuffix('s'))}. {_lengths(claim, unit)} {keep}: {singled}."


def sentences(claim: ClaimedLengths, unit: LengthUnit) -> Iterator[tuple[str, str]]:
    """Yield the evidence for the verdict: best n by metric, elbows and steps, each with its heading."""
    by_n = sorted(claim.best, key=lambda at: at.n)
    may_be = {at.metric: lengths_text(claim.lengths, at.may_be) or "unclear" for at in by_n}
    if best := [f"{at.n} by {metric_name(at.metric)} ({may_be[at.metric]})" for at in by_n]:
        yield f"Largest gain over {RANDOM}", f"at n = {listed(best)}."
    if elbows := [f"{at.n} ({_interval(at.low, at.high)}) if {end} is the longest" for end, at in claim.elbows.items()]:
        yield f"Elbow ({percent(OF_LONGEST)} of what the longest n keeps)", f"at n = {listed(elbows)}."
    added = []
    for at in claim.steps:
        mean, *ends = (decimals(100 * end, 1) for end in astuple(at.per_word) if end is not None)
        added.append(f"{mean}{in_brackets(' to '.join(ends))} from {at.start} to {at.end}")
    if added:
        yield f"Points that each further {unit.removesuffix('s')} adds", f"{listed(added)}."


def print_claims(report: RunReport, console: Console) -> None:
    """Print what is said of a claim for each dataset, and how to read it."""
    names, unit = report.names, report.document.unit
    for claim in report.document.claims:
        rests_on = f"{names[claim.system]}, {counted(claim.articles, 'article')}"
        print_title(console, f"{claim.dataset}: {_lengths(claim, unit)}? ({rests_on})")
        print_line(console, headline(claim, unit), style="bold")
        for name, sentence in sentences(claim, unit):
            print_sentence(console, name, sentence)
    if report.document.claims:
        print_line(console, CLAIMS_EXPLAINED, style="dim")


def _lengths(claim: ClaimedLengths, unit: LengthUnit) -> str:
    return f"{claim.low} to " * (claim.low < claim.high) + length_text(claim.high, unit)


def _interval(low: int | None, high: int | None) -> str:
    return f"{low}" if low == high else f"{low}–{high}"


def _steps_clause(steps: Sequence[Step], word: str) -> str:
    more = [at.end for at in steps if at.p_more <= ONE_SIDED_LEVEL]
    less = [at.end for at in steps if at.p_less <= ONE_SIDED_LEVEL]
    adds = f"Every {word} adds content"
    if len(more) < len(steps):
        adds = f"More {word}s keep significantly more content {_at_which_n(steps, more)}"
    if len(more) == len(steps) == len(less) + 1 > 1:
        return f"{adds}, and each adds less than the one before"
    return f"{adds}; each adds significantly less than the one before {_at_which_n(steps[1:], less)}"


def _at_which_n(steps: Sequence[Step], significant: Sequence[int]) -> str:
    """Name the n, at which steps end, that are significant."""
    at = lengths_text(tuple(step.end for step in steps), tuple(significant))
    return f"{'only ' * (len(significant) < len(steps))}at n = {at}" if significant else "at no n"
