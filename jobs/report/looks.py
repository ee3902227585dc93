"""How each system is drawn, the same in every panel of a figure: colour, marker and line, and its key in the legend."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from matplotlib.lines import Line2D

from core.analysis import LEAD, RANDOM, system_order
from jobs.terminal.table_style import role

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255")
"""Okabe and Ito (2008) without black and yellow, and a wine red: told apart with any colour vision."""
_MARKERS = ("o", "s", "D", "^", "v", "<", ">")
_GREYS = {LEAD: "#555555", RANDOM: "#999999"}
_BLACK = "#111111"
_DASHED, _DOTTED, _DASH_DOTTED = (0, (4, 2)), (0, (1, 1.3)), (0, (5, 1.5, 1, 1.5))

Dashes = Literal["-"] | tuple[float, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Look:
    """Of one system: `marker` is empty where only a line is drawn."""

    colour: str
    marker: str
    dashes: Dashes


def system_looks(systems: Iterable[str]) -> dict[str, Look]:
    """Controls grey, upper bounds black, both without markers; all others in colour with markers.

    After the seventh system the colours return, each with another marker and a dashed line.
    """
    black: dict[str, Dashes] = {"oracle": _DOTTED, "window-oracle": _DASH_DOTTED}
    looks = {}
    for i, system in enumerate(sorted(set(systems), key=system_order)):
        turn, colour = divmod(i, len(COLOURS))
        if system in _GREYS:
            looks[system] = Look(_GREYS[system], "", _DASHED)
        elif system in black:
            looks[system] = Look(_BLACK, "", black[system])
        else:
            line: Dashes = "-" if turn % 2 == 0 else (0, (4, 1))
            looks[system] = Look(COLOURS[colour], _MARKERS[(i + turn) % len(_MARKERS)], line)
    return looks


def legend_keys(looks: Mapping[str, Look], *, has_gains: bool) -> list[Line2D]:
    """A key per system, and with `has_gains` two that tell solid from hollow markers."""
    keys = [
        Line2D([], [], label=system + role(system), color=look.colour, marker=look.marker, linestyle=look.dashes)
        for system, look in looks.items()
    ]
    if has_gains:
        for label, face in (("recommended n", "#333333"), ("other n (lower row)", "white")):
            keys.append(Line2D([], [], label=label, color="#333333", marker="o", ls="", markerfacecolor=face))
    return keys
