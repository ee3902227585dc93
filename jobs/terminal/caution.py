"""What tables and answers say where numbers are over few articles, or systems do not all write n words."""

from collections.abc import Iterator, Mapping, Sequence

from core.analysis import Metric
from core.analysis.intervals import FEW_ARTICLES
from jobs.terminal.metrics import metric_name
from jobs.terminal.numerals import counted

SKEWED = "Less sure, because the differences are skewed (wrong in perhaps more than 7 % of cases)"
"""Of verdicts on differences that are `PairedLength.too_skewed`; which verdicts they are is said next."""
NOT_EQUAL = (
    "Where systems do not write n words, they are not compared at equal length: a longer summary has a higher F1 "
    "because of its length alone."
)


def few(count: int, noun: str = "articles") -> str | None:
    """The caution for `count` of `noun`; None where there are enough."""
    if count >= FEW_ARTICLES or count < 2:  # one has no interval
        return None
    return f"With {count} {noun} the intervals understate the uncertainty: treat them as indicative."


def basis(points: Sequence[tuple[int, int]], noun: str, metric: Metric) -> Iterator[str]:
    """The sentences on what an answer rests on: how many of `noun` at which n, and a caution if they are few.

    Args:
        points: each n, with how many there are.
        noun: whose plural ends in s.
        metric: of the answer.
    """
    counts, lengths = [count for _, count in points], sorted({n for n, _ in points})
    fewest, most = min(counts), max(counts)
    size = counted(most, noun) if fewest == most else f"{fewest} to {counted(most, noun)}"
    span = f"n = {lengths[0]}" if len(lengths) == 1 else f"{len(lengths)} lengths from {lengths[0]} to {lengths[-1]}"
    yield f"It rests on {size} at {span}, in {metric_name(metric)}."
    if caution := few(fewest):
        yield caution


def length_notes(words: Mapping[str, Mapping[int, float]]) -> tuple[str, ...]:
    """Which systems do not write n words, and what that means for comparisons; nothing if all do.

    Args:
        words: by system and n the mean number of words.
    """
    told = tuple(filter(None, (_writes_other_lengths(system, by_n) for system, by_n in words.items())))
    return (*told, NOT_EQUAL) if told else ()


def _writes_other_lengths(system: str, words: Mapping[int, float]) -> str | None:
    """A sentence that says how many words a system writes, at the n from which that is farthest.

    Args:
        system: its name.
        words: mean number of words by n.

    Returns:
        None if it always writes n words.
    """
    other = {n: mean for n, mean in words.items() if mean != n}
    if not other:
        return None
    n = max(other, key=lambda n: (abs(1 - other[n] / n), n))
    at = "" if len(words) == 1 else f"; at {len(other)} of {len(words)} n it is not n"
    return f"{system} wrote {other[n]:.1f} words on average at n = {n}{at}."
