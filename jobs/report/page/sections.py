"""The page's sections: on each dataset what systems keep, score and gain, on each training how its policies learned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nws.core.analysis import Points, compare_systems, sweep_curves
from nws.core.findings.comparisons import Comparison
from nws.core.findings.policies import split_seed
from nws.jobs.report import kept_answer
from nws.jobs.report.charts import Chart, difference_chart, mean_chart, system_looks
from nws.jobs.report.metric_names import metric_name
from nws.jobs.report.policy_numbers import PolicyNumbers
from nws.jobs.report.policy_report import learning_charts, policy_tables
from nws.jobs.report.result_tables import (
    best_n_table,
    comparison_table,
    gains_table,
    kept_table,
    means_table,
    other_lengths_table,
    smallest_tables,
    uncut_tables,
    verdict,
    vs_lead_table,
)
from nws.jobs.report.sweep_charts import gains, kept_chart, kept_kinds
from nws.jobs.report.sweep_numbers import Numbers, cautions, sweep_scores
from nws.jobs.report.table import Table


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart, and the table of its numbers; `name` is of its metric, or of the system that others gain over."""

    name: str
    chart: Chart
    table: Table


@dataclass(frozen=True, slots=True)
class SweepSection:
    """The page's part on one dataset.

    Attributes:
        looks: CSS classes by system.
        looks_by_name: the same by what systems are called in the sentences of the answer.
        kept: the chart of how many words keep how much, where that was scored.
        kept_tables: shares by n, and the smallest n for a share.
        notes: what a reader must know of its articles and its tests.
        metrics: each metric by n.
        gains: over `random` and `lead`.
        best_n: of each system that was compared with `random`.
        at_each_n: comparisons of systems of two runs, each named by its systems and verdict.
    """

    dataset: str
    id: str
    lengths: tuple[int, ...]
    looks: Mapping[str, str]
    looks_by_name: Mapping[str, str]
    kept: Chart | None
    kept_tables: tuple[Table, ...]
    notes: tuple[str, ...]
    metrics: tuple[Drawn, ...]
    gains: tuple[Drawn, ...]
    best_n: Table | None
    vs_lead: Table | None
    other_lengths: Table | None
    at_each_n: tuple[tuple[str, Table], ...]
    uncut: tuple[Table, ...]


def sweep_sections(
    numbers: Numbers,
    points: Points,
    in_two_runs: Sequence[tuple[str, str]] = (),
) -> tuple[SweepSection, ...]:
    """A section for each dataset.

    Args:
        numbers: of `points`.
        points: of the page's runs, with the scores of all metrics that have a chart.
        in_two_runs: names of systems that are one system in two runs, to be compared.
    """
    by_metric = []
    for metric in dict.fromkeys((numbers.metric, *points.scores)):
        curves = sweep_curves(points, metric)
        by_metric.append(replace(numbers, metric=metric, curves=curves, scores=tuple(sweep_scores(curves, ()))))
    between = compare_systems(points, points, in_two_runs, numbers.metric)
    return tuple(
        _sweep_section(f"d{i}", dataset, numbers, by_metric, between) for i, dataset in enumerate(numbers.datasets)
    )


def _sweep_section(
    section: str,
    dataset: str,
    numbers: Numbers,
    by_metric: Sequence[Numbers],
    between: Sequence[Comparison],
) -> SweepSection:
    answer, names = numbers.kept, numbers.names
    lengths = tuple(sorted({score.n for score in numbers.scores_of(dataset)}))
    scored = [of_metric for of_metric in by_metric if dataset in of_metric.scored]
    compared = [comparison for comparison in between if comparison.dataset == dataset]
    return SweepSection(
        dataset=dataset,
        id=section,
        lengths=lengths,
        looks={system: look.css for system, look in system_looks(numbers.kinds).items()},
        looks_by_name={names[system]: look.css for system, look in system_looks(kept_kinds(answer)).items()},
        kept=kept_chart(answer, dataset, names, f"{section}-kept") if answer.of(dataset) else None,
        kept_tables=(kept_table(answer, dataset, names), *smallest_tables(answer, dataset, names)),
        notes=tuple(cautions(numbers, dataset)),
        metrics=tuple(_curves(of_metric, dataset, section) for of_metric in scored),
        gains=tuple(
            Drawn(
                numbers.names[over],
                difference_chart(numbers, dataset, over, by_system, f"{section}-over-{over}"),
                gains_table(numbers, dataset, over, by_system),
            )
            for over, by_system in gains(numbers, dataset).items()
        ),
        best_n=best_n_table(numbers, dataset),
        vs_lead=vs_lead_table(numbers, dataset),
        other_lengths=other_lengths_table(numbers, dataset),
        at_each_n=tuple(_at_each_n(comparison, numbers) for comparison in compared),
        uncut=tuple(uncut_tables(numbers, dataset)),
    )


def _curves(numbers: Numbers, dataset: str, section: str) -> Drawn:
    chart = mean_chart(numbers, dataset, f"{section}-{numbers.metric}")
    name = metric_name(numbers.metric)
    title = f"{dataset}: mean {name} by n"
    return Drawn(name, chart, means_table(numbers.scores_of(dataset), numbers.metric, numbers.names, title))


def _at_each_n(comparison: Comparison, numbers: Numbers) -> tuple[str, Table]:
    """Two systems at every n, under their verdict."""
    a, b = numbers.names[comparison.a], numbers.names[comparison.b]
    name = metric_name(numbers.metric)
    table = comparison_table(comparison, a, b, f"{comparison.dataset}: {a} vs. {b}, in {name}", numbers.places)
    text = verdict(comparison)
    return f"{a} vs. {b}, {name}: {'no difference shown' if text == '–' else text}", table


@dataclass(frozen=True, slots=True)
class PolicySection:
    """A training: a chart of the reward and one of the entropy for each n, and the tables of each dataset."""

    numbers: PolicyNumbers
    learning: tuple[Chart, ...]
    tables: Mapping[str, tuple[Table, ...]]


def policy_section(section: str, numbers: PolicyNumbers) -> PolicySection:
    """The section of one run, whose ids begin with `section`."""
    by_n = zip(*learning_charts(numbers, section), strict=True)
    tables = {dataset: tuple(policy_tables(numbers, dataset)) for dataset in numbers.scored}
    return PolicySection(numbers, tuple(chart for charts in by_n for chart in charts), tables)


def opening(numbers: Numbers, policies: Sequence[PolicyNumbers], points: Points) -> tuple[str, int] | None:
    """The system and the n that the viewer shows first: a training's best policy, or the system that keeps most.

    None where the answer names no n.
    """
    for trained in policies:
        if trained.has_policies:
            return _of_policies(trained, points)
    for dataset in numbers.datasets:
        if named := kept_answer.named_by_answer(numbers.kept, dataset):
            return named
    return None


def _of_policies(numbers: PolicyNumbers, points: Points) -> tuple[str, int]:
    """A seed of the policy with the highest mean, at the middle of the lengths that policies write."""
    lengths = sorted({score.n for score in numbers.scores if score.is_policy})
    n = lengths[len(lengths) // 2]
    best = max(
        (score for score in numbers.scores if score.is_policy and score.n == n), key=lambda score: score.score.mean
    )
    at_n = {points.systems[s] for s in points.system[points.n == n].tolist()}
    seeds = sorted(system for system in at_n if split_seed(system)[0] == best.system)
    return seeds[0] if seeds else best.system, n
