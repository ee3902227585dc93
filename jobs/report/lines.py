"""Lines with intervals in a panel: a colour each, thin intervals, and the name of each at its end."""

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from core.types import SystemKind
from jobs.report.looks import At, Look, Series
from jobs.terminal.system_names import SystemNames
from jobs.terminal.table_style import role

MOST_WHISKERS = 5
"""Up to this many lines in a panel have intervals at every n. With more, only those at the last n are drawn."""
LABEL_SIZE = 7.5
LABEL_HEIGHT = 0.145
"""Inches, of one line of a label with what is above it."""
LABEL_LETTER = 0.066
"""Inches that a letter of a label takes, or less."""
_LABEL_X = 1.04
"""Of labels, where the panel ends at 1."""
_LABEL_WIDTH = 34
_LINE_WIDTH, _WHISKER_WIDTH = 1.5, 0.8
_SIDE_BY_SIDE = 0.016
"""Of the distance from the first n to the last, what the intervals of one n take together."""
_WHISKER_OPACITY = 0.55
_RING_SIZE, _RING_WIDTH = 10.0, 1.1
_APART_MARKER = "o"
"""Of a line without markers, where a mean is over fewer articles than the others'."""


def label_text(label: str) -> str:
    """A label over as many lines as it needs: broken after a "|", or where a part alone is too long."""
    head, newline, role_below = label.partition("\n")
    label, lines = head, [""]
    for piece in itertools.chain.from_iterable(map(_pieces, label.split("|"))):
        if lines[-1] and len(lines[-1]) + len(piece) > _LABEL_WIDTH:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines).removesuffix("|") + newline + role_below


def _pieces(part: str) -> list[str]:
    text = part + "|"
    return [text[i : i + _LABEL_WIDTH] for i in range(0, len(text), _LABEL_WIDTH)]


def end_labels(names: SystemNames, kinds: Mapping[str, SystemKind], paper: float | None = None) -> dict[str, str]:
    """What stands at the ends of lines: names with roles, which stand below them where a `paper` leaves little room."""
    return {
        system: names[system] + (role(kind).replace(" ", "\n", 1) if paper else role(kind))
        for system, kind in kinds.items()
    }


def label_size(labels: Iterable[str]) -> tuple[float, float]:
    """Inches that labels of these lines take, one above the other: width and height."""
    lines = [line for label in labels for line in label_text(label).split("\n")]
    return LABEL_LETTER * max(map(len, lines)), LABEL_HEIGHT * len(lines)


def how_intervals_are_drawn(lines: Iterable[int]) -> str:
    """How intervals look in panels with these numbers of lines."""
    counts = [count for count in lines if count]
    styles = {
        "thin bars": any(count <= MOST_WHISKERS for count in counts),
        "thin bars at the ends, of the last n": any(count > MOST_WHISKERS for count in counts),
    }
    return " and ".join(style for style, is_used in styles.items() if is_used)


def draw_lines(
    panel: Axes, lines: Sequence[Series], looks: Mapping[str, Look], labels: Mapping[str, str]
) -> list[Annotation]:
    """Draw each line at its n, with its intervals, its rings and its label.

    Args:
        panel: where to draw.
        lines: what to draw.
        looks: colour, marker and dashes by system.
        labels: what stands at the end of a system's line.

    Returns:
        The labels, each at the height of its line's end: `spread_labels` moves them apart.
    """
    lengths = sorted({at.x for series in lines for at in series.points})
    drawn = []
    for i, series in enumerate(lines):
        look, points = looks[series.name], series.points
        _draw_intervals(panel, points, look, _beside(lengths, i, len(lines)), len(lines))
        if len(points) > 1:
            x, y = [at.x for at in points], [at.y for at in points]
            panel.plot(x, y, color=look.colour, linestyle=look.dashes, linewidth=_LINE_WIDTH)
        _draw_markers(panel, points, look)
        end = (points[-1].x, points[-1].y)
        drawn.append(_label(panel, end, labels.get(series.name, series.name), look))
    if len(lengths) == 1:
        panel.set_xlim(lengths[0] - 1, lengths[0] + 1)
    return drawn


