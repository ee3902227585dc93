"""The figure of a test: scores by n above, the difference to TextRank at equal n below, one column per dataset."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from core.analysis import TEXTRANK
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
from jobs.report.policies.numbers import PolicyNumbers
from jobs.terminal.metrics import metric_name, metric_signature, spaced_signature
from jobs.terminal.numerals import counted
from jobs.terminal.table_style import role

# Inches, of one panel without labels, and of what is written around it.
_PANEL, _AROUND = (4.4, 2.7), 0.7


def score_series(numbers: PolicyNumbers, dataset: str) -> tuple[Series, ...]:
    """The lines of a dataset's upper panel: mean score by n on test articles."""
    return tuple(
        make_series(
            system,
            [(n, score.score) for n, score in at.items()],
            apart=tuple(n for n, score in at.items() if not score.comparable),
        )
        for system, at in numbers.of(dataset).items()
    )


def difference_series(numbers: PolicyNumbers, dataset: str) -> tuple[Series, ...]:
    """The lines of a lower panel: each system minus TextRank, paired by article, at the n where it is a rival.

    Upper bounds are compared with none. An n where the difference is significant has a ring.
    """
    series = []
    for system, at in numbers.of(dataset).items():
        versus = [(n, score.versus[TEXTRANK].difference) for n, score in at.items() if TEXTRANK in score.versus]
        if versus:
            different = tuple(n for n, score in at.items() if n in dict(versus) and score.versus[TEXTRANK].significant)
            apart = tuple(n for n, _ in versus if not at[n].comparable)
            series.append(make_series(system, versus, different, apart))
    return tuple(series)


def plot_scores(numbers: PolicyNumbers, png: Path, svg: Path) -> str | None:
    """Draw the test scores into a PNG (200 dpi) and an SVG; the same numbers and fonts give the same bytes.

    There must be at least one score.

    Returns:
        What the reader must be told of the letters in it, if anything.
    """
    with mpl.rc_context(STYLE):
        figure, labels = _draw(numbers)
        warning = prepare_text(figure)
        spread_labels(figure, labels)
        save(figure, png, svg)
    return warning


def _draw(numbers: PolicyNumbers) -> tuple[Figure, list[tuple[Axes, list[Annotation]]]]:
    differences = {dataset: difference_series(numbers, dataset) for dataset in numbers.datasets}
    rows = 2 if any(differences.values()) else 1
    kinds = {score.system: score.kind for score in numbers.scores}
    looks, roles = system_looks(kinds), {system: role(kind) for system, kind in kinds.items()}
    label_width, label_height = label_size([system + roles[system] for system in kinds])
    frame = Frame(
        rows=rows,
        columns=len(numbers.datasets),
        panel=(_PANEL[0] + _AROUND + label_width, max(_PANEL[1], label_height) + _AROUND),
        title=f"Policies on test articles: run {numbers.run.id}",
        footer=_footer(numbers, differences),
    )
    figure, panels = make_figure(frame)
    labels = []
    for column, dataset in enumerate(numbers.datasets):
        labels.append((panels[0, column], _draw_scores(panels[0, column], numbers, dataset, looks, roles)))
        if rows == 2:
            below = panels[1, column]
            labels.append((below, _draw_differences(below, differences[dataset], looks, roles)))
        panels[-1, column].set_xlabel("summary length n (words)")
    return figure, labels


def _footer(numbers: PolicyNumbers, differences: Mapping[str, Sequence[Series]]) -> str:
    run = numbers.run
    lines = [len(rows) for dataset in numbers.datasets for rows in (numbers.of(dataset), differences[dataset])]
    parts = (
        f"{metric_name(numbers.metric)}: {spaced_signature(metric_signature(run, numbers.metric))}",
        f"{how_intervals_are_drawn(lines)}: 95 % intervals over articles, not over seeds",
        *(["upper bounds saw the reference"] * any(score.kind == "upper bound" for score in numbers.scores)),
        *(["hollow marker: lacks articles that others have"] * any(not score.comparable for score in numbers.scores)),
        f"policies of seed {', '.join(map(str, numbers.seeds)) or 'none'}",
        f"run {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed",
        f"code {run.code_version}",
    )
    return " · ".join(parts)


def _draw_scores(
    panel: Axes, numbers: PolicyNumbers, dataset: str, looks: Mapping[str, Look], roles: Mapping[str, str]
) -> list[Annotation]:
    labels = draw_lines(panel, score_series(numbers, dataset), looks, roles)
    scores = [score for at in numbers.of(dataset).values() for score in at.values()]
    articles = max(score.articles for score in scores)
    panel.set_title(f"{dataset} · {counted(articles, 'test article')}", loc="left")
    panel.set_ylabel(f"mean {metric_name(numbers.metric)}")
    panel.set_xticks(sorted({score.n for score in scores}))
    panel.margins(x=0.05)
    panel.tick_params(labelbottom=True)
    return labels


def _draw_differences(
    panel: Axes, lines: Sequence[Series], looks: Mapping[str, Look], roles: Mapping[str, str]
) -> list[Annotation]:
    panel.set_ylabel(f"difference to {TEXTRANK} at equal n")
    if not lines:
        leave_empty(panel, f"no {TEXTRANK} here to compare with")
        return []
    rings = "ring: differs (sign-flip test, Holm over the n, 5 % error)"
    return draw_over_zero(panel, lines, looks[TEXTRANK], looks, roles, rings)
