"""The gains of systems over `random` and over `lead` at equal n, on one dataset."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from core.analysis import LEAD, RANDOM, Interval, Metric
from jobs.report.page.charts import LENGTH, At, Chart, Series, line_chart
from jobs.report.sweep.numbers import Numbers
from jobs.terminal.metrics import metric_name, metric_places
from jobs.terminal.numerals import counted, interval_text, signed


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
    """The gains of systems over another one at equal n; `interval` says of which kind the intervals are."""

    over: str
    chart: Chart
    interval: str
    rows: GainRows


def gain_tables(
    section: str, numbers: Numbers, dataset: str, look: Mapping[str, str], labels: Mapping[str, str]
) -> Iterable[GainTable]:
    over_random = {
        number.system: tuple(GainRow(gain.n, gain.articles, gain.gain, gain.p_holm) for gain in number.gains)
        for number in numbers.magic_numbers_of(dataset)
        if number.gains and number.kind != "upper bound"
    }
    candidates = {
        number.system: number.recommended
        for number in numbers.magic_numbers_of(dataset)
        if number.kind == "system" and number.is_conclusive
    }
    over_lead = {
        system: tuple(
            GainRow(at.n, at.articles, at.difference, at.p_holm) for at in comparisons[numbers.metric].lengths
        )
        for system, comparisons in numbers.vs_lead_of(dataset).items()
        if numbers.metric in comparisons
    }
    apart = {
        (curve.system, point.n)
        for curve in numbers.curves_of(dataset)
        for point in curve.lengths
        if not point.comparable
    }
    for over, rows, marked, interval in (
        (RANDOM, over_random, candidates, "95 % for all n of a system at once (Bonferroni)"),
        (LEAD, over_lead, {}, "95 % at each n"),
    ):
        if rows:
            chart = _gain_chart(f"{section}-over-{over}", over, numbers.metric, rows, marked, apart, look, labels)
            yield GainTable(over, chart, interval, rows)


def _gain_chart(
    chart_id: str,
    over: str,
    metric: Metric,
    rows: GainRows,
    candidates: Mapping[str, tuple[int, ...]],
    apart: Container[tuple[str, int]],
    look: Mapping[str, str],
    labels: Mapping[str, str],
) -> Chart:
    name, places = metric_name(metric), metric_places(metric)
    series = [
        Series(
            system,
            look[system],
            tuple(
                At(
                    row.n,
                    row.difference.mean,
                    f"{system} vs. {over}, n = {row.n}: {signed(row.difference.mean, places)} "
                    f"({interval_text(row.difference, places)}, {counted(row.articles, 'article')})"
                    + ("; candidate for the largest gain" if row.n in candidates.get(system, ()) else "")
                    + ("; lacks articles that others have" if (system, row.n) in apart else ""),
                    row.difference.low,
                    row.difference.high,
                    hollow=(system, row.n) in apart,
                    ringed=row.n in candidates.get(system, ()),
                )
                for row in gain_rows
            ),
        )
        for system, gain_rows in rows.items()
    ]
    return line_chart(
        chart_id,
        f"{name} vs. {over} at equal n (Δ)",
        f"Mean per-article difference in {name} between each system and {over}, by n.",
        series,
        x_label=LENGTH,
        y_label=f"Δ {name}",
        labels=labels,
        zero=True,
    )
