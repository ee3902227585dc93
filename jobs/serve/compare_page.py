"""Two runs side by side, or the systems of one: what made them, and which is better at equal n."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from core.analysis.content_kept import KEPT
from jobs.evaluate.compare import compare_runs
from jobs.evaluate.printed_comparison import notes
from jobs.report.sweep.numbers import verdict_lengths
from jobs.store import RunInfo, Store
from jobs.terminal.metrics import metric_label, metric_name, metric_places, metric_signature
from jobs.terminal.run_status import duration, made_by


def sides_of(a: RunInfo, b: RunInfo) -> list[tuple[str, str, str]]:
    """What made either run, each with its name; what several lines tell is put together."""
    told_a, told_b = _told(a), _told(b)
    return [(name, told_a.get(name, "–"), told_b.get(name, "–")) for name in dict.fromkeys((*told_a, *told_b))]


def _told(run: RunInfo) -> dict[str, str]:
    lines: dict[str, list[str]] = defaultdict(list)
    counts = [
        ("job", run.job),
        ("state", run.state),
        ("articles", f"{run.articles_done}, {run.failures} failed"),
        ("time", duration(run)),
    ]
    for name, value in (*counts, *made_by(run)):
        lines[name].append(value)
    return {name: "; ".join(values) for name, values in lines.items()}


def opening_metric(runs: Sequence[RunInfo], metrics: Sequence[str]) -> str:
    """What runs are compared by where nobody says: content kept if all have it and measured it alike, or BERTScore F1.

    `metrics` are those that all of them have.
    """
    is_alike = len({metric_signature(run, KEPT) for run in runs}) == 1
    return KEPT if KEPT in metrics and is_alike else "bertscore_f1"


def comparison_values(store: Store, runs: Sequence[RunInfo], metric: str) -> dict[str, Any]:
    """The comparisons of `nws compare`, of two runs or the systems of one. It may take seconds: it reads summaries.

    Raises:
        NwsError: there is nothing to compare, and why.
    """
    result = compare_runs(store, runs[0].id, runs[1].id if len(runs) == 2 else None, [], None, metric)
    rows = []
    for comparison in result.comparisons:
        left_out = result.why_left_out[comparison.dataset, comparison.a, comparison.b]
        sides = ("A", "B") if result.two_runs else (result.names[comparison.a], result.names[comparison.b])
        told = notes(comparison, result.kinds, runs[0].length_unit, *sides)
        rows.append((comparison, *verdict_lengths(comparison), (*left_out, *told)))
    return {
        "result": result,
        "rows": rows,
        "metric": metric_name(result.metric),
        "label": metric_label(result.metric, result.signatures[0]),
        "places": metric_places(result.metric),
    }
