"""The lines of content kept by n, in per cent, with those to compare with: on the page and in figures alike."""

import math
from collections.abc import Iterator, Sequence

from core.analysis.answer import Answer
from core.analysis.content_kept import ContentKept
from core.summarizers.rulers import PERSON
from core.types import SystemKind
from jobs.report.looks import At, Series
from jobs.report.sweep.kept_answer import share_interval_text, share_text
from jobs.terminal.numerals import counted
from jobs.terminal.system_names import FULL_NAMES, SystemNames
from jobs.terminal.table_style import role

WHOLE = "person, in full"
"""What another person's whole summary keeps: the same at every n."""
GUIDES = {50.0: "half", 90.0: "90 %"}
"""Shares that readers look for."""
_STEP = 20.0


def kept_series(answer: Answer, dataset: str, names: SystemNames = FULL_NAMES) -> tuple[Series, ...]:
    """A line for each system, and one for a person's whole summaries where the run has them."""
    of_reference = [held["reference"] for held in answer.of(dataset).values()]
    lines = [Series(kept.system, tuple(_points(kept, names[kept.system]))) for kept in of_reference]
    person = answer.uncut_of(dataset).get(PERSON)
    if person is not None and lines:
        lengths = [at.n for kept in of_reference for at in kept.lengths]
        share = person.score.mean
        tooltip = f"another person's whole summary, {person.words:.0f} words on average: {share_text(share)}"
        ends = dict.fromkeys((min(lengths), max(lengths)))
        lines.append(Series(WHOLE, tuple(At(n, 100 * share, tooltip=tooltip) for n in ends)))
    return tuple(lines)


def kept_top(lines: Sequence[Series]) -> float:
    """Where the axis of these lines ends: above them and half, and not at 100 % if they end far below."""
    highest = max(at.y if at.high is None else at.high for line in lines for at in line.points)
    return max(3 * _STEP, _STEP * math.ceil(highest / _STEP))


def kept_kinds(answer: Answer) -> dict[str, SystemKind]:
    """What each line is."""
    kinds: dict[str, SystemKind] = {kept.system: kept.kind for kept in answer.of_systems}
    return kinds | {WHOLE: "upper bound"} if any(uncut.system == PERSON for uncut in answer.uncut) else kinds


def _points(kept: ContentKept, name: str) -> Iterator[At]:
    for at in kept.lengths:
        share = at.share
        interval = share_interval_text(share) or "no interval"
        told = f"{share_text(share.mean)} ({interval}, {counted(at.articles, 'article')})"
        # No mean share is above 1 and hardly one below 0, though an interval may end there: it would stretch the axis.
        least = min(0.0, 100 * share.mean)
        low, high = (None if end is None else min(max(100 * end, least), 100.0) for end in (share.low, share.high))
        yield At(at.n, 100 * share.mean, low, high, tooltip=f"{name}{role(kept.kind)}, n = {at.n}: {told}")
