"""What to try next, so that the answer says more: other n, or more articles."""

import math
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from core.analysis.content_kept import FEWEST_ARTICLES, Ceiling, ContentKept, SmallestN
from jobs.report.numerals import counted, listed, of_length
from jobs.report.run_list import HALF

OWN_SHARE = 0.8
"""Of what a system keeps with its longest n: the share that the answer is about where no n keeps half."""
_FURTHER = (1.5, 2, 3)
_MOST_OF_REFERENCE = 1.2

ByCeiling: TypeAlias = Mapping[Ceiling, ContentKept]


def next_steps(system: str, held: ByCeiling, of_references: float | None) -> Iterator[str]:
    """What to try next, a sentence each.

    Args:
        system: what the best one is called.
        held: what it keeps.
        of_references: their median length; None where it is not known.
    """
    yield from _other_lengths(held["reference"], of_references)
    yield from _articles(system, held)


def _other_lengths(best: ContentKept, of_references: float | None) -> Iterator[str]:
    """Which other n to try: shorter ones where the shortest keeps half, longer ones where half needs the longest.

    Nothing is tried beyond `_MOST_OF_REFERENCE` times the references' median length: such a text is no summary as they
    are. Where that length is not known, no longer n is named.
    """
    half, shortest = best.by_share[HALF].n, best.lengths[0].n
    if half == shortest:
        shorter = sorted({math.ceil(half / times) for times in _FURTHER} - {half}, reverse=True)
        if shorter:
            yield f"Try n below {half}, such as {listed([str(n) for n in shorter])}."
    elif half in (None, best.longest) and of_references is not None:
        most = math.floor(_MOST_OF_REFERENCE * of_references)
        longer = [n for n in (math.ceil(best.longest * times) for times in _FURTHER) if n <= most]
        if longer:
            yield f"Try n above {best.longest}, such as {listed([str(n) for n in longer])}."
        elif half is None:
            median = of_length(round(of_references), best.length_unit)
            yield f"The references' median is {median}: try other systems."


def _articles(system: str, held: ByCeiling) -> Iterator[str]:
    """How many articles would tell more of it, at the n tried."""
    kept = held["reference"]
    if kept.articles < FEWEST_ARTICLES:
        yield f"With {counted(kept.articles, 'article')} no n is claimed: take at least {FEWEST_ARTICLES}."
    elif answer := _narrowed(held):
        n, articles, of = answer
        length = of_length(n, kept.length_unit)
        case = "" if of == "reference" else f" (nws plan --of {of})"
        yield f"About {articles:,} articles would narrow the interval of {system}'s {length} to one step{case}."


def _narrowed(held: ByCeiling) -> tuple[int, int, Ceiling] | None:
    """The last n that the answer names, how many articles would narrow it, and of what it keeps a share; or None."""
    kept = held.get("person") or held.get("longest") or held["reference"]
    reached = [smallest for smallest in kept.smallest if smallest.n is not None]
    named = reached[-1:] if kept.of == "person" else [smallest for smallest in reached if smallest.x == OWN_SHARE]
    for smallest in named:
        needed = smallest.articles_for_one_step
        if smallest.n is not None and needed is not None and _steps_wide(kept, smallest) > 1:
            return smallest.n, round(needed, 1 - math.floor(math.log10(needed))), kept.of
    return None


def _steps_wide(kept: ContentKept, smallest: SmallestN) -> int:
    """How many steps of the n tried an interval spans. One end may lie beyond the longest."""
    steps: list[int | None] = [*(at.n for at in kept.lengths), None]
    return steps.index(smallest.high) - steps.index(smallest.low)
