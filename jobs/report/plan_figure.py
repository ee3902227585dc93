"""The figure of a plan: how many articles it takes to tell each system from `lead`, by n, one column per dataset."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from core.analysis.sample_size import NeededByPair
from core.errors import NwsError
from jobs.report.figure_files import STYLE, Frame, make_figure, prepare_text, save
from jobs.report.lines import draw_lines, label_size, leave_empty, spread_labels
from jobs.report.looks import At, Series, system_looks
from jobs.report.study_plan import StudyPlan
from jobs.terminal.metrics import metric_name, spaced_signature
from jobs.terminal.numerals import percent
from jobs.terminal.table_style import role

# Inches, of one panel without labels, and of what is written around it.
_PANEL, _AROUND = (4.4, 2.7), 0.7


def needed_series(pairs: Sequence[NeededByPair]) -> tuple[Series, ...]:
    """A line for each pair that any number of articles would do for. Where the run has as many, a point has a ring."""
    lines = (
        Series(
            pair.a,
            tuple(
                At(at.n, at.articles, ringed=at.articles <= at.seen) for at in pair.lengths if at.articles is not None
            ),
        )
        for pair in pairs
    )
    return tuple(series for series in lines if series.points)


def write_plan_figure(plan: StudyPlan, path: Path) -> tuple[Path, Path, str | None]:
    """Write the figure as PNG, and beside it as SVG.

    Returns:
        Both files, and what the reader must be told of the letters in them, if anything.

    Raises:
        NwsError: they cannot be written.
    """
    png, svg = path.with_suffix(".png"), path.with_suffix(".svg")
    try:
        png.parent.mkdir(parents=True, exist_ok=True)
        return png, svg, save(lambda: draw_plan(plan), png, svg)
    except OSError as error:
        reason = error.strerror or error
        raise NwsError(f"The figure cannot be written to {png}: {reason}. Choose another file.") from error


def draw_plan(plan: StudyPlan) -> tuple[Figure, str | None]:
    """The figure of a plan, and what its reader must be told of its letters, if anything."""
    by_dataset: dict[str, list[NeededByPair]] = {}
    for pair in plan.pairs:
        by_dataset.setdefault(pair.dataset, []).append(pair)
    looks = system_looks(plan.kinds)
    ends = {system: plan.names[system] + role(kind) for system, kind in plan.kinds.items()}
    width, height = label_size(ends.values())
    frame = Frame(
        rows=1,
        columns=max(1, len(by_dataset)),
        panel=(_PANEL[0] + _AROUND + width, max(_PANEL[1], height) + _AROUND),
        title="Articles that a study needs",
        footer=_footer(plan),
        made_by=f"{metric_name(plan.metric)}: {spaced_signature(plan.signature)} · planned by run {plan.run.id}",
    )
    with mpl.rc_context(STYLE):
        figure, panels = make_figure(frame)
        labels = []
        for panel, (dataset, pairs) in zip(panels[0], by_dataset.items(), strict=False):
            panel.set_title(dataset, loc="left")
            panel.set_xlabel(f"summary length n ({plan.run.length_unit})")
            if not (lines := needed_series(pairs)):
                leave_empty(panel, "no number of articles would do")
                continue
            panel.set_yscale("log")
            panel.yaxis.set_major_formatter(FuncFormatter(lambda articles, _: f"{articles:,.0f}"))
            panel.set_ylabel(f"articles to tell from {plan.names[pairs[0].b]} at one n")
            panel.set_xticks(sorted({int(at.x) for series in lines for at in series.points}))
            labels.append((panel, draw_lines(panel, lines, looks, ends)))
        warning = prepare_text(figure)
        spread_labels(figure, labels)
    return figure, warning


def _footer(plan: StudyPlan) -> str:
    asked = plan.asked
    parts = (
        "the difference seen" if asked.difference is None else f"a difference of {asked.difference:g}",
        f"shown by {percent(asked.power)} of studies",
        f"p below {asked.alpha:g}, two-sided",
        "articles vary as those of the run; others may vary more",
        "ring: the run has as many",
        *plan.names.shared,
    )
    return " · ".join(parts)
