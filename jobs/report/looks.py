"""What figures and the page's charts draw: lines of systems, and how each system looks, the same everywhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from core.analysis import Interval, system_order
from core.types import SystemKind

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
