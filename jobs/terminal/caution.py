"""The caution that every table adds when its numbers are over few articles."""

from collections.abc import Iterator, Sequence

from core.analysis import Metric
from core.analysis.intervals import FEW_ARTICLES
from jobs.terminal.metrics import metric_name
from jobs.terminal.numerals import counted

SKEWED = "The differences are so skewed for their number that such verdicts may be wrong in more than 7 % of cases"
"""Of verdicts on differences that are `PairedLength.too_skewed`; which verdicts they are is said next."""


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
