"""How each system is drawn, the same in every panel of a figure: colour, marker and line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from core.analysis import system_order
from core.types import SystemKind

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255")
"""Okabe and Ito (2008) without black and yellow, and a wine red: told apart with any colour vision."""
_MARKERS = ("o", "s", "D", "^", "v", "<", ">")
Dashes = Literal["-"] | tuple[float, tuple[float, ...]]

_GREYS = ("#555555", "#999999", "#BBBBBB")
_BLACK = "#111111"
_DASHED: Dashes = (0, (4, 2))
_DOTTED: tuple[Dashes, ...] = ((0, (1, 1.3)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1.3, 1, 1.3, 1, 1.3)))


@dataclass(frozen=True, slots=True)
class Look:
    """Of one system: `marker` is empty where only a line is drawn."""

    colour: str
    marker: str
    dashes: Dashes


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
            looks[system] = Look(_GREYS[i % len(_GREYS)], "", _DASHED)
        elif kind == "upper bound":
            looks[system] = Look(_BLACK, "", _DOTTED[i % len(_DOTTED)])
        else:
            turn, colour = divmod(i, len(COLOURS))
            line: Dashes = "-" if turn % 2 == 0 else (0, (4, 1))
            looks[system] = Look(COLOURS[colour], _MARKERS[(i + turn) % len(_MARKERS)], line)
    return looks
