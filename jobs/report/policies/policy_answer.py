"""Did the policies learn to write better than others at equal n? The answer in plain sentences."""

from collections.abc import Iterator, Mapping

from core.analysis import COMPARED, SystemScore, lengths_text
from jobs.report.metric_names import few, metric_name, not_equal
from jobs.report.numerals import counted, listed, percent
from jobs.report.policies.policy_numbers import PolicyNumbers


def sentences(numbers: PolicyNumbers, dataset: str) -> tuple[tuple[str, str], ...]:
    """What each policy is called that was evaluated on a dataset, and how it compares with other systems at equal n."""
    return tuple(
        (numbers.names[system], f"{_beside_others(at)}{_gap(at)}.")
        for system, at in numbers.of(dataset).items()
        if any(score.is_policy for score in at.values())
    )


def headline(numbers: PolicyNumbers, dataset: str) -> str:
    """How many of the policies that were evaluated on a dataset are shown to be better than which others."""
    policies = [at for at in numbers.of(dataset).values() if any(score.is_policy for score in at.values())]
    versus = [[score.versus for score in at.values()] for at in policies]
    rivals = [rival for rival in COMPARED if any(rival in tested for at_n in versus for tested in at_n)]
    if not rivals:
        return "There is no other system to compare the policies with."
    better = {
        rival: sum(any(rival in tested and tested[rival].better for tested in at_n) for at_n in versus)
        for rival in rivals
    }
    counts = [f"{better[rival] or 'none'} of {len(policies)} than {rival}" for rival in rivals]
    return f"Policies that are shown to be better at some n: {listed(counts)}."


def what_is_known(numbers: PolicyNumbers, dataset: str) -> tuple[str, ...]:
    """How much the answer for a dataset rests on, a sentence each."""
    return tuple(_known(numbers, dataset))


def _beside_others(at: Mapping[int, SystemScore]) -> str:
    better, worse, alike = [], [], []
    for rival in COMPARED:
        versus = {n: score.versus[rival] for n, score in at.items() if rival in score.versus}
        tested = tuple(versus)
        above = tuple(n for n in tested if versus[n].better)
        below = tuple(n for n in tested if versus[n].worse)
        if above:
            better.append(f"{rival} at n = {lengths_text(tested, above)}")
        if below:
            worse.append(f"{rival} at n = {lengths_text(tested, below)}")
        if tested and not above and not below:
            alike.append(rival)
    verdicts = [f"{word} than {listed(others)}" for word, others in (("better", better), ("worse", worse)) if others]
    shown = [f"shown to be {' and '.join(verdicts)}"] if verdicts else []
    if alike:
        shown.append(f"not shown to differ from {listed(alike)} at any n")
    return "; ".join(shown) or "there is no other system to compare it with"


def _gap(at: Mapping[int, SystemScore]) -> str:
    closed = [score.gap_closed for score in at.values() if score.gap_closed is not None]
    if not closed:
        return ""
    least, most = (percent(extreme(closed)) for extreme in (min, max))
    span = most if least == most else f"{least} to {most}"
    return f"; it closes {span} of the gap between textrank and the oracle"


def _known(numbers: PolicyNumbers, dataset: str) -> Iterator[str]:
    scores = [score for at in numbers.of(dataset).values() for score in at.values()]
    counts, lengths = [score.articles for score in scores], sorted({score.n for score in scores})
    fewest, most = min(counts), max(counts)
    size = counted(most, "test article") if fewest == most else f"{fewest} to {counted(most, 'test article')}"
    span = f"n = {lengths[0]}" if len(lengths) == 1 else f"{len(lengths)} lengths from {lengths[0]} to {lengths[-1]}"
    yield f"It rests on {size} at {span}, in {metric_name(numbers.metric)}."
    if caution := few(fewest):
        yield caution
    if numbers.other_lengths_of(dataset):
        yield not_equal(numbers.run.length_unit)
