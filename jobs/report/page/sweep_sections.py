"""The page's section on each dataset: the answer and its small picture, curves, gains, best n, comparisons.

Its charts are each metric by n, and the gains over `random` and over `lead`.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
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
from jobs.report.run_numbers import short_note
from jobs.report.sweep.gain_answer import sentences
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

    @property
    def all_rows(self) -> list[tuple[str, GainRow]]:
        """Each with its system."""
        return [(system, row) for system, rows in self.rows.items() for row in rows]


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


@dataclass(frozen=True, slots=True)
class StripCell:
    """The verdict on one n for one system: a sign, its meaning in words, and its CSS class."""

    mark: str
    meaning: str
    kind: str


_LARGEST = StripCell("★", "the largest gain", "candidate")
_CANDIDATE = StripCell("◎", "candidate: may be the largest as well", "candidate")
_LARGEST_OPEN = StripCell("☆", "the largest gain so far", "open")
_OPEN = StripCell("·", "open: no n of this system could be ruled out", "open")
_RULED_OUT = StripCell("–", "ruled out", "out")
_NO_GAIN = StripCell("×", "no gain shown", "out")
_UNKNOWN = StripCell("?", "too few articles", "out")


_MARKS = (_LARGEST, _CANDIDATE, _LARGEST_OPEN, _OPEN, _RULED_OUT, _NO_GAIN, _UNKNOWN)


def _strip(number: MagicNumber, lengths: Sequence[int]) -> tuple[StripCell, ...]:
    """Which n may have the largest gain for a system. Where no n is ruled out, all are open."""
    gains = {gain.n: gain for gain in number.gains}
    largest = None if number.largest_gain is None else number.largest_gain.n
    cells = []
    for n in lengths:
        if n not in gains or gains[n].p_behind is None:
            cells.append(_UNKNOWN)
        elif n in number.recommended:
            with_largest = (_LARGEST, _CANDIDATE) if number.is_conclusive else (_LARGEST_OPEN, _OPEN)
            cells.append(with_largest[n != largest])
        else:
            cells.append(_RULED_OUT if number.recommended else _NO_GAIN)
    return tuple(cells)


@dataclass(frozen=True, slots=True)
class SweepSection:
    """Everything about one dataset.

    Attributes:
        lines: of systems.
        kept: how many words keep how much, where that was scored.
        answers: what each system is called and the sentence about it, those of which some n is ruled out first.
        strips: of each system a sign for each of `lengths`, and `strip_key` the signs that occur.
        examples: summaries of the system and the n that the answer names, where it names any.
        histograms: systems of which is known how often each n is best for an article.
        notes: what a reader must know of short articles, and of systems that wrote the same everywhere.
    """

    dataset: str
    id: str
    articles: int
    lengths: tuple[int, ...]
    lines: Lines
    kept: KeptSection | None
    answers: tuple[tuple[str, str], ...]
    strips: Mapping[str, tuple[StripCell, ...]]
    strip_key: tuple[StripCell, ...]
    notes: tuple[str, ...]
    metrics: tuple[MetricCurves, ...]
    gains: tuple[GainTable, ...]
    histograms: tuple[MagicNumber, ...]
    vs_lead: Mapping[str, Mapping[Metric, Comparison]]
    vs_cut: tuple[Comparison, ...]
    between_runs: tuple[Comparison, ...]
    same_texts: tuple[SameText, ...]
    uncut: tuple[Uncut, ...]
    examples: KeptExamples | None

    @property
    def looks_of_names(self) -> dict[str, str]:
        """CSS classes by what systems are called."""
        return {self.lines.label(system): look for system, look in self.lines.looks.items()}


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
    magic = numbers.magic_numbers_of(dataset)
    points = [point for curve in chosen for point in curve.lengths]
    lengths = tuple(sorted({point.n for point in points}))
    first = dict.fromkeys((numbers.metric, *curves)) if lengths else ()
    strips = {number.system: _strip(number, lengths) for number in magic if number.kind == "system" and number.gains}
    occurring = {cell for cells in strips.values() for cell in cells}
    return SweepSection(
        dataset=dataset,
        id=f"d{i}",
        articles=max((point.of_articles for point in points), default=0),
        lengths=lengths,
        lines=lines,
        kept=kept_section(f"d{i}", numbers.kept, dataset, numbers.names),
        answers=_answers(numbers, dataset),
        strips=strips,
        strip_key=tuple(mark for mark in _MARKS if mark in occurring),
        notes=tuple(_notes(numbers, dataset)),
        metrics=tuple(
            metric_curves(f"d{i}-{metric}", metric, dataset_curves[metric], lines, numbers.run.length_unit)
            for metric in first
            if dataset_curves[metric]
        ),
        gains=tuple(gain_tables(f"d{i}", numbers, dataset, lines)),
        histograms=tuple(number for number in magic if number.best_per_article and number.kind == "system"),
        vs_lead=numbers.vs_lead_of(dataset),
        vs_cut=tuple(comparison for comparison in numbers.vs_cut if comparison.dataset == dataset),
        between_runs=tuple(comparison for comparison in between if comparison.dataset == dataset),
        same_texts=tuple(pair for pair in numbers.same_texts if pair.dataset == dataset and pair.equal),
        uncut=tuple(uncut for uncut in numbers.uncut if uncut.dataset == dataset),
        examples=examples,
    )


def _answers(numbers: Numbers, dataset: str) -> tuple[tuple[str, str], ...]:
    conclusive = {numbers.names[number.system] for number in numbers.magic_numbers_of(dataset) if number.is_conclusive}
    return tuple(sorted(sentences(numbers, dataset), key=lambda answer: answer[0] not in conclusive))


def _notes(numbers: Numbers, dataset: str) -> Iterator[str]:
    if any(short_dataset == dataset for short_dataset, _ in numbers.short):
        yield short_note(dataset, numbers.short, numbers.run.length_unit)
    for pair in numbers.same_texts:
        if pair.dataset == dataset and pair.equal == pair.summaries:
            a, b = numbers.names[pair.a], numbers.names[pair.b]
            yield f"{a} and {b} wrote the same text everywhere: they count twice here."
