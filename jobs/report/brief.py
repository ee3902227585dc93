"""The short report of a dataset: one table by system and n, at most five sentences, and the most important warnings."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from rich.cells import cell_len
from rich.console import Console

from nws.core.findings.content import CONTENT_KEPT
from nws.core.findings.scores import Interval
from nws.core.findings.statements import Statement
from nws.core.metrics.specs import Metric
from nws.core.systems.rulers import REFERENCE_WORDS
from nws.core.types import LEAD, RANDOM
from nws.jobs.report.metric_names import metric_name, metric_places
from nws.jobs.report.numerals import (
    choose_lengths,
    counted,
    decimals,
    interval_text,
    percent,
    percent_interval,
    printed,
)
from nws.jobs.report.printed_lines import ROLES, print_line, print_shortened, role
from nws.jobs.report.run_report import RunReport
from nws.jobs.report.table import Cell, Table
from nws.jobs.report.wording import worded

YARDSTICKS = (LEAD, RANDOM, REFERENCE_WORDS)
"""The systems below the best ones, which show what a number is worth."""
MOST_BEST = 3
MOST_SENTENCES = 4
MOST_WARNINGS = 2
SEEDS_NOTE = "Here each seed of a trained policy is one system. “Are the policies better?” compares means over seeds."
_STATEMENT_TYPES = (
    "headline",
    "differences",
    "over_lead",
    "uncut_content",
    "systems_are_the_limit",
    "truth_not_measured",
)
"""The types of statements in a short report. The full report has the others, too."""


_Points: TypeAlias = Mapping[int, tuple[Interval, int]]
"""By n, the mean of a system and its articles."""


def print_brief(report: RunReport, console: Console, metric: Metric | None = None) -> None:
    """Print each dataset of a report in at most 25 lines.

    Args:
        report: the report of a run.
        console: the console to print to.
        metric: the metric of the table; None for content kept where the run has it.
    """
    for dataset in report.document.datasets:
        kept = metric in (None, CONTENT_KEPT) and bool(report.document.ranking.get(dataset))
        table = brief_table(report, dataset, console.width, CONTENT_KEPT if kept else metric or report.metric)
        if table is not None:
            table.print(console)
            console.print()
        for sentence in brief_sentences(report, dataset) if kept or not table else ():
            print_line(console, sentence)
        for warning in report.document.warnings.get(dataset, ())[:MOST_WARNINGS]:
            print_line(console, worded(warning, report.names, report.document.unit), style="yellow")
    print_shortened(report.names, console)


def brief_sentences(report: RunReport, dataset: str) -> list[str]:
    """Word the most important statements on a dataset."""
    statements: Sequence[Statement] = report.document.statements.get(dataset, ())
    chosen = [one for one in statements if one.type in _STATEMENT_TYPES][:MOST_SENTENCES]
    # One on kinds of words is not counted: other statements must not depend on whether a spaCy pipeline is installed.
    shown = [one for one in statements if one in chosen or one.type == "kinds_kept"]
    return [worded(one, report.names, report.document.unit) for one in shown]


def brief_table(report: RunReport, dataset: str, width: int, metric: Metric) -> Table | None:
    """Make the table of the best systems and those to compare them with, with as many n as the width has room for."""
    points = _points(report, dataset, metric)
    if not points:
        return None
    chosen = {system: points[system] for system in _chosen_systems(report, dataset, points, metric)}
    names = [report.names[system] + role(report.document.kinds[system]) for system in chosen]
    lengths = sorted({n for by_n in chosen.values() for n in by_n})
    is_share, places = metric == CONTENT_KEPT, metric_places(metric)
    heading = f"95 % CI at {lengths[-1]}"
    intervals = [_interval_text(by_n, lengths[-1], is_share, places) for by_n in chosen.values()]
    cell = 3 if is_share else places + 1
    taken = max(map(cell_len, names)) + 2 + max(map(cell_len, (heading, *intervals)))
    shown = choose_lengths(lengths, cell, width - taken)
    has_intervals = any(intervals)
    rows = []
    for name, by_n, interval in zip(names, chosen.values(), intervals, strict=True):
        means = [_mean_text(by_n[n][0].mean, is_share, places) if n in by_n else "–" for n in shown]
        rows.append((name, *map(Cell, means), *([Cell(interval)] * has_intervals)))
    most = max(articles for by_n in chosen.values() for _, articles in by_n.values())
    what = "content kept, in % of the reference" if is_share else f"mean {metric_name(metric)}"
    title = f"{dataset}: {what} ({counted(most, 'article')})"
    columns = (report.document.unit, *map(str, shown), *([heading] * has_intervals))
    kinds = {report.document.kinds[system] for system in chosen}
    hidden = len(lengths) - len(shown)
    notes = list(filter(None, ["; ".join(meaning for kind, meaning in ROLES.items() if kind in kinds)]))
    notes += [f"{counted(hidden, 'more length')}: nws report --full"] * bool(hidden)
    return Table(columns, rows, title, [*notes, *[SEEDS_NOTE] * any("|seed=" in name for name in names)])


def _points(report: RunReport, dataset: str, metric: Metric) -> dict[str, _Points]:
    """Return the means of each system in a metric."""
    if metric == CONTENT_KEPT:
        shares = {system: kept["reference"].lengths for system, kept in report.document.kept_of(dataset).items()}
        return {system: {at.n: (at.share, at.articles) for at in by_n} for system, by_n in shares.items()}
    curves = report.document.of_metric(metric).curves_of(dataset)
    return {curve.system: {at.n: (at, at.articles) for at in curve.lengths} for curve in curves}


def _chosen_systems(report: RunReport, dataset: str, points: Mapping[str, _Points], metric: Metric) -> list[str]:
    ranked: Sequence[str] = report.document.ranking.get(dataset, ())
    if metric != CONTENT_KEPT:
        last = {system: by_n[max(by_n)][0].mean for system, by_n in points.items()}
        systems = [system for system in points if report.document.kinds[system] == "system"]
        ranked = sorted(systems, key=lambda system: (-last[system], system))
    best = [system for system in ranked if system not in YARDSTICKS][:MOST_BEST]
    return [*best, *(system for system in YARDSTICKS if system in points)] or list(points)[:MOST_BEST]


def _mean_text(mean: float, is_share: bool, places: int) -> str:
    return percent(mean).removesuffix(" %") if is_share else decimals(mean, places)


def _interval_text(points: _Points, longest: int, is_share: bool, places: int) -> str:
    shown = printed(*points[longest]) if longest in points else None
    if shown is None or shown.low is None:
        return ""
    return percent_interval(shown).removesuffix(" %") if is_share else interval_text(shown, places)
