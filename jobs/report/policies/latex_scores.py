"""The scores of trained policies on test articles by n as tables in LaTeX, for papers."""

from pathlib import Path

from core.whole_files import replacing
from jobs.report.latex_means import comments, lengths_comment, means_table
from jobs.report.policies.numbers import PolicyNumbers, highest_means
from jobs.terminal.metrics import metric_name, metric_places


def write_latex(path: Path, numbers: PolicyNumbers) -> None:
    """Write a table for each dataset: systems by n, each mean with half of its 95 % interval, the highest in bold.

    Comments say what made the numbers. It needs the package booktabs.

    Raises:
        OSError: `path` cannot be written.
    """
    places = metric_places(numbers.metric)
    note = "A policy is the mean of its seeds. Intervals do not include the variation between seeds."
    parts = [comments(numbers.run, numbers.metric, note)]
    for dataset in numbers.datasets:
        heading = f"{dataset}: mean {metric_name(numbers.metric)} by n on test articles"
        if lengths := lengths_comment(numbers.other_lengths_of(dataset)):
            heading = f"{heading}. {lengths}"
        scores = numbers.of(dataset)
        rows = [
            (system, next(iter(at.values())).kind, {n: (score.score, score.comparable) for n, score in at.items()})
            for system, at in scores.items()
        ]
        parts.append(means_table(heading, rows, highest_means(scores, places), places))
    with replacing(path) as unfinished:
        unfinished.write_text("".join(parts), encoding="utf-8")
