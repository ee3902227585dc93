"""The report of each job. Each report imports only its own plots and tables."""

from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from core.analysis import Metric
from jobs.report.run_facts import ReportFiles
from jobs.store import RunInfo, Store
from jobs.terminal.busy import busy

# Reads a run from a store, prints its tables in a metric to a console, and writes its files into a folder. The text is
# what commands that it names need to find the run.
Report = Callable[[Store, RunInfo, Metric, Path, Console, str], ReportFiles]


def _report_sweep(
    store: Store, run: RunInfo, metric: Metric, out_dir: Path, console: Console, where: str
) -> ReportFiles:
    from jobs.report.asked import print_asked
    from jobs.report.sweep.numbers import metrics_read
    from jobs.report.sweep.write import write_sweep_report

    with busy("Reading summaries"):
        points = store.points(run.id, metrics_read(metric))
    files = write_sweep_report(run, points, out_dir, console, metric, where)
    print_asked(store, run, console)
    return files


def _report_policies(
    store: Store, run: RunInfo, metric: Metric, out_dir: Path, console: Console, where: str
) -> ReportFiles:
    from jobs.report.policies.read import policy_results
    from jobs.report.policies.write import write_policy_report
    from jobs.terminal.metrics import metrics_of

    with busy("Reading summaries"):
        results = policy_results(store, run, [*dict.fromkeys((*metrics_of([run]), metric))])
    return write_policy_report(run, results, out_dir, console, metric, where)


REPORTS: dict[str, Report] = {"phase1": _report_sweep, "baselines": _report_sweep, "phase2": _report_policies}
"""By job."""
