"""The page's section on each dataset: the answer and its small picture, curves, gains, best n, comparisons.

Its charts are each metric by n, and the gains over `random` and over `lead`.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from core.analysis import (
    LEAD,
    RANDOM,
    Comparison,
    Curve,
    Interval,
    MagicNumber,
    Metric,
    Points,
    SameText,
    Uncut,
    compare_systems,
    sweep_curves,
)
from core.text.length import LengthUnit
from jobs.report.looks import At, Series, at_interval, system_looks
from jobs.report.page.charts import PAIR_WIDTH, Chart, Lines, length_label, line_chart
from jobs.report.page.kept_examples import KeptExamples
from jobs.report.page.kept_section import KeptSection, kept_section
from jobs.report.sweep.numbers import Numbers, cautions
from jobs.terminal.metrics import metric_name, metric_places
from jobs.terminal.numerals import counted, decimals, interval_text, signed
from jobs.terminal.table_style import role

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


GainRows: TypeAlias = Mapping[str, tuple[GainRow, ...]]
"""By system, in rising n."""


@dataclass(frozen=True, slots=True)
class GainTable:
    """The gains of systems over another one at equal n.

    `interval` says of which kind the intervals are.
    """

    over: str
    chart: Chart
    interval: str
    rows: GainRows

    @property
    def all_rows(self) -> list[tuple[str, GainRow]]:
        """Each with its system."""
        return [(system, row) for system, rows in self.rows.items() for row in rows]


def gain_tables(section: str, numbers: Numbers, dataset: str, lines: Lines) -> Iterable[GainTable]:
    over_random = {
        number.system: tuple(GainRow(gain.n, gain.articles, gain.gain, gain.p_holm) for gain in number.gains)
        for number in numbers.magic_numbers_of(dataset)
        if number.gains and number.kind != "upper bound"
    }
    over_lead = {
        system: tuple(GainRow(at.n, at.articles, at.difference, at.p_holm) for at in by_metric[numbers.metric].lengths)
        for system, by_metric in numbers.vs_lead_of(dataset).items()
        if numbers.metric in by_metric
    }
    apart = {(score.system, score.n) for score in numbers.scores if score.dataset == dataset and not score.comparable}
    for over, rows, interval in (
        (RANDOM, over_random, "95 % for all n of a system at once (Bonferroni)"),
        (LEAD, over_lead, "95 % at each n"),
    ):
        if rows:
            label = length_label(numbers.run.length_unit)
            chart = _gain_chart(f"{section}-over-{over}", over, numbers.metric, rows, apart, lines, label)
            yield GainTable(over, chart, interval, rows)


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
        return at_interval(row.n, difference, hollow=hollow, tooltip=tooltip + _LACKS * hollow)

    series = [Series(system, tuple(point(system, row) for row in of_system)) for system, of_system in rows.items()]
    described = f"Mean per-article difference in {name} between each system and {lines.label(over)}, by n."
    title = f"{name} vs. {lines.label(over)} at equal n (Δ)"
    return line_chart(chart_id, title, described, series, lines, x_label, f"Δ {name}", zero=True, width=PAIR_WIDTH)


@dataclass(frozen=True, slots=True)
class SweepSection:
    """Everything about one dataset.

    Attributes:
        lines: of systems.
        kept: how many words keep how much, where that was scored.
        examples: summaries of the system and the n that the answer names, where it names any.
        best_n: of each system that was compared with `random`.
        notes: what a reader must know of its articles and its tests.
    """

    dataset: str
    id: str
    lengths: tuple[int, ...]
    lines: Lines
    kept: KeptSection | None
    notes: tuple[str, ...]
    metrics: tuple[MetricCurves, ...]
    gains: tuple[GainTable, ...]
    best_n: tuple[MagicNumber, ...]
    vs_lead: Mapping[str, Mapping[Metric, Comparison]]
    vs_cut: tuple[Comparison, ...]
    between_runs: tuple[Comparison, ...]
    same_texts: tuple[SameText, ...]
    uncut: tuple[Uncut, ...]
    examples: KeptExamples | None


def sweep_sections(
    numbers: Numbers,
    points: Points,
    in_two_runs: Sequence[tuple[str, str]] = (),
    examples: Mapping[str, KeptExamples | None] = MappingProxyType({}),
) -> tuple[SweepSection, ...]:
    """A section for each dataset.

    Args:
        numbers: of `points`.
        points: of the page's runs, with the scores of all metrics that have a chart.
        in_two_runs: names of systems that are one system in two runs, to be compared.
        examples: by dataset.
    """
    curves = {metric: sweep_curves(points, metric) for metric in points.scores}
    between = compare_systems(points, points, in_two_runs, numbers.metric)
    return tuple(
        _section(i, dataset, numbers, curves, between, examples.get(dataset))
        for i, dataset in enumerate(numbers.datasets)
    )


def _section(
    i: int,
    dataset: str,
    numbers: Numbers,
    curves: Mapping[Metric, tuple[Curve, ...]],
    between: Sequence[Comparison],
    examples: KeptExamples | None,
) -> SweepSection:
    dataset_curves = {
        metric: [curve for curve in all_curves if curve.dataset == dataset] for metric, all_curves in curves.items()
    }
    chosen = dataset_curves[numbers.metric]
    kinds = {curve.system: curve.kind for curve in chosen}
    looks = {system: look.classes for system, look in system_looks(kinds).items()}
    lines = Lines(looks, numbers.names.shown)
    lengths = tuple(sorted({point.n for curve in chosen for point in curve.lengths}))
    first = dict.fromkeys((numbers.metric, *curves)) if lengths else ()
    return SweepSection(
        dataset=dataset,
        id=f"d{i}",
        lengths=lengths,
        lines=lines,
        kept=kept_section(f"d{i}", numbers.kept, dataset, numbers.names),
        notes=tuple(cautions(numbers, dataset)),
        metrics=tuple(
            metric_curves(f"d{i}-{metric}", metric, dataset_curves[metric], lines, numbers.run.length_unit)
            for metric in first
            if dataset_curves[metric]
        ),
        gains=tuple(gain_tables(f"d{i}", numbers, dataset, lines)),
        best_n=numbers.best_n_of(dataset),
        vs_lead=numbers.vs_lead_of(dataset),
        vs_cut=tuple(comparison for comparison in numbers.vs_cut if comparison.dataset == dataset),
        between_runs=tuple(comparison for comparison in between if comparison.dataset == dataset),
        same_texts=tuple(pair for pair in numbers.same_texts if pair.dataset == dataset and pair.equal),
        uncut=tuple(uncut for uncut in numbers.uncut if uncut.dataset == dataset),
        examples=examples,
    )
