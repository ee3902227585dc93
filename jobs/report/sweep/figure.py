"""The figure of a sweep: scores by n above, the gain over `random` at equal n below, one column per dataset."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from core.analysis import RANDOM
from jobs.report.figure_frame import STYLE, Frame, make_figure, prepare_text, save
from jobs.report.lines import (
    Series,
    draw_lines,
    draw_over_zero,
    how_intervals_are_drawn,
    label_size,
    leave_empty,
    make_series,
    spread_labels,
)
from jobs.report.looks import Look, system_looks
from jobs.report.sweep.numbers import Numbers
from jobs.terminal.metrics import metric_name, metric_signature, spaced_signature
from jobs.terminal.numerals import counted
from jobs.terminal.table_style import role

# Inches, of one panel without labels, and of what is written around it.
_PANEL, _AROUND = (4.4, 2.7), 0.7
_MOST_TICKS = 15


def score_series(numbers: Numbers, dataset: str) -> tuple[Series, ...]:
    """The lines of a dataset's upper panel: mean score by n."""
    return tuple(
        make_series(
            curve.system,
            [(point.n, point) for point in curve.lengths],
            apart=tuple(point.n for point in curve.lengths if not point.comparable),
        )
        for curve in numbers.curves_of(dataset)
    )


def gain_series(numbers: Numbers, dataset: str) -> tuple[Series, ...]:
    """The lines of a dataset's lower panel: the mean gain over `random` at equal n, for every system that has one.

    Upper bounds are left out: they gain several times as much as systems, so the other lines would be squeezed.
    Candidates for the largest gain have a ring. If no n is ruled out, none has one.
    """
    apart = {series.system: series.apart for series in score_series(numbers, dataset)}
    return tuple(
        make_series(
            number.system,
            [(gain.n, gain.gain) for gain in number.gains],
            number.recommended if number.is_conclusive else (),
            apart[number.system],
        )
        for number in numbers.magic_numbers_of(dataset)
        if number.gains and number.kind != "upper bound"
    )


def plot_sweep(numbers: Numbers, png: Path, svg: Path) -> str | None:
    """Draw the sweep into a PNG (200 dpi) and an SVG; the same numbers and fonts give the same bytes.

    There must be at least one curve.

    Returns:
        What the reader must be told of the letters in it, if anything.
    """
    with mpl.rc_context(STYLE):
        figure, warning = draw_sweep(numbers)
        save(figure, png, svg)
    return warning


def draw_sweep(numbers: Numbers) -> tuple[Figure, str | None]:
    """The figure of a sweep with at least one curve, and what its reader must be told of its letters, if anything."""
    with mpl.rc_context(STYLE):
        figure, labels = _draw(numbers)
        warning = prepare_text(figure)
        spread_labels(figure, labels)
    return figure, warning


def _draw(numbers: Numbers) -> tuple[Figure, list[tuple[Axes, list[Annotation]]]]:
    datasets = tuple(dict.fromkeys(curve.dataset for curve in numbers.curves))
    gains = {dataset: gain_series(numbers, dataset) for dataset in datasets}
    rows = 2 if any(gains.values()) else 1
    kinds = {curve.system: curve.kind for curve in numbers.curves}
    looks, roles = system_looks(kinds), {system: role(kind) for system, kind in kinds.items()}
    label_width, label_height = label_size([system + roles[system] for system in kinds])
    frame = Frame(
        rows=rows,
        columns=len(datasets),
        panel=(_PANEL[0] + _AROUND + label_width, max(_PANEL[1], label_height) + _AROUND),
        title=f"Meaning kept in n words: run {numbers.run.id}",
        footer=_footer(numbers, gains),
    )
    figure, panels = make_figure(frame)
    labels = []
    for column, dataset in enumerate(datasets):
        labels.append((panels[0, column], _draw_scores(panels[0, column], numbers, dataset, looks, roles)))
        if rows == 2:
            labels.append((panels[1, column], _draw_gains(panels[1, column], gains[dataset], looks, roles)))
        panels[-1, column].set_xlabel("summary length n (words)")
    return figure, labels


def _footer(numbers: Numbers, gains: Mapping[str, Sequence[Series]]) -> str:
    run = numbers.run
    lines = [len(rows) for dataset in gains for rows in (numbers.curves_of(dataset), gains[dataset])]
    has_upper_bound = any(curve.kind == "upper bound" for curve in numbers.curves)
    has_apart = any(not point.comparable for curve in numbers.curves for point in curve.lengths)
    parts = (
        f"{metric_name(numbers.metric)}: {spaced_signature(metric_signature(run, numbers.metric))}",
        f"{how_intervals_are_drawn(lines)}: 95 % intervals over articles, of gains for all n at once",
        *(
            ["upper bounds (upper row only) saw the reference; another way of writing may score higher"]
            * has_upper_bound
        ),
        *(["hollow marker: lacks articles that others have, so it is not compared with theirs"] * has_apart),
        f"seed {run.seed}",
        f"run {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed",
        f"code {run.code_version}",
    )
    return " · ".join(parts)


def _draw_scores(
    panel: Axes, numbers: Numbers, dataset: str, looks: Mapping[str, Look], roles: Mapping[str, str]
) -> list[Annotation]:
    curves = numbers.curves_of(dataset)
    labels = draw_lines(panel, score_series(numbers, dataset), looks, roles)
    articles = max(point.articles for curve in curves for point in curve.lengths)
    panel.set_title(f"{dataset} · {counted(articles, 'article')}", loc="left")
    panel.set_ylabel(f"mean {metric_name(numbers.metric)}")
    lengths = sorted({point.n for curve in curves for point in curve.lengths})
    panel.set_xticks(lengths[:: -(-len(lengths) // _MOST_TICKS)])
    panel.margins(x=0.03)
    panel.tick_params(labelbottom=True)
    return labels


def _draw_gains(
    panel: Axes, gains: Sequence[Series], looks: Mapping[str, Look], roles: Mapping[str, str]
) -> list[Annotation]:
    panel.set_ylabel(f"gain over {RANDOM} at equal n")
    if not gains:
        leave_empty(panel, f"no system here beside a {RANDOM} control")
        return []
    rings = "ring: candidate for the largest gain, not ruled out with 95 % confidence"
    title = rings if any(series.ringed for series in gains) else "no n can be recommended"
    return draw_over_zero(panel, gains, looks[RANDOM], looks, roles, title)