def draw_over_zero(
    panel: Axes,
    lines: Sequence[Series],
    control: Look,
    looks: Mapping[str, Look],
    labels: Mapping[str, str],
    title: str,
) -> list[Annotation]:
    """Draw lines over that of what they are compared with, which is 0, under a small title. Returns their labels."""
    panel.axhline(0, color=control.colour, linestyle=control.dashes, linewidth=1.4, zorder=1.5)
    drawn = draw_lines(panel, lines, looks, labels)
    panel.set_title(title, loc="left", fontsize=8, fontweight="normal", color="#444444")
    return drawn


def leave_empty(panel: Axes, note: str) -> None:
    """Say in a panel why nothing is drawn there."""
    panel.text(0.5, 0.5, note, transform=panel.transAxes, ha="center", color="#666666")
    panel.set_yticks([])


def spread_labels(figure: Figure, panels: Sequence[tuple[Axes, Sequence[Annotation]]]) -> None:
    """Move the labels of each panel up or down, as little as it takes, until none lies on another."""
    figure.draw_without_rendering()  # lays the figure out: only then is known where line ends are
    for panel, labels in panels:
        if not labels:
            continue
        inches = panel.get_window_extent().height / figure.dpi
        ends = np.array(
            [panel.transAxes.inverted().transform(panel.transData.transform(label.xy))[1] for label in labels]
        )
        heights = np.array([LABEL_HEIGHT * len(label.get_text().split("\n")) for label in labels]) / inches
        for label, y in zip(labels, apart(ends, heights), strict=True):
            label.set_y(float(y))


def apart(wanted: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions of labels of these heights, without overlap, between 0 and 1, as near to `wanted` as possible.

    They minimise the sum of squared distances (isotonic regression). Labels whose heights add up to more than 1 begin
    at 0 and go beyond 1.

    Args:
        wanted: float64 of shape (labels,), the middle of each.
        heights: float64 of shape (labels,).
    """
    order = np.argsort(wanted, kind="stable")
    sizes = heights[order]
    below = np.cumsum(sizes) - sizes  # of all labels under each one
    bottoms = isotonic_regression(wanted[order] - sizes / 2 - below).x
    placed = np.empty_like(wanted)
    placed[order] = np.clip(bottoms, 0, max(0.0, 1 - sizes.sum())) + below + sizes / 2
    return placed


def _beside(lengths: Sequence[float], i: int, lines: int) -> float:
    """How far right of its n the i-th line's interval is drawn, so that none hides another.

    Up to `MOST_WHISKERS` the eye sees them at their n. The only bars of more lines stand behind the ends of the lines.
    """
    if lines > MOST_WHISKERS and len(lengths) > 1:
        return _step(lengths) * (0.2 + 0.7 * i / lines)
    return _SIDE_BY_SIDE * (lengths[-1] - lengths[0] or 2) * ((i + 0.5) / lines - 0.5)


def _step(lengths: Sequence[float]) -> float:
    return min((b - a for a, b in itertools.pairwise(lengths)), default=1)


def _draw_intervals(panel: Axes, points: Sequence[At], look: Look, beside: float, lines: int) -> None:
    shown = points if lines <= MOST_WHISKERS else points[-1:]
    panel.vlines(
        [at.x + beside for at in shown],
        [at.y if at.low is None else at.low for at in shown],
        [at.y if at.high is None else at.high for at in shown],
        color=look.colour,
        linewidth=_WHISKER_WIDTH,
        alpha=_WHISKER_OPACITY,
    )


def _draw_markers(panel: Axes, points: Sequence[At], look: Look) -> None:
    for at in points:
        marker = look.marker or (_APART_MARKER if at.hollow else "_" if len(points) == 1 else "")
        face = "white" if at.hollow else look.colour
        panel.plot(at.x, at.y, color=look.colour, marker=marker, markerfacecolor=face, linestyle="")
        if at.ringed:
            (ring,) = panel.plot(at.x, at.y, color=look.colour, marker="o", markerfacecolor="none", linestyle="")
            ring.set(markersize=_RING_SIZE, markeredgewidth=_RING_WIDTH)


def _label(panel: Axes, end: tuple[float, float], label: str, look: Look) -> Annotation:
    return panel.annotate(
        label_text(label),
        xy=end,
        xytext=(_LABEL_X, 0.5),
        textcoords="axes fraction",
        fontsize=LABEL_SIZE,
        color=look.colour,
        va="center",
        annotation_clip=False,
        arrowprops={
            "arrowstyle": "-",
            "color": look.colour,
            "linewidth": 0.5,
            "alpha": 0.6,
            "relpos": (0, 0.5),
            "shrinkA": 1,
            "shrinkB": 3,
        },
    )
