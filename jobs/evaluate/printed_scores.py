"""The scores of a file as a table of at most 80 columns."""

from collections.abc import Iterator, Mapping

from rich.console import Console

from core.analysis.intervals import Interval
from jobs.evaluate.score import FileScore, MetricScore
from jobs.terminal.metrics import few
from jobs.terminal.numerals import counted
from jobs.terminal.table_style import WIDTH

_HEADER = f"{'metric':<16}{'precision':>11}{'recall':>11}{'F1 / score':>12}   95 % interval"
_VIEWS = {
    "person": "A person: each reference against the others",
    "prediction": "The prediction against as many: each reference left out in turn",
    "one_reference": "One of the references, drawn at random, against all of them",
}


def print_score(score: FileScore, console: Console) -> None:
    """Print each metric with the interval of its F1 or score, and how it was computed."""
    lines = [f"{counted(len(score.predictions), 'row')}, seed {score.seed}", *_table(score.metrics)]
    if score.human is not None:
        lines += ["", f"People, in {counted(score.human.rows, 'row')} with several references:"]
        for view, metrics in score.human.views.items():
            lines += ["", _VIEWS[view], *_table(metrics)]
    lines += ["", *_intervals(score), "", "How each was computed:"]
    for metric in score.metrics.values():
        lines += _wrapped(metric.signature)
    for line in lines:
        console.print(line, markup=False, highlight=False)


def _table(metrics: Mapping[str, MetricScore]) -> list[str]:
    return ["", _HEADER, "-" * len(_HEADER), *(_line(name, metric) for name, metric in metrics.items())]


def _intervals(score: FileScore) -> Iterator[str]:
    """How the intervals were computed, and whether there are enough rows for them."""
    resampled = [name for name, metric in score.metrics.items() if metric.method == "bootstrap"]
    if len(resampled) < len(score.metrics):
        yield "Intervals of means over rows: Student's t."
    if resampled:
        yield f"Intervals of {', '.join(resampled)}: percentile bootstrap over rows."
    if caution := few(len(score.predictions), "rows"):
        yield caution


def _line(name: str, metric: MetricScore) -> str:
    *others, last = metric.intervals.values()
    columns = [_number(part) for part in others] if others else ["", ""]
    precision, recall = columns
    interval = "no interval" if last.low is None else f"{last.low:.4f} to {last.high:.4f}"
    return f"{name:<16}{precision:>11}{recall:>11}{_number(last):>12}   {interval}"


def _number(interval: Interval) -> str:
    return f"{interval.mean:.4f}"


def _wrapped(signature: str) -> Iterator[str]:
    """A signature over as many lines as it needs, broken between its options where it can be."""
    line = ""
    for part in signature.split("|"):
        longer = f"{line}|{part}" if line else part
        if line and len(longer) > WIDTH:
            yield line + "|"
            longer = f"  {part}"
        line = longer
    yield line
