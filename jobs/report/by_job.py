"""Which report a run has: that of its job. Each imports its own plots and tables, and not those of the other."""

from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from jobs.report.run_facts import ReportFiles
from jobs.store import RunInfo, Store

# Reads a run from a store, prints its tables to a console, and writes its files into a folder.
Report = Callable[[Store, RunInfo, Path, Console], ReportFiles]


def _of_sweep(store: Store, run: RunInfo, out_dir: Path, console: Console) -> ReportFiles:
    from jobs.report.sweep.numbers import VS_LEAD
    from jobs.report.sweep.write import write_sweep_report

    return write_sweep_report(run, store.points(run.id, VS_LEAD), out_dir, console)


def _of_policies(store: Store, run: RunInfo, out_dir: Path, console: Console) -> ReportFiles:
    from jobs.report.policies.numbers import PolicyResults
    from jobs.report.policies.write import write_policy_report

    reward = run.signatures["reward"]
    results = PolicyResults(
        points=store.points(run.id, repeated_words=True),
        curve=store.learning_curve(run.id),
        greedy=store.greedy_rewards(run.id),
        reward=reward,
        reward_is_f1=reward == run.signatures["bertscore"],
    )
    return write_policy_report(run, results, out_dir, console)


REPORTS: dict[str, Report] = {"phase1": _of_sweep, "baselines": _of_sweep, "phase2": _of_policies}
"""By job."""
