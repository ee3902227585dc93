"""Two runs side by side, or the systems of one: what made them, and which is better at equal n."""

from collections import defaultdict
from collections.abc import Sequence

from jobs.serve.html import rendered
from jobs.store import RunInfo, Store
from jobs.terminal.run_status import duration, made_by

Sides = list[tuple[str, str, str]]


def sides_of(a: RunInfo, b: RunInfo) -> Sides:
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
    from core.analysis.content_kept import KEPT
    from jobs.terminal.metrics import metric_signature

    is_alike = len({metric_signature(run, KEPT) for run in runs}) == 1
    return KEPT if KEPT in metrics and is_alike else "bertscore_f1"


def comparison_html(store: Store, a: RunInfo, b: RunInfo | None, metric: str) -> str:
    """The comparisons of `nws compare` as HTML. It may take seconds: it reads the runs' summaries.

    Raises:
        NwsError: there is nothing to compare, and why.
    """
    from jobs.report.sweep.numbers import verdict_lengths
    from jobs.terminal.metrics import metric_label, metric_name, metric_places
    from jobs.tools.comparison import compare_runs
    from jobs.tools.printed_comparison import notes

    result = compare_runs(store, a.id, None if b is None else b.id, [], None, metric)
    rows = []
    for comparison in result.comparisons:
        better, worse = verdict_lengths(comparison)
        sides = ("A", "B") if result.two_runs else (result.names[comparison.a], result.names[comparison.b])
        told = tuple(notes(comparison, result.kinds, a.length_unit, *sides))
        rows.append((comparison, better, worse, told))
    return rendered(
        "comparison.html.j2",
        result=result,
        rows=rows,
        metric=metric_name(result.metric),
        label=metric_label(result.metric, result.signatures[0]),
        places=metric_places(result.metric),
    )
