"""A dataset's charts: each metric by n, and the gains over `random` and over `lead`."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from core.analysis import LEAD, RANDOM, Curve, Interval, Metric
from core.text.length import LengthUnit
from jobs.report.looks import At, Series, at_interval
from jobs.report.page.charts import PAIR_WIDTH, Chart, Lines, length_label, line_chart
from jobs.report.sweep.numbers import Numbers
from jobs.terminal.metrics import metric_name, metric_places
from jobs.terminal.numerals import counted, decimals, interval_text, listed, signed
from jobs.terminal.table_style import role

_NAMED = 4
_LACKS = "; lacks articles that others have"


@dataclass(frozen=True, slots=True)
class MetricCurves:
    """A metric by n: the chart, and the curves it draws; `places` are the decimals to print."""

    metric: Metric
    name: str
    places: int
    chart: Chart
    curves: tuple[Curve, ...]


def metric_curves(
    chart_id: str, metric: Metric, curves: Sequence[Curve], lines: Lines, unit: LengthUnit
) -> MetricCurves:
    name, places = metric_name(metric), metric_places(metric)
    series = [Series(curve.system, tuple(_curve_points(curve, places, lines))) for curve in curves]
    described = f"Mean {name} by n. {_highest(curves, places, lines)} The table below has every number."
    chart = line_chart(chart_id, f"{name} by n", described, series, lines, length_label(unit), f"mean {name}")
    return MetricCurves(metric, name, places, chart, tuple(curves))


def _curve_points(curve: Curve, places: int, lines: Lines) -> Iterable[At]:
    for point in curve.lengths:
        told = f"{interval_text(point, places)}, {counted(point.articles, 'article')}"
        tooltip = (
            f"{lines.label(curve.system)}{role(curve.kind)}, n = {point.n}: {decimals(point.mean, places)} ({told})"
        )
        hollow = not point.comparable
        yield at_interval(point.n, point, hollow=hollow, tooltip=tooltip + _LACKS * hollow)


def _highest(curves: Iterable[Curve], places: int, lines: Lines) -> str:
    """The largest mean of any system that is neither a control nor an upper bound, in words."""
    means = [
        (point.mean, lines.label(curve.system), point.n)
        for curve in curves
        if curve.kind == "system"
        for point in curve.lengths
    ]
    if not means:
        return ""
    mean, system, n = max(means)
    return f"The highest of a system is {decimals(mean, places)}, by {system} at n = {n}."


@dataclass(frozen=True, slots=True)
class GainRow:
    """The gain of a system over another at n words, over the articles that both have; `p_holm` is corrected over n."""

    n: int
    articles: int
    difference: Interval
    p_holm: float
    is_candidate: bool = False


GainRows: TypeAlias = Mapping[str, tuple[GainRow, ...]]
"""By system, in rising n."""


@dataclass(frozen=True, slots=True)
class GainTable:
    """The gains of systems over another one at equal n.

    Attributes:
        interval: of which kind the intervals are.
        rings: what a ring in the chart says, and why systems have none.
    """

    over: str
    chart: Chart
    interval: str
    rows: GainRows
    rings: str


def gain_tables(section: str, numbers: Numbers, dataset: str, lines: Lines) -> Iterable[GainTable]:
    over_random: dict[str, tuple[GainRow, ...]] = {}
    for number in numbers.magic_numbers_of(dataset):
        candidates = number.recommended if number.kind == "system" and number.is_conclusive else ()
        if number.gains and number.kind != "upper bound":
            over_random[number.system] = tuple(
                GainRow(gain.n, gain.articles, gain.gain, gain.p_holm, gain.n in candidates) for gain in number.gains
            )
    over_lead = {
        system: tuple(GainRow(at.n, at.articles, at.difference, at.p_holm) for at in by_metric[numbers.metric].lengths)
        for system, by_metric in numbers.vs_lead_of(dataset).items()
        if numbers.metric in by_metric
    }
    apart = {(score.system, score.n) for score in numbers.scores if score.dataset == dataset and not score.comparable}
    undecided = [
        numbers.names[number.system]
        for number in numbers.magic_numbers_of(dataset)
        if number.kind == "system" and number.recommended and not number.is_conclusive and number.system in over_random
    ]
    for over, rows, interval, unmarked in (
        (RANDOM, over_random, "95 % for all n of a system at once (Bonferroni)", undecided),
        (LEAD, over_lead, "95 % at each n", []),
    ):
        if rows:
            label = length_label(numbers.run.length_unit)
            chart = _gain_chart(f"{section}-over-{over}", over, numbers.metric, rows, apart, lines, label)
            yield GainTable(over, chart, interval, rows, _rings(chart, unmarked))


def _rings(chart: Chart, undecided: Sequence[str]) -> str:
    """What a ring says, and of which systems no n could be ruled out: a mark on one of theirs would mislead."""
    told = ["A point with a ring is a candidate for the largest gain."] * chart.has_rings
    if undecided:
        names = listed([*undecided[:_NAMED], *[f"{len(undecided) - _NAMED} more"] * (len(undecided) > _NAMED)])
        so = f"{'it has' if len(undecided) == 1 else 'they have'} none" if chart.has_rings else "no point is marked"
        told.append(f"Of {names} no n could be ruled out, so {so}.")
    return " ".join(told)


def _gain_chart(
    chart_id: str,
    over: str,
    metric: Metric,
    rows: GainRows,
    apart: Container[tuple[str, int]],
    lines: Lines,
    x_label: str,
) -> Chart:
    name, places = metric_name(metric), metric_places(metric)

    def point(system: str, row: GainRow) -> At:
        hollow, difference = (system, row.n) in apart, row.difference
        told = f"{interval_text(difference, places)}, {counted(row.articles, 'article')}"
        tooltip = (
            f"{lines.label(system)} vs. {lines.label(over)}, n = {row.n}: {signed(difference.mean, places)} ({told})"
        )
        tooltip += "; candidate for the largest gain" * row.is_candidate + _LACKS * hollow
        return at_interval(row.n, difference, hollow=hollow, ringed=row.is_candidate, tooltip=tooltip)

    series = [Series(system, tuple(point(system, row) for row in of_system)) for system, of_system in rows.items()]
    described = f"Mean per-article difference in {name} between each system and {lines.label(over)}, by n."
    title = f"{name} vs. {lines.label(over)} at equal n (Δ)"
    return line_chart(chart_id, title, described, series, lines, x_label, f"Δ {name}", zero=True, width=PAIR_WIDTH)
