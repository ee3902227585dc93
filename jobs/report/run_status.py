"""What is said of a run wherever one is shown: its state, its time, what makes it, why articles failed."""

import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from jobs.report.numerals import counted
from jobs.store import FailureInfo, RunInfo, is_stale, seconds_of_driver

_NAMED = 3
"""How many articles or machines of a reason are named."""


def as_dict(run: RunInfo) -> dict[str, Any]:
    """A run as plain values: `stale` says whether it is 'running' with a dead driver, `unit` what its n count."""
    return plain_values(run) | {"stale": state_name(run) == "stale", "unit": run.length_unit}


def plain_values(record: Any) -> dict[str, Any]:
    """The fields of a record of the store, times in ISO 8601."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(record).items()}


def state_name(run: RunInfo) -> str:
    """The state of a run; "stale" if it is 'running' with a dead driver."""
    return "stale" if is_stale(run, socket.gethostname(), datetime.now(UTC)) else run.state


def done_text(run: RunInfo) -> str:
    """How many articles are done, and of how many: "3/24", or "3/?" where that is not known."""
    return f"{run.articles_done}/{'?' if run.total_articles is None else run.total_articles}"


def dataset_part(dataset: Mapping[str, Any]) -> str:
    """Which of a dataset's articles a recipe asks for, unless it is all."""
    skip, limit = dataset.get("skip") or 0, dataset.get("limit")
    if not skip and limit is None:
        return ""
    return f", articles {skip + 1} to {'the last' if limit is None else skip + limit}"


def duration(run: RunInfo) -> str:
    """How long its drivers have worked on it, without the pauses between them: hours, minutes, seconds."""
    if run.claimed_at is None:
        return "-"
    now = datetime.now(UTC)
    is_alive = state_name(run) == "running"
    newest = (now - run.claimed_at).total_seconds() if is_alive else seconds_of_driver(run)
    seconds = int(run.worked_seconds + newest)
    return f"{seconds // 3600}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


def made_by(run: RunInfo) -> list[tuple[str, str]]:
    """What makes the numbers of a run, each with its name, as far as it is recorded."""
    revisions = run.revisions
    facts = [
        ("seed", ", ".join(map(str, run.recipe.get("seeds", [run.seed])))),
        ("code", run.code_version),
        ("n", f"{', '.join(map(str, run.recipe.get('n', ())))} {run.length_unit}"),
        ("device", run.device or "–"),
    ]
    if run.mixed:
        whose = "those shards'" if run.shards else "its"
        facts.append(("mixed", f"several kinds of code, libraries or arithmetic: no other run copies {whose} rows"))
    # Where all rows are copies, no worker has told.
    of_copies = " (of the copied rows: this run has computed none)" if 0 < run.summaries == run.reused else ""
    facts += [("arithmetic", line + of_copies * (i == 0)) for i, line in enumerate(run.arithmetic)]
    for name, kind in (("trained on", "train_datasets"), ("dataset", "datasets")):
        asked = zip(revisions.get(kind, {}).items(), run.recipe.get(kind, ()), strict=False)
        facts += [(name, f"{dataset} {revision}{dataset_part(part)}") for (dataset, revision), part in asked]
    facts.append(("segmentation", revisions.get("segmentation", "–")))
    for name in ("encoder", "generator", "plugin", "predictions"):
        of_kind = revisions.get(name if name == "predictions" else f"{name}s", {})
        facts += [(name, f"{of}: {revision}") for of, revision in of_kind.items()]
    facts += list(run.signatures.items())
    libraries = ", ".join(f"{name} {version}" for name, version in revisions.get("libraries", {}).items())
    return [*facts, ("libraries", libraries or "–")]


def moment_text(moment: datetime) -> str:
    """A moment in whole seconds, UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def failure_lines(failures: Sequence[FailureInfo]) -> list[str]:
    """A line for each reason, the most frequent first. The names of the articles make no difference."""
    groups: dict[tuple[str, str, str], list[FailureInfo]] = {}
    for failure in failures:
        message = failure.message.replace(repr(failure.key), "'…'")
        groups.setdefault((failure.stage, failure.error_class, message), []).append(failure)
    lines = []
    for (stage, error_class, message), group in sorted(groups.items(), key=lambda item: -len(item[1])):
        articles = _some([f"{failure.dataset} {failure.key}" for failure in group])
        nodes = _some(sorted({failure.node for failure in group}))
        lines.append(f"{stage}, {counted(len(group), 'article')}: {error_class}: {message} ({articles}; on {nodes})")
    return lines


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
