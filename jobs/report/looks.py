"""What figures and the page's charts draw: lines of systems, and how each system looks, the same everywhere.

Content kept by n, in per cent, has lines to compare with, too.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.analysis import Interval, system_order
from core.analysis.answer import Answer
from core.analysis.content_kept import ContentKept
from core.summarizers.rulers import PERSON
from core.types import SystemKind
from jobs.report.sweep.kept_answer import share_interval_text, share_text
from jobs.terminal.numerals import counted
from jobs.terminal.system_names import FULL_NAMES, SystemNames
from jobs.terminal.table_style import role

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255")
"""Okabe and Ito (2008) without black and yellow, and a wine red: told apart with any colour vision."""
_MARKERS = ("o", "s", "D", "^", "v", "<", ">")
Dashes = Literal["-"] | tuple[float, tuple[float, ...]]

_GREYS = ("#555555", "#999999", "#BBBBBB")
_BLACK = "#111111"
_DASHED: Dashes = (0, (4, 2))
_DOTTED: tuple[Dashes, ...] = ((0, (1, 1.3)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1.3, 1, 1.3, 1, 1.3)), (0, (7, 1.5)))
_TURNS = 3
"""Classes `turn0` to `turn2` of the page's style sheet."""


@dataclass(frozen=True, slots=True)
class At:
    """A point of a line: `y` at `x`, with the ends of its interval if it has one.

    A hollow point is over fewer articles than others'; what a ring marks, the chart says. `tooltip` is shown on hover.
    """

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    hollow: bool = False
    ringed: bool = False
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """What one line shows, in rising x where that is n: `name` is the system's, or what stands for it."""

    name: str
    points: tuple[At, ...]


def at_interval(n: int, interval: Interval, *, hollow: bool = False, ringed: bool = False, tooltip: str = "") -> At:
    """A point at n words."""
    return At(n, interval.mean, interval.low, interval.high, hollow, ringed, tooltip)


@dataclass(frozen=True, slots=True)
class Look:
    """Of one system, in figures and in the style sheet of the page: `marker` is empty where only a line is drawn."""

    colour: str
    marker: str
    dashes: Dashes
    classes: str


def system_looks(kinds: Mapping[str, SystemKind]) -> dict[str, Look]:
    """Controls grey, upper bounds black, both without markers; all others in colour with markers.

    After the seventh system the colours return, each with another marker and a dashed line.
    """
    looks: dict[str, Look] = {}
    place: dict[SystemKind, int] = {"system": 0, "control": 0, "upper bound": 0}
    for system in sorted(kinds, key=lambda system: system_order(system, kinds[system])):
        kind = kinds[system]
        i, place[kind] = place[kind], place[kind] + 1
        if kind == "control":
            looks[system] = Look(_GREYS[i % len(_GREYS)], "", _DASHED, f"control turn{i % _TURNS}")
        elif kind == "upper bound":
            looks[system] = Look(_BLACK, "", _DOTTED[i % len(_DOTTED)], f"upper turn{i % _TURNS}")
        else:
            turn, colour = divmod(i, len(COLOURS))
            line: Dashes = "-" if turn % 2 == 0 else (0, (4, 1))
            marker = _MARKERS[(i + turn) % len(_MARKERS)]
            looks[system] = Look(COLOURS[colour], marker, line, coloured(colour, turn))
    return looks


def coloured(colour: int, turn: int) -> str:
    """The classes of a line in the i-th colour that has been had so many times before."""
    return f"c{colour % len(COLOURS)} turn{turn % _TURNS}"


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
