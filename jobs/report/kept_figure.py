"""The figure of content kept by n, a panel for each dataset: the first of a report.

`jobs.report.figure_files` writes it as PNG and SVG.
"""

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from core.analysis.content_kept import KEPT
from core.text.length import LengthUnit
from jobs.report.figure_files import STYLE, Frame, make_figure, prepare_text
from jobs.report.lines import draw_lines, end_labels, how_intervals_are_drawn, label_size, spread_labels
from jobs.report.looks import GUIDES, WHOLE, kept_kinds, kept_series, kept_top, system_looks
from jobs.report.sweep.kept_answer import basis
from jobs.report.sweep.numbers import Numbers
from jobs.terminal.metrics import metric_signature, spaced_signature
from jobs.terminal.numerals import counted

_PANEL, _AROUND = (5.4, 3.6), 0.7  # inches, of a panel without labels, and of what is written around it
_MOST_TICKS = 15


def draw_kept(numbers: Numbers, paper: float | None = None) -> tuple[Figure, str | None]:
    """The figure of a sweep with shares, and what its reader must be told of its letters; `paper` as in `Frame`."""
    kept = numbers.kept
    by_dataset = {dataset: kept_series(kept, dataset, numbers.names) for dataset in kept.datasets}
    kinds = kept_kinds(kept)
    looks = system_looks(kinds)
    ends = end_labels(numbers.names, {name: "system" if name == WHOLE else kind for name, kind in kinds.items()}, paper)
    width, height = label_size(ends.values())
    run = numbers.run
    footer = (
        "0 %: a text about something else; 100 %: the whole reference. It does not see what is true",
        f"{how_intervals_are_drawn(map(len, by_dataset.values()))}: 95 % intervals over articles",
        *numbers.names.shared,
    )
    made_by = (
        f"content kept: {spaced_signature(metric_signature(run, KEPT))}",
        f"run {run.id}, {run.state}, seed {run.seed}, {counted(run.articles_done, 'article')}, {run.failures} failed",
        f"code {run.code_version}",
    )
    frame = Frame(
        rows=1,
        columns=len(by_dataset),
        panel=(_PANEL[0] + _AROUND + width, max(_PANEL[1], height) + _AROUND),
        title=f"How many {kept.length_unit} keep how much of the content?",
        footer=" · ".join(footer),
        made_by=" · ".join(made_by),
        paper=paper,
        least_height=height,
    )
    with mpl.rc_context({} if paper else STYLE):
        figure, panels = make_figure(frame)
        labels = []
        for panel, (dataset, lines) in zip(panels[0], by_dataset.items(), strict=True):
            labels.append((panel, draw_lines(panel, lines, looks, ends)))
            title = f"{dataset} · {basis(kept, dataset)}"
            if paper:
                title = dataset if len(by_dataset) > 1 else ""
            lengths = sorted({at.x for line in lines for at in line.points})
            _finish(panel, title, lengths, kept_top(lines), kept.length_unit)
        warning = prepare_text(figure)
        spread_labels(figure, labels)
    return figure, warning


def _finish(panel: Axes, title: str, lengths: list[float], top: float, unit: LengthUnit) -> None:
    panel.set_title(title, loc="left")
    panel.set_xlabel(f"summary length n ({unit})")
    panel.set_ylabel("content kept (%)")
    panel.set_xticks(lengths[:: -(-len(lengths) // _MOST_TICKS)])
    panel.set_ylim(min(0.0, panel.get_ylim()[0]), max(top, panel.get_ylim()[1]))
    for height, label in ((height, label) for height, label in GUIDES.items() if height <= top):
        panel.axhline(height, color="#888888", linestyle=(0, (1, 3)), linewidth=0.9, zorder=1.4)
        panel.annotate(label, (0.01, height), (0, 2), xycoords=("axes fraction", "data"), textcoords="offset points")
