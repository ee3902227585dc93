"""The page's sections: on each dataset what systems keep, score and gain, on each training how its policies learned."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from core.analysis import (
    LEAD,
    RANDOM,
    Comparison,
    Curve,
    MagicNumber,
    Metric,
    Points,
    SameText,
    Uncut,
    compare_systems,
    sweep_curves,
)
from core.analysis.answer import Answer
from core.analysis.content_kept import SHARES, Ceiling, ContentKept, SmallestN
from core.analysis.paired import PairedLength
from jobs.report.charts import Chart, GainAt, difference_chart, mean_chart, system_looks
from jobs.report.page.kept_examples import KeptExamples
from jobs.report.policies.policy_charts import learning_charts
from jobs.report.policies.policy_numbers import PolicyNumbers
from jobs.report.sweep import kept_answer
from jobs.report.sweep.numbers import Numbers, cautions, sweep_scores
from jobs.report.sweep.sweep_charts import gains, kept_chart, kept_kinds
from jobs.terminal.metrics import metric_name, metric_places
from jobs.terminal.system_names import SystemNames
from jobs.terminal.table_style import role

_CEILINGS: Mapping[Ceiling, str] = {
    "reference": "of the reference",
    "person": "of what another person keeps",
    "longest": "of what its own longest n keeps",
}
_INTERVALS = {RANDOM: "95 % for all n of a system at once (Bonferroni)", LEAD: "95 % at each n"}


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a table, and below it how sure it is."""

    shown: str
    sure: str = ""


