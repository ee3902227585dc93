"""The means of a sweep by n as tables in LaTeX, for papers."""

from pathlib import Path

from core.whole_files import replacing
from jobs.report.latex_means import comments, lengths_comment, means_table
from jobs.report.sweep.numbers import Numbers, highest_means
from jobs.terminal.metrics import metric_name, metric_places


def write_latex(path: Path, numbers: Numbers) -> None:
    """Write a table for each dataset: systems by n, each mean with half of its 95 % interval, the highest in bold.

    Comments say what made the numbers. It needs the package booktabs.

    Raises:
        OSError: `path` cannot be written.
    """
    parts, places = [comments(numbers.run, numbers.metric)], metric_places(numbers.metric)
    for dataset in numbers.datasets:
        if curves := numbers.curves_of(dataset):
            heading = f"{dataset}: mean {metric_name(numbers.metric)} by n"
            if lengths := lengths_comment(numbers.other_lengths_of(dataset)):
                heading = f"{heading}. {lengths}"
            rows = [(curve.system, curve.kind, {at.n: (at, at.comparable) for at in curve.lengths}) for curve in curves]
            parts.append(means_table(heading, rows, highest_means(curves, places), places))
    with replacing(path) as unfinished:
        unfinished.write_text("".join(parts), encoding="utf-8")
