"""The page's sections: on each dataset what systems keep, score and gain, on each training how its policies learned."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nws.core.findings.comparisons import Comparison
from nws.core.findings.content import CONTENT_KEPT
from nws.core.findings.policy_findings import split_seed
from nws.core.findings.report_document import ReportDocument
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
    kinds_table,
    means_table,
    other_lengths_table,
    smallest_tables,
    uncut_tables,
    verdict,
    vs_lead_table,
)
from nws.jobs.report.run_report import RunReport
from nws.jobs.report.sweep_charts import gains, kept_chart, kinds_chart, run_looks
from nws.jobs.report.table import Table
from nws.jobs.report.wording import warning_sentences
from nws.jobs.store import ArticleTexts

_WIDTH = 100
"""Of the table of content kept, in columns of a terminal."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart, and the table of its numbers; `name` is of its metric, or of the system that others gain over."""

    name: str
    chart: Chart
    table: Table


def sweep_section(section_id: str, dataset: str, report: RunReport) -> dict[str, Any]:
    """Make the page's part on one dataset, with what it shows by the names in its template.

    `looks` are CSS classes by system. Where content kept is known, `kept` is the chart of how many words keep how much,
    `brief` the table of the best systems and the controls, `kept_tables` those of all systems, and `kinds` what each
    keeps of each kind of word. `sentences` are the
    most important statements behind the headline, `notes` what a reader must know of its articles and tests.
    `at_each_n` has comparisons of systems of two runs, each named by its systems and verdict.
    """
    document, names, looks = report.document, report.names, run_looks(report)
    curves = document.of_metric().curves_of(dataset)
    ranked = bool(document.ranking.get(dataset))
    return {
        "dataset": dataset,
        "id": section_id,
        "lengths": sorted({at.n for curve in curves for at in curve.lengths}),
        "looks": {system: looks[system].css for system in document.kinds},
        "kept": kept_chart(report, dataset, f"{section_id}-kept") if ranked else None,
        "brief": brief_table(report, dataset, _WIDTH, CONTENT_KEPT) if ranked else None,
        "sentences": brief_sentences(report, dataset)[1:],
        "kept_tables": [kept_table(document, dataset, names), *smallest_tables(document, dataset, names)] * ranked,
        "kinds": [
            Drawn(
                names[system],
                kinds_chart(report, dataset, system, f"{section_id}-kinds-{i}"),
                kinds_table(document, dataset, system, names),
            )
            for i, system in enumerate(sorted(document.by_kind(dataset), key=_best_first(document, dataset)))
        ],
        "notes": list(warning_sentences(document, dataset, names)),
        "metrics": [
            _curves(report, found.metric, of_dataset, section_id)
            for found in document.metrics
            if (of_dataset := found.curves_of(dataset))
        ],
        "gains": [
            Drawn(
                names[over],
                difference_chart(report, curves, over, by_system, looks, f"{section_id}-over-{over}"),
                gains_table(report, dataset, over, by_system),
            )
            for over, by_system in gains(report, dataset).items()
        ],
        "best_n": best_n_table(report, dataset),
        "vs_lead": vs_lead_table(report, dataset),
        "other_lengths": other_lengths_table(report, dataset),
        "at_each_n": [_at_each_n(pair, report) for pair in document.between_runs if pair.dataset == dataset],
        "uncut": list(uncut_tables(report, dataset)),
    }


def _best_first(document: ReportDocument, dataset: str) -> Callable[[str], int]:
    """Return the place of a system among those that one can choose, with the others behind them."""
    ranked = document.ranking.get(dataset, ())
    return lambda system: ranked.index(system) if system in ranked else len(ranked)


def _curves(report: RunReport, metric: Metric, curves: Sequence[Curve], section: str) -> Drawn:
    name = metric_name(metric)
    chart = mean_chart(report, metric, curves, run_looks(report), f"{section}-{metric}")
    title = f"{curves[0].dataset}: mean {name} by n"
    return Drawn(name, chart, means_table(curves, metric, report.names, title))


def _at_each_n(comparison: Comparison, report: RunReport) -> tuple[str, Table]:
    """Compare two systems at every n, under their verdict."""
    a, b = report.names[comparison.a], report.names[comparison.b]
    name = metric_name(report.metric)
    table = comparison_table(comparison, a, b, f"{comparison.dataset}: {a} vs. {b}, in {name}", report.places)
    text = verdict(comparison)
    return f"{a} vs. {b}, {name}: {'no significant difference' if text == '–' else text}", table


def policy_section(section_id: str, report: RunReport, examples: Sequence[ArticleTexts]) -> dict[str, Any]:
    """Make the page's part on one training, with what it shows by the names in its template.

    `learning` has a chart of the reward and one of the entropy for each n, `tables` those of each dataset.
    """
    by_n = zip(*learning_charts(report, section_id), strict=True)
    return {
        "report": report,
        "trained": report.trained,
        "learning": [chart for charts in by_n for chart in charts],
        "tables": {dataset: list(policy_tables(report, dataset, examples)) for dataset in report.trained.scored},
    }


def opening(report: RunReport, trainings: Sequence[RunReport]) -> tuple[str, int] | None:
    """Choose the system and n that the viewer shows first: a seed of a training's best policy, or the headline's.

    None where there is no headline.
    """
    for training in trainings:
        if best := training.trained.best_policy():
            curves = report.document.of_metric().curves
            at_n = [curve.system for curve in curves if any(at.n == best.n for at in curve.lengths)]
            seeds = sorted(system for system in at_n if split_seed(system)[0] == best.system)
            return next(iter(seeds), best.system), best.n
    named = [report.document.headline(dataset) for dataset in report.document.datasets]
    return next(((one.system, one.n) for one in named if one is not None), None)
