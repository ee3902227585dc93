"""The page's sections: on each dataset what systems keep, score and gain, on each training how its policies learned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nws.core.findings.comparisons import Comparison
from nws.core.findings.content import KEPT
from nws.core.findings.document import Document
from nws.core.findings.policies import PolicyFindings, split_seed
from nws.core.findings.scores import Curve
from nws.core.metrics.specs import Metric
from nws.jobs.report.brief import brief_sentences, brief_table
from nws.jobs.report.charts import Chart, difference_chart, mean_chart
from nws.jobs.report.metric_names import metric_name
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
from nws.jobs.report.run_report import RunReport
from nws.jobs.report.sweep_charts import gains, kept_chart, run_looks
from nws.jobs.report.table import Table
from nws.jobs.report.wording import told_warnings
from nws.jobs.store import ArticleTexts

_WIDTH = 100
"""Of the table of content kept, in columns of a terminal."""


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
        kept: the chart of how many words keep how much, where that was scored.
        brief: content kept of the best systems and the controls.
        sentences: the most important statements behind the headline.
        kept_tables: shares of all systems by n, and the smallest n for a share.
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
    kept: Chart | None
    brief: Table | None
    sentences: tuple[str, ...]
    kept_tables: tuple[Table, ...]
    notes: tuple[str, ...]
    metrics: tuple[Drawn, ...]
    gains: tuple[Drawn, ...]
    best_n: Table | None
    vs_lead: Table | None
    other_lengths: Table | None
    at_each_n: tuple[tuple[str, Table], ...]
    uncut: tuple[Table, ...]


def sweep_sections(report: RunReport) -> tuple[SweepSection, ...]:
    """A section for each dataset."""
    return tuple(_sweep_section(f"d{i}", dataset, report) for i, dataset in enumerate(report.document.datasets))


def _sweep_section(section: str, dataset: str, report: RunReport) -> SweepSection:
    document, names, looks = report.document, report.names, run_looks(report)
    curves = document.of_metric().curves_of(dataset)
    ranked = bool(document.ranked.get(dataset))
    return SweepSection(
        dataset=dataset,
        id=section,
        lengths=tuple(sorted({at.n for curve in curves for at in curve.lengths})),
        looks={system: looks[system].css for system in document.kinds},
        kept=kept_chart(report, dataset, f"{section}-kept") if ranked else None,
        brief=brief_table(report, dataset, _WIDTH, KEPT) if ranked else None,
        sentences=tuple(brief_sentences(report, dataset)[1:]),
        kept_tables=(kept_table(document, dataset, names), *smallest_tables(document, dataset, names))
        if ranked
        else (),
        notes=tuple(told_warnings(document, dataset, names)),
        metrics=tuple(
            _curves(report, found.metric, of_dataset, section)
            for found in document.metrics
            if (of_dataset := found.curves_of(dataset))
        ),
        gains=tuple(
            Drawn(
                names[over],
                difference_chart(report, curves, over, by_system, looks, f"{section}-over-{over}"),
                gains_table(report, dataset, over, by_system),
            )
            for over, by_system in gains(report, dataset).items()
        ),
        best_n=best_n_table(report, dataset),
        vs_lead=vs_lead_table(report, dataset),
        other_lengths=other_lengths_table(report, dataset),
        at_each_n=tuple(_at_each_n(pair, report) for pair in document.between if pair.dataset == dataset),
        uncut=tuple(uncut_tables(report, dataset)),
    )


def _curves(report: RunReport, metric: Metric, curves: Sequence[Curve], section: str) -> Drawn:
    name = metric_name(metric)
    chart = mean_chart(report, metric, curves, run_looks(report), f"{section}-{metric}")
    title = f"{curves[0].dataset}: mean {name} by n"
    return Drawn(name, chart, means_table(curves, metric, report.names, title))


def _at_each_n(comparison: Comparison, report: RunReport) -> tuple[str, Table]:
    """Two systems at every n, under their verdict."""
    a, b = report.names[comparison.a], report.names[comparison.b]
    name = metric_name(report.metric)
    table = comparison_table(comparison, a, b, f"{comparison.dataset}: {a} vs. {b}, in {name}", report.places)
    text = verdict(comparison)
    return f"{a} vs. {b}, {name}: {'no significant difference' if text == '–' else text}", table


@dataclass(frozen=True, slots=True)
class PolicySection:
    """A training: a chart of the reward and one of the entropy for each n, and the tables of each dataset."""

    report: RunReport
    learning: tuple[Chart, ...]
    tables: Mapping[str, tuple[Table, ...]]

    @property
    def trained(self) -> PolicyFindings:
        """How its policies learned, and how they do."""
        assert self.report.document.policies is not None
        return self.report.document.policies


def policy_section(section: str, report: RunReport, examples: Sequence[ArticleTexts]) -> PolicySection:
    """The section of one run, whose ids begin with `section`."""
    by_n = zip(*learning_charts(report, section), strict=True)
    scored = report.document.policies.scored if report.document.policies else ()
    tables = {dataset: tuple(policy_tables(report, dataset, examples)) for dataset in scored}
    return PolicySection(report, tuple(chart for charts in by_n for chart in charts), tables)


def opening(report: RunReport, trainings: Sequence[RunReport]) -> tuple[str, int] | None:
    """The system and the n that the viewer shows first: a training's best policy, or the headline's.

    None where there is no headline.
    """
    for training in trainings:
        if training.document.policies is not None and training.document.policies.has_policies:
            return _of_policies(training.document.policies, report.document)
    named = [report.document.headline(dataset) for dataset in report.document.datasets]
    return next(((one.system, one.n) for one in named if one is not None), None)


def _of_policies(trained: PolicyFindings, document: Document) -> tuple[str, int]:
    """A seed of the policy with the highest mean, at the middle of the lengths that policies write."""
    lengths = sorted({score.n for score in trained.scores if score.is_policy})
    n = lengths[len(lengths) // 2]
    scores = (score for score in trained.scores if score.is_policy and score.n == n)
    best = max(scores, key=lambda score: score.score.mean)
    at_n = {curve.system for curve in document.of_metric().curves for at in curve.lengths if at.n == n}
    seeds = sorted(system for system in at_n if split_seed(system)[0] == best.system)
    return seeds[0] if seeds else best.system, n
