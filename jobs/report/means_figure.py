"""Figures of means: scores by n above, differences to another system at equal n below, one column per dataset.

`jobs.report.figure_files` writes them as PNG and SVG.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from core.analysis import RANDOM, TEXTRANK
from jobs.report.figure_files import STYLE, Frame, make_figure, prepare_text
from jobs.report.lines import (
    draw_lines,
    draw_over_zero,
    end_labels,
    how_intervals_are_drawn,
    label_size,
    leave_empty,
    spread_labels,
)
from jobs.report.looks import Look, Series, at_interval, system_looks
from jobs.report.policies.policy_numbers import PolicyNumbers
from jobs.report.run_numbers import RunNumbers, Score
from jobs.report.sweep.numbers import Numbers
from jobs.terminal.metrics import metric_name, spaced_signature
from jobs.terminal.numerals import counted

# Inches, of one panel without labels, and of what is written around it.
_PANEL, _AROUND = (4.4, 2.7), 0.7


@dataclass(frozen=True, slots=True)
class _Words:
    """What a figure says: `over` is what the lower panels compare with, `rings` says what a ring in them is."""

    title: str
    noun: str
    over: str
    difference: str
    nothing: str
    rings: str
    intervals: str
    upper_bounds: str
    hollow: str
    seeds: str
    most_ticks: int
    margin: float


def score_series(numbers: RunNumbers[Score], dataset: str) -> tuple[Series, ...]:
    """The lines of a dataset's upper panel: mean score by n. A mean over fewer articles than others' is hollow."""
    return tuple(
        Series(system, tuple(at_interval(n, score.score, hollow=not score.comparable) for n, score in at.items()))
        for system, at in numbers.of(dataset).items()
    )


def gain_series(numbers: Numbers, dataset: str) -> tuple[Series, ...]:
    """The lines of a sweep's lower panel: the mean gain over `random` at equal n, for every system that has one.

    Upper bounds are left out: they gain several times as much as systems, so the other lines would be squeezed.
    """
    scores = numbers.of(dataset)
    return tuple(
        Series(
            number.system,
            tuple(
                at_interval(gain.n, gain.gain, hollow=not scores[number.system][gain.n].comparable)
                for gain in number.gains
            ),
        )
        for number in numbers.magic_numbers_of(dataset)
        if number.gains and number.kind != "upper bound"
    )


def difference_series(numbers: PolicyNumbers, dataset: str) -> tuple[Series, ...]:
    """The lines of a lower panel of policies: each system minus TextRank, paired by article, where it is a rival.

    Upper bounds are compared with none. An n where the difference is significant has a ring.
    """
    lines = []
    for system, at in numbers.of(dataset).items():
        compared = [(n, score.versus[TEXTRANK], score) for n, score in at.items() if TEXTRANK in score.versus]
        points = tuple(
            at_interval(n, versus.difference, hollow=not score.comparable, ringed=versus.significant)
            for n, versus, score in compared
        )
        lines.append(Series(system, points))
    return tuple(series for series in lines if series.points)


def draw_sweep(numbers: Numbers, paper: float | None = None) -> tuple[Figure, str | None]:
    """The figure of a sweep with at least one curve, and what its reader must be told of its letters, if anything.

    `paper` as in `Frame`.
    """
    words = _Words(
        title="Mean scores and gains by n",
        noun="article",
        over=RANDOM,
        difference=f"gain over {numbers.names[RANDOM]} at equal n",
        nothing=f"no system here beside a {numbers.names[RANDOM]} control",
        rings="",
        intervals="95 % intervals over articles, of gains for all n at once",
        upper_bounds="upper bounds (upper row only) saw the reference; another way of writing may score higher",
        hollow="hollow marker: lacks articles that others have, so it is not compared with theirs",
        seeds=f"seed {numbers.run.seed}",
        most_ticks=15,
        margin=0.03,
    )
    return _draw(numbers, {dataset: gain_series(numbers, dataset) for dataset in numbers.scored}, words, paper)


def draw_policies(numbers: PolicyNumbers, paper: float | None = None) -> tuple[Figure, str | None]:
    """The figure of a test with at least one score, and what its reader must be told of its letters, if anything.

    `paper` as in `Frame`.
    """
    words = _Words(
        title="Policies on test articles",
        noun="test article",
        over=TEXTRANK,
        difference=f"difference to {numbers.names[TEXTRANK]} at equal n",
        nothing=f"no {numbers.names[TEXTRANK]} here to compare with",
        rings="ring: differs (sign-flip test, Holm over the n, 5 % error)",
        intervals="95 % intervals over articles, not over seeds",
        upper_bounds="upper bounds saw the reference",
        hollow="hollow marker: lacks articles that others have",
        seeds=f"policies of seed {', '.join(map(str, numbers.seeds)) or 'none'}",
        most_ticks=len(numbers.scores),
        margin=0.05,
    )
    return _draw(numbers, {dataset: difference_series(numbers, dataset) for dataset in numbers.scored}, words, paper)


def _draw(
    numbers: RunNumbers[Score], differences: Mapping[str, Sequence[Series]], words: _Words, paper: float | None
) -> tuple[Figure, str | None]:
    with mpl.rc_context({} if paper else STYLE):
        figure, labels = _lay_out(numbers, differences, words, paper)
        warning = prepare_text(figure)
        spread_labels(figure, labels)
    return figure, warning


def _lay_out(
    numbers: RunNumbers[Score], differences: Mapping[str, Sequence[Series]], words: _Words, paper: float | None
) -> tuple[Figure, list[tuple[Axes, list[Annotation]]]]:
    rows = 2 if any(differences.values()) else 1
    looks = system_looks(numbers.kinds)
    ends = end_labels(numbers.names, numbers.kinds, paper)
    label_width, label_height = label_size(ends.values())
    frame = Frame(
        rows=rows,
        columns=len(differences),
        panel=(_PANEL[0] + _AROUND + label_width, max(_PANEL[1], label_height) + _AROUND),
        title=words.title,
        footer=_footer(numbers, differences, words),
        made_by=_made_by(numbers, words),
        paper=paper,
        least_height=label_height,
    )
    figure, panels = make_figure(frame)
    labels = []
    for column, (dataset, lines) in enumerate(differences.items()):
        above = panels[0, column]
        labels.append((above, draw_lines(above, score_series(numbers, dataset), looks, ends)))
        _name_scores(above, numbers, dataset, words)
        if paper:
            above.set_title(dataset if len(differences) > 1 else "", loc="left")
        if rows == 2:
            below = panels[1, column]
            labels.append((below, _draw_differences(below, lines, looks, ends, words)))
            if paper:
                below.set_title("", loc="left")
        panels[-1, column].set_xlabel(f"summary length n ({numbers.run.length_unit})")
    return figure, labels


def _footer(numbers: RunNumbers[Score], differences: Mapping[str, Sequence[Series]], words: _Words) -> str:
    lines = [len(rows) for dataset in differences for rows in (numbers.of(dataset), differences[dataset])]
    parts = (
        f"{how_intervals_are_drawn(lines)}: {words.intervals}",
        *([words.upper_bounds] * any(score.kind == "upper bound" for score in numbers.scores)),
        *([words.hollow] * any(not score.comparable for score in numbers.scores)),
        *numbers.names.shared,
    )
    return " · ".join(parts)


def _made_by(numbers: RunNumbers[Score], words: _Words) -> str:
    run = numbers.run
    parts = (
        f"{metric_name(numbers.metric)}: {spaced_signature(numbers.signature)}",
        words.seeds,
        f"run {run.id}, {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed",
        f"code {run.code_version}",
    )
    return " · ".join(parts)


def _name_scores(panel: Axes, numbers: RunNumbers[Score], dataset: str, words: _Words) -> None:
    scores = [score for score in numbers.scores if score.dataset == dataset]
    lengths = sorted({score.n for score in scores})
    panel.set_title(f"{dataset} · {counted(max(score.articles for score in scores), words.noun)}", loc="left")
    panel.set_ylabel(f"mean {metric_name(numbers.metric)}")
    panel.set_xticks(lengths[:: -(-len(lengths) // words.most_ticks)])
    panel.margins(x=words.margin)
    panel.tick_params(labelbottom=True)


def _draw_differences(
    panel: Axes, lines: Sequence[Series], looks: Mapping[str, Look], ends: Mapping[str, str], words: _Words
) -> list[Annotation]:
    panel.set_ylabel(words.difference)
    if not lines:
        leave_empty(panel, words.nothing)
        return []
    return draw_over_zero(panel, lines, looks[words.over], looks, ends, words.rings)
