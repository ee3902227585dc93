"""A dataset's curves: each metric by n, and what efficiency costs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.analysis import Curve, Metric
from jobs.report.page.charts import LENGTH, At, Chart, Series, line_chart
from jobs.terminal.metrics import metric_name, metric_places
from jobs.terminal.numerals import counted, decimals, interval_text
from jobs.terminal.table_style import role


@dataclass(frozen=True, slots=True)
class MetricCurves:
    """A metric by n: the chart, and the curves it draws; `places` are the decimals to print."""

    metric: Metric
    name: str
    places: int
    chart: Chart
    curves: tuple[Curve, ...]


def metric_curves(
    chart_id: str, metric: Metric, curves: Sequence[Curve], look: Mapping[str, str], labels: Mapping[str, str]
) -> MetricCurves:
    name, places = metric_name(metric), metric_places(metric)
    series = [
        Series(
            curve.system,
            look[curve.system],
            tuple(
                At(
                    point.n,
                    point.mean,
                    f"{curve.system}{role(curve.kind)}, n = {point.n}: {decimals(point.mean, places)} "
                    f"({interval_text(point, places)}, {counted(point.articles, 'article')})"
                    + ("" if point.comparable else "; lacks articles that others have"),
                    point.low,
                    point.high,
                    not point.comparable,
                )
                for point in curve.lengths
            ),
        )
        for curve in curves
    ]
    described = f"Mean {name} by n. {_highest(curves, places)} The table below has every number."
    chart = line_chart(
        chart_id, f"{name} by n", described, series, x_label=LENGTH, y_label=f"mean {name}", labels=labels
    )
    return MetricCurves(metric, name, places, chart, tuple(curves))


def _highest(curves: Iterable[Curve], places: int) -> str:
    """The largest mean of any system that is neither a control nor an upper bound, in words."""
    means = [
        (point.mean, curve.system, point.n) for curve in curves if curve.kind == "system" for point in curve.lengths
    ]
    if not means:
        return ""
    mean, system, n = max(means)
    return f"The highest of a system is {decimals(mean, places)}, by {system} at n = {n}."


def tradeoffs(
    section: str, curves: Mapping[Metric, Sequence[Curve]], look: Mapping[str, str], labels: Mapping[str, str]
) -> tuple[Chart, ...]:
    """F1 per word, plotted against F1 and against density, which repeated words and words of its own lower."""
    across: list[Metric] = ["bertscore_f1"]
    densities = {round(point.mean, 3) for curve in curves["density"] for point in curve.lengths}
    if len(densities) > 1:  # all 1, where nobody repeats a word or writes one of its own
        across.append("density")
    return tuple(
        _tradeoff(f"{section}-tradeoff-{i}", x, "efficiency", curves, look, labels) for i, x in enumerate(across)
    )


def _tradeoff(
    chart_id: str,
    x: Metric,
    y: Metric,
    curves: Mapping[Metric, Sequence[Curve]],
    look: Mapping[str, str],
    labels: Mapping[str, str],
) -> Chart:
    across = {(curve.system, point.n): point.mean for curve in curves[x] for point in curve.lengths}
    series = [
        Series(
            curve.system,
            look[curve.system],
            tuple(
                At(
                    across[curve.system, point.n],
                    point.mean,
                    f"{curve.system}, n = {point.n}: {decimals(across[curve.system, point.n])} in {metric_name(x)}, "
                    f"{decimals(point.mean, 4)} in {metric_name(y)}"
                    + ("" if point.comparable else "; lacks articles that others have"),
                    hollow=not point.comparable,
                )
                for point in curve.lengths
            ),
        )
        for curve in curves[y]
    ]
    title = f"{metric_name(y)} against {metric_name(x)}"
    described = f"{title}. Each line goes from the smallest n to the largest."
    return line_chart(
        chart_id, title, described, series, x_label=f"mean {metric_name(x)}", y_label="mean F1 per word", labels=labels
    )
