"""Lines with intervals in a panel: a colour each, thin intervals, and the name of each at its end."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from core.analysis import Interval
from jobs.report.looks import APART_MARKER, Look

MOST_BANDS = 3
"""Up to this many lines in a panel have bands as intervals. More bands would hide each other."""
MOST_WHISKERS = 8
"""Up to this many lines have intervals at every n. With more, only those at the last n are drawn."""
LABEL_SIZE = 7.5
LABEL_HEIGHT = 0.145
"""Inches, of one line of a label with what is above it."""
LABEL_LETTER = 0.066
"""Inches that a letter of a label takes, or less."""
_LABEL_X = 1.04
"""Of labels, where the panel ends at 1."""
_LABEL_WIDTH = 34
_LINE_WIDTH, _WHISKER_WIDTH = 1.5, 0.8
_SIDE_BY_SIDE = 0.4
"""Of the distance between two n, what the lines take when they are drawn side by side."""
_BAND_OPACITY, _WHISKER_OPACITY = 0.13, 0.55


@dataclass(frozen=True, slots=True)
class Series:
    """What one line of a panel shows: heights and interval ends at each n, and which n are recommended.

    Where there is no interval its ends are the height. Means at the n of `apart` are over fewer articles than others.
    """

    system: str
    n: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    recommended: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()


def make_series(
    system: str,
    at: Sequence[tuple[int, Interval]],
    recommended: tuple[int, ...] = (),
    apart: tuple[int, ...] = (),
) -> Series:
    return Series(
        system,
        tuple(n for n, _ in at),
        tuple(interval.mean for _, interval in at),
        tuple(interval.mean if interval.low is None else interval.low for _, interval in at),
        tuple(interval.mean if interval.high is None else interval.high for _, interval in at),
        recommended,
        apart,
    )


def label_text(system: str) -> str:
    """A name over as many lines as it needs: broken after a "|", or where a part alone is too long."""
    lines = [""]
    for piece in itertools.chain.from_iterable(map(_pieces, system.split("|"))):
        if lines[-1] and len(lines[-1]) + len(piece) > _LABEL_WIDTH:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines).removesuffix("|")


def _pieces(part: str) -> list[str]:
    text = part + "|"
    return [text[i : i + _LABEL_WIDTH] for i in range(0, len(text), _LABEL_WIDTH)]


def label_size(systems: Sequence[str]) -> tuple[float, float]:
    """Inches that labels of these lines take, one above the other: width and height."""
    lines = [line for system in systems for line in label_text(system).split("\n")]
    return LABEL_LETTER * max(map(len, lines)), LABEL_HEIGHT * len(lines)


def how_intervals_are_drawn(lines: Iterable[int]) -> str:
    """How intervals look in panels with these numbers of lines."""
    counts = [count for count in lines if count]
    styles = {
        "bands": any(count <= MOST_BANDS for count in counts),
        "thin bars": any(MOST_BANDS < count <= MOST_WHISKERS for count in counts),
        "thin bars at the ends, of the last n": any(count > MOST_WHISKERS for count in counts),
    }
    return " and ".join(style for style, is_used in styles.items() if is_used)


def draw_lines(
    panel: Axes, lines: Sequence[Series], looks: Mapping[str, Look], suffixes: Mapping[str, str], *, hollow: bool
) -> list[Annotation]:
    """Draw each line with its intervals and its label. With `hollow`, only the markers of recommended n are solid.

    Args:
        panel: where to draw.
        lines: what to draw.
        looks: colour, marker and dashes by system.
        suffixes: what a label says after the system's name.
        hollow: whether markers say which n is recommended.

    Returns:
        The labels, each at the height of its line's end: `spread_labels` moves them apart.
    """
    lengths = sorted({n for series in lines for n in series.n})
    labels = []
    for i, series in enumerate(lines):
        look = looks[series.system]
        x = [n + _aside(lengths, i, len(lines)) for n in series.n]
        _draw_intervals(panel, x, series, look, _past_end(lengths, i, len(lines)), len(lines))
        if len(x) > 1:
            panel.plot(x, series.mean, color=look.colour, linestyle=look.dashes, linewidth=_LINE_WIDTH)
        _draw_markers(panel, x, series, look, hollow=hollow)
        labels.append(_label(panel, (x[-1], series.mean[-1]), series.system, suffixes.get(series.system, ""), look))
    if len(lengths) == 1:
        panel.set_xlim(lengths[0] - 1, lengths[0] + 1)
    return labels


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


def _aside(lengths: Sequence[int], i: int, lines: int) -> float:
    """How far right of its n the i-th line is drawn, so that the bars of none hide those of another."""
    if len(lengths) > 1 and not MOST_BANDS < lines <= MOST_WHISKERS:
        return 0.0
    return _SIDE_BY_SIDE * _step(lengths) * ((i + 0.5) / lines - 0.5)


def _past_end(lengths: Sequence[int], i: int, lines: int) -> float:
    """How far right of the end of a line its only bar is drawn, where there are too many for others."""
    return _step(lengths) * (0.2 + 0.7 * i / lines) if lines > MOST_WHISKERS and len(lengths) > 1 else 0.0


def _step(lengths: Sequence[int]) -> int:
    return min((b - a for a, b in itertools.pairwise(lengths)), default=1)


def _draw_intervals(panel: Axes, x: Sequence[float], series: Series, look: Look, past_end: float, lines: int) -> None:
    if lines <= MOST_BANDS and len(x) > 1:
        panel.fill_between(x, series.low, series.high, color=look.colour, alpha=_BAND_OPACITY, linewidth=0)
        return
    at = slice(None) if lines <= MOST_WHISKERS else slice(-1, None)
    panel.vlines(
        [place + past_end for place in x[at]],
        series.low[at],
        series.high[at],
        color=look.colour,
        linewidth=_WHISKER_WIDTH,
        alpha=_WHISKER_OPACITY,
    )


def _draw_markers(panel: Axes, x: Sequence[float], series: Series, look: Look, *, hollow: bool) -> None:
    alike: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
    for at, n, mean in zip(x, series.n, series.mean, strict=True):
        marker = APART_MARKER if n in series.apart else look.marker or ("_" if len(x) == 1 else "")
        face = "white" if hollow and n not in series.recommended else look.colour
        lengths, means = alike.setdefault((marker, face), ([], []))
        lengths.append(at)
        means.append(mean)
    for (marker, face), (lengths, means) in alike.items():
        panel.plot(lengths, means, color=look.colour, marker=marker, markerfacecolor=face, linestyle="")


def _label(panel: Axes, end: tuple[float, float], system: str, suffix: str, look: Look) -> Annotation:
    return panel.annotate(
        label_text(system) + suffix,
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