@dataclass(frozen=True, slots=True)
class SmallestTable:
    """The smallest n by system and share of one ceiling; `of` says which."""

    of: str
    shares: tuple[str, ...]
    rows: Mapping[str, tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class KeptSection:
    """What the page says of content kept on one dataset.

    Attributes:
        headline: of the best system.
        sentences: what each is about, its CSS classes, and the sentence.
        lengths: the columns of `shares`, which has a row for each system; there is no cell where it lacks an n.
    """

    headline: str
    basis: str
    sentences: tuple[tuple[str, str, str], ...]
    chart: Chart
    lengths: tuple[int, ...]
    shares: Mapping[str, Mapping[int, Cell]]
    smallest: tuple[SmallestTable, ...]


def kept_section(section: str, answer: Answer, dataset: str, names: SystemNames) -> KeptSection | None:
    """None where there is no such score."""
    by_system = answer.of(dataset)
    if not by_system:
        return None
    of_reference = {system: held["reference"] for system, held in by_system.items()}
    looks = {names[name]: look.css for name, look in system_looks(kept_kinds(answer)).items()}
    named = {system: f"{names[system]}{role(kept.kind)}" for system, kept in of_reference.items()}
    return KeptSection(
        headline=kept_answer.headline(answer, dataset, names),
        basis=kept_answer.basis(answer, dataset),
        sentences=tuple(
            (name, looks.get(name, ""), said) for name, said in kept_answer.sentences(answer, dataset, names)
        ),
        chart=kept_chart(answer, dataset, names, f"{section}-kept"),
        lengths=tuple(sorted({at.n for kept in of_reference.values() for at in kept.lengths})),
        shares={named[system]: dict(_shares(kept)) for system, kept in of_reference.items()},
        smallest=tuple(_smallest_tables(by_system, named)),
    )


def _shares(kept: ContentKept) -> Iterator[tuple[int, Cell]]:
    for at in kept.lengths:
        yield at.n, Cell(kept_answer.share_text(at.share.mean), kept_answer.share_interval_text(at.share))


def _smallest_tables(
    by_system: Mapping[str, kept_answer.ByCeiling], named: Mapping[str, str]
) -> Iterator[SmallestTable]:
    for of, called in _CEILINGS.items():
        rows = {
            named[system]: tuple(_smallest_cell(held[of], held[of].by_share[x]) for x in SHARES[of])
            for system, held in by_system.items()
            if of in held and (of != "longest" or len(held[of].lengths) > 1)
        }
        if rows:
            yield SmallestTable(called, tuple(kept_answer.share_text(x) for x in SHARES[of]), rows)


def _smallest_cell(kept: ContentKept, smallest: SmallestN) -> Cell:
    if smallest.n is None:
        return Cell(f"over {kept.longest}")
    end = kept.edge(smallest.n)
    at_end = [] if end is None else [kept_answer.edge_text(end, smallest.n)]
    return Cell(str(smallest.n), "; ".join((kept_answer.sure_text(kept, smallest), *at_end)))


@dataclass(frozen=True, slots=True)
class MetricCurves:
    """A metric by n: the chart, and the curves it draws; `places` are the decimals to print."""

    name: str
    places: int
    chart: Chart
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class GainTable:
    """The gains of systems over another one at equal n, each with its system; `interval` says which they have."""

    over: str
    chart: Chart
    interval: str
    rows: tuple[tuple[str, GainAt | PairedLength], ...]


@dataclass(frozen=True, slots=True)
class SweepSection:
    """Everything about one dataset.

    Attributes:
        looks: CSS classes by system.
        kept: how many words keep how much, where that was scored.
        examples: summaries of the system and the n that the answer names, where it names any.
        best_n: of each system that was compared with `random`.
        notes: what a reader must know of its articles and its tests.
    """

    dataset: str
    id: str
    lengths: tuple[int, ...]
    looks: Mapping[str, str]
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
    by_metric = []
    for metric in dict.fromkeys((numbers.metric, *points.scores)):
        curves = sweep_curves(points, metric)
        by_metric.append(replace(numbers, metric=metric, curves=curves, scores=tuple(sweep_scores(curves, ()))))
    between = compare_systems(points, points, in_two_runs, numbers.metric)
    return tuple(
        _sweep_section(f"d{i}", dataset, numbers, by_metric, between, examples.get(dataset))
        for i, dataset in enumerate(numbers.datasets)
    )


def _sweep_section(
    section: str,
    dataset: str,
    numbers: Numbers,
    by_metric: Sequence[Numbers],
    between: Sequence[Comparison],
    examples: KeptExamples | None,
) -> SweepSection:
    return SweepSection(
        dataset=dataset,
        id=section,
        lengths=tuple(sorted({score.n for score in numbers.scores if score.dataset == dataset})),
        looks={system: look.css for system, look in system_looks(numbers.kinds).items()},
        kept=kept_section(section, numbers.kept, dataset, numbers.names),
        notes=tuple(cautions(numbers, dataset)),
        metrics=tuple(
            MetricCurves(
                name=metric_name(scored.metric),
                places=metric_places(scored.metric),
                chart=mean_chart(scored, dataset, f"{section}-{scored.metric}"),
                curves=tuple(curve for curve in scored.curves if curve.dataset == dataset),
            )
            for scored in by_metric
            if dataset in scored.scored
        ),
        gains=tuple(
            GainTable(
                over=over,
                chart=difference_chart(numbers, dataset, over, by_system, f"{section}-over-{over}"),
                interval=_INTERVALS[over],
                rows=tuple((system, at) for system, by_n in by_system.items() for at in by_n),
            )
            for over, by_system in gains(numbers, dataset).items()
        ),
        best_n=numbers.best_n_of(dataset),
        vs_lead=numbers.vs_lead_of(dataset),
        vs_cut=tuple(comparison for comparison in numbers.vs_cut if comparison.dataset == dataset),
        between_runs=tuple(comparison for comparison in between if comparison.dataset == dataset),
        same_texts=tuple(pair for pair in numbers.same_texts if pair.dataset == dataset and pair.equal),
        uncut=tuple(uncut for uncut in numbers.uncut if uncut.dataset == dataset),
        examples=examples,
    )


@dataclass(frozen=True, slots=True)
class PolicySection:
    """A training: a chart of the reward and one of the entropy for each n, and the test scores."""

    numbers: PolicyNumbers
    learning: tuple[Chart, ...]


def policy_section(section: str, numbers: PolicyNumbers) -> PolicySection:
    """The section of one run, whose ids begin with `section`."""
    by_n = zip(*learning_charts(numbers, section), strict=True)
    return PolicySection(numbers, tuple(chart for charts in by_n for chart in charts))
