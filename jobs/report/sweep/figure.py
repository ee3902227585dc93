"""The figure of a sweep: F1 by n above, the gain over `random` at equal n below, one column per dataset."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from core.analysis import RANDOM, Interval, MagicNumber
from jobs.report.figure_frame import STYLE, Frame, make_figure, save
from jobs.report.looks import APART_MARKER, COLOURS, Look, legend_keys, system_looks
from jobs.report.run_facts import bertscore_signature
from jobs.report.sweep.numbers import Numbers

# Inches, of one panel.
_PANEL, _CROWDED_PANEL = (4.8, 3.0), (7.0, 4.2)
_MOST_TICKS = 15


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


def score_series(numbers: Numbers, dataset: str) -> tuple[Series, ...]:
    """The lines of a dataset's upper panel: mean BERTScore F1 by n."""
    return tuple(
        replace(
            _series(curve.system, [(point.n, point) for point in curve.lengths]),
            apart=tuple(point.n for point in curve.lengths if not point.comparable),
        )
        for curve in numbers.curves_of(dataset)
    )


def gain_series(magic: Sequence[MagicNumber]) -> tuple[Series, ...]:
    """The lines of a lower panel: the mean gain over `random` at equal n, for every system that has one.

    Upper bounds are left out: they gain several times what a system does, and would press all others to the bottom.
    """
    return tuple(
        _series(number.system, [(gain.n, gain.gain) for gain in number.gains], number.recommended)
        for number in magic
        if number.gains and number.kind != "upper bound"
    )


def _series(system: str, at: Sequence[tuple[int, Interval]], recommended: tuple[int, ...] = ()) -> Series:
    return Series(
        system,
        tuple(n for n, _ in at),
        tuple(found.mean for _, found in at),
        tuple(found.mean if found.low is None else found.low for _, found in at),
        tuple(found.mean if found.high is None else found.high for _, found in at),
        recommended,
    )


def plot_sweep(numbers: Numbers, png: Path, svg: Path) -> None:
    """Draw the sweep into a PNG (200 dpi) and an SVG; the same numbers give the same bytes.

    There must be at least one curve.
    """
    with mpl.rc_context(STYLE):
        save(_draw(numbers), png, svg)


def _draw(numbers: Numbers) -> Figure:
    datasets = tuple(dict.fromkeys(curve.dataset for curve in numbers.curves))
    gains = {dataset: gain_series(numbers.magic_numbers_of(dataset)) for dataset in datasets}
    rows = 2 if any(gains.values()) else 1
    kinds = {curve.system: curve.kind for curve in numbers.curves}
    looks = system_looks(kinds)
    crowded = sum(bool(look.marker) for look in looks.values()) > len(COLOURS)
    frame = Frame(
        rows=rows,
        columns=len(datasets),
        panel=_CROWDED_PANEL if crowded else _PANEL,
        title=_title(numbers),
        keys=legend_keys(looks, kinds, has_gains=rows == 2, has_apart=_has_apart(numbers)),
        footer=_footer(numbers),
    )
    figure, panels = make_figure(frame)
    for column, dataset in enumerate(datasets):
        _draw_scores(panels[0, column], numbers, dataset, looks)
        if rows == 2:
            _draw_gains(panels[1, column], gains[dataset], looks)
        panels[-1, column].set_xlabel("summary length n (words)")
    return figure


def _title(numbers: Numbers) -> str:
    return f"Meaning kept in n words: run {numbers.run.id}"


def _footer(numbers: Numbers) -> str:
    run = numbers.run
    has_upper_bound = any(curve.kind == "upper bound" for curve in numbers.curves)
    parts = (
        f"BERTScore F1: {bertscore_signature(run)}",
        "bands: 95 % intervals over articles, of gains for all n at once",
        *(["upper bounds (upper row only) saw the reference; other ways to write may be above them"] * has_upper_bound),
        f"seed {run.seed}",
        f"run {run.state}, {run.articles_done} articles, {run.failures} failed",
        f"code {run.code_version}",
    )
    return " · ".join(parts)


def _has_apart(numbers: Numbers) -> bool:
    return any(not point.comparable for curve in numbers.curves for point in curve.lengths)


def _draw_scores(panel: Axes, numbers: Numbers, dataset: str, looks: Mapping[str, Look]) -> None:
    curves = numbers.curves_of(dataset)
    _draw_lines(panel, score_series(numbers, dataset), looks, hollow=False)
    articles = max(point.articles for curve in curves for point in curve.lengths)
    panel.set_title(f"{dataset} · {articles} article{'' if articles == 1 else 's'}", loc="left")
    panel.set_ylabel("mean BERTScore F1 (1 = as the reference)")
    lengths = sorted({point.n for curve in curves for point in curve.lengths})
    panel.set_xticks(lengths[:: -(-len(lengths) // _MOST_TICKS)])
    panel.margins(x=0.03)
    panel.tick_params(labelbottom=True)


def _draw_gains(panel: Axes, gains: Sequence[Series], looks: Mapping[str, Look]) -> None:
    panel.set_ylabel(f"F1 gain over {RANDOM} at equal n")
    if not gains:
        note = f"no system here beside a {RANDOM} control"
        panel.text(0.5, 0.5, note, transform=panel.transAxes, ha="center", color="#666666")
        panel.set_yticks([])
        return
    control = looks[RANDOM]
    panel.axhline(0, color=control.colour, linestyle=control.dashes, linewidth=1.4, zorder=1.5)
    _draw_lines(panel, gains, looks, hollow=True)


def _draw_lines(panel: Axes, lines: Sequence[Series], looks: Mapping[str, Look], *, hollow: bool) -> None:
    """Each line with its band. With `hollow`, only the markers of recommended n are solid."""
    lengths = {n for series in lines for n in series.n}
    opacity = 0.1 if len(lines) <= len(COLOURS) else 0.04
    for i, series in enumerate(lines):
        look = looks[series.system]
        if len(lengths) == 1:
            # Nothing to draw a line between: side by side, or the intervals would hide each other.
            x = [series.n[0] + 0.1 * (i - (len(lines) - 1) / 2)]
            panel.vlines(x, series.low, series.high, color=look.colour, linewidth=1.4)
            panel.set_xlim(series.n[0] - 1, series.n[0] + 1)
        else:
            x = list(series.n)
            panel.fill_between(x, series.low, series.high, color=look.colour, alpha=opacity, linewidth=0)
            panel.plot(x, series.mean, color=look.colour, linestyle=look.dashes, linewidth=1.6)
        _draw_markers(panel, x, series, look, hollow=hollow)


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
