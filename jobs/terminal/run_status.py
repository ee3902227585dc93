"""Runs for people (`nws ls`, `nws status`) and for programs (`--json`)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from jobs.store import FailureInfo, PolicyInfo, RunInfo
from jobs.terminal.console import printable


def as_dict(
    run: RunInfo, failures: Sequence[FailureInfo] | None = None, policies: Sequence[PolicyInfo] = ()
) -> dict[str, Any]:
    """A run as plain values with times in ISO 8601; with its failures where they are given, and its policies if any."""
    values = {key: _plain(value) for key, value in asdict(run).items()}
    if failures is not None:
        values["failed_articles"] = [
            {key: _plain(value) for key, value in asdict(failure).items()} for failure in failures
        ]
    if policies:
        values["policies"] = [{key: _plain(value) for key, value in asdict(policy).items()} for policy in policies]
    return values


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


COLUMNS = ("RUN", "STATE", "ARTICLES", "SUMMARIES", "FAILED", "SUBMITTED (UTC)", "TIME")


def updates_as_dict(updates: tuple[int, int] | None) -> dict[str, int]:
    """The updates of a run's policies, had and to be had, as plain values; nothing where none are trained."""
    return {} if updates is None else dict(zip(("updates", "total_updates"), updates, strict=True))


def rows(runs: Sequence[RunInfo], updates: Mapping[str, tuple[int, int]]) -> list[tuple[object, ...]]:
    """One row a run under `COLUMNS`; `updates` of the policies of each run, had and to be had."""
    return [
        (
            run.id,
            run.state,
            _progress(run) + _training(updates.get(run.id, (0, 0))),
            run.summaries,
            run.failures,
            f"{run.created_at.astimezone(UTC):%Y-%m-%d %H:%M}",
            _duration(run),
        )
        for run in runs
    ]


def _progress(run: RunInfo) -> str:
    return f"{run.articles_done}/{'?' if run.total_articles is None else run.total_articles}"


def _training(updates: tuple[int, int]) -> str:
    """How far a training is that is not over: no article is summarised before."""
    done, total = updates
    return f" (training: {done}/{total} updates)" if done < total else ""


def _part(dataset: Mapping[str, Any]) -> str:
    """Which of a dataset's articles a recipe asks for, unless it is all."""
    skip, limit = dataset.get("skip") or 0, dataset.get("limit")
    if not skip and limit is None:
        return ""
    return f", articles {skip + 1} to {'the last' if limit is None else skip + limit}"


def _duration(run: RunInfo) -> str:
    if run.started_at is None:
        return "-"
    end = run.finished_at or (datetime.now(UTC) if run.state == "running" else run.heartbeat_at or run.started_at)
    seconds = int((end - run.started_at).total_seconds())
    return f"{seconds // 3600}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


def print_status(
    run: RunInfo, failures: Sequence[FailureInfo], policies: Sequence[PolicyInfo], console: Console
) -> None:
    """A run, one fact a line, its policies and its failures."""

    def line(name: str, value: object) -> None:
        console.print(f"{name:<12} {printable(str(value))}", markup=False)

    line("run", run.id)
    line("state", run.state + (f" ({run.error})" if run.error else ""))
    if run.state == "pending":
        whom = f"its Ray job at {run.address} to begin" if run.address else "a driver"
        line("waits for", f"{whom}. If that is gone: nws resume {run.id}")
    line("articles", f"{_progress(run)} done, {run.failures} failed")
    line("summaries", f"{run.summaries}, {run.reused} of them reused" if run.reused else run.summaries)
    line("time", f"{_duration(run)} since {_plain(run.started_at)}" if run.started_at else "not started")
    if run.state == "running":
        line("driver", f"pid {run.driver_pid} on {run.driver_host}, last heard of {_plain(run.heartbeat_at)}")
    if run.address:
        line("submitted to", run.address)
    line("device", run.device or "-")
    for arithmetic in run.arithmetic:
        line("arithmetic", arithmetic)
    line("code", run.code_version)
    line("seed", ", ".join(map(str, run.recipe.get("seeds", [run.seed]))))
    for policy in policies:
        line("policy", f"{policy.name}: {policy.updates}/{policy.total_updates} updates")
    for name, kind in (("learns from", "train_datasets"), ("dataset", "datasets")):
        revisions = run.revisions.get(kind, {})
        for (dataset, revision), asked in zip(revisions.items(), run.recipe.get(kind, ()), strict=False):
            line(name, f"{dataset} {revision}{_part(asked)}")
    line("segmentation", run.revisions["segmentation"])
    for encoder in run.revisions["encoders"].values():
        line("encoder", encoder)
    for generator in run.revisions.get("generators", {}).values():
        line("generator", generator)
    line("bertscore", run.revisions["bertscore"])
    line("libraries", ", ".join(f"{name} {version}" for name, version in run.revisions["libraries"].items()))
    for name, signature in run.signatures.items():
        line("reward" if name == "reward" else "metric", signature)
    for failure in failures:
        line(
            "failed",
            f"{failure.stage}, {failure.dataset} {failure.key}: {failure.error_class}: {failure.message} "
            f"({failure.attempts} attempts, {failure.node})",
        )
