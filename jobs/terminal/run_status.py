"""Runs for people (`nws ls`, `nws status`) and for programs (`--json`)."""

import re
import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from rich.cells import cell_len, chop_cells
from rich.console import Console

from jobs.store import FailureInfo, PolicyInfo, RunInfo, is_stale, seconds_of_driver
from jobs.terminal.console import printable
from jobs.terminal.numerals import counted

_INDENT = 13
"""Columns for the name of a fact."""
_NAMED = 3
"""How many articles or machines of a reason are named."""


def as_dict(
    run: RunInfo,
    failures: Sequence[FailureInfo] | None = None,
    policies: Sequence[PolicyInfo] = (),
    shards: Sequence[RunInfo] = (),
) -> dict[str, Any]:
    """A run as plain values with times in ISO 8601; with its failures where they are given, and its policies if any.

    How its shards stand is under `of_shards`, if it has any.

    `stale` says whether it is 'running' with a driver that is dead, `unit` what its n count.
    """
    values = {key: _plain(value) for key, value in asdict(run).items()} | {
        "stale": _is_stale(run),
        "unit": run.length_unit,
    }
    if failures is not None:
        values["failed_articles"] = [
            {key: _plain(value) for key, value in asdict(failure).items()} for failure in failures
        ]
    if policies:
        values["policies"] = [{key: _plain(value) for key, value in asdict(policy).items()} for policy in policies]
    if shards:
        names = ("id", "shard", "state", "articles_done", "total_articles", "failures", "error")
        values["of_shards"] = [{name: getattr(shard, name) for name in names} for shard in shards]
    return values


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


COLUMNS = ("RUN", "STATE", "ARTICLES", "SUMMARIES", "FAILED", "SUBMITTED (UTC)", "TIME", "NAME", "NOTE")


def updates_as_dict(updates: tuple[int, int] | None) -> dict[str, int]:
    """The updates of a run's policies, done and in total, as plain values; empty if none are trained."""
    return {} if updates is None else dict(zip(("updates", "total_updates"), updates, strict=True))


def rows(runs: Sequence[RunInfo], updates: Mapping[str, tuple[int, int]]) -> list[tuple[object, ...]]:
    """One row a run under `COLUMNS`; `updates` of the policies of each run, had and to be had."""
    return [
        (
            run.id,
            "stale" if _is_stale(run) else run.state,
            _progress(run) + _training(updates.get(run.id, (0, 0))) + (f", {run.shards} shards" if run.shards else ""),
            run.summaries,
            run.failures,
            f"{run.created_at.astimezone(UTC):%Y-%m-%d %H:%M}",
            duration(run),
            run.name or "",
            run.note or "",
        )
        for run in runs
    ]


def _is_stale(run: RunInfo) -> bool:
    return is_stale(run, socket.gethostname(), datetime.now(UTC))


def _progress(run: RunInfo) -> str:
    return f"{run.articles_done}/{'?' if run.total_articles is None else run.total_articles}"


def _training(updates: tuple[int, int]) -> str:
    """How far an unfinished training is. No article is summarised before its end."""
    done, total = updates
    return f" (training: {done}/{total} updates)" if done < total else ""


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
    is_alive = run.state == "running" and not _is_stale(run)
    newest = (now - run.claimed_at).total_seconds() if is_alive else seconds_of_driver(run)
    seconds = int(run.worked_seconds + newest)
    return f"{seconds // 3600}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


def print_status(
    run: RunInfo,
    failures: Sequence[FailureInfo],
    policies: Sequence[PolicyInfo],
    console: Console,
    where: str = "",
    shards: Sequence[RunInfo] = (),
) -> None:
    """A run, one fact a line, its policies, its shards and why articles failed.

    `where` makes commands find its store. On a terminal long facts are wrapped; elsewhere each has one line.
    """

    def line(name: str, value: object) -> None:
        text = printable(str(value))
        lines = _wrapped(text, max(1, console.width - _INDENT)) if console.is_terminal else [text]
        for start, part in zip((name, *[""] * len(lines)), lines, strict=False):
            console.print(f"{start:<{_INDENT - 1}} {part}", markup=False)

    line("run", run.id)
    for name, value in (("name", run.name), ("note", run.note)):
        if value:
            line(name, value)
    if _is_stale(run):
        line("state", f"stale: its driver is dead, or out of reach. Resume it with: nws resume {run.id}{where}")
    else:
        line("state", run.state + (f" ({run.error})" if run.error else ""))
    if run.parent:
        line("shard", f"{run.shard} of {run.parent}")
    if run.state == "pending" and run.parent:
        line("waits for", f"its turn. If no driver is at work: nws resume {run.parent}{where}")
    elif run.state == "pending":
        whom = f"its Ray job at {run.address} to begin" if run.address else "a driver"
        line("waits for", f"{whom}. If that is gone: nws resume {run.id}{where}")
    if shards:
        states = Counter("stale" if _is_stale(shard) else shard.state for shard in shards)
        line("shards", f"{len(shards)}: {', '.join(f'{count} {state}' for state, count in states.items())}")
        for shard in shards:
            if shard.state not in ("done", "pending"):
                line(f"shard {shard.shard}", f"{shard.id}: {_progress(shard)}, {_state_in_words(shard)}")
    line("articles", f"{_progress(run)} done, {run.failures} failed")
    line("summaries", f"{run.summaries}, {run.reused} of them reused" if run.reused else run.summaries)
    line("time", f"{duration(run)} of work since {_moment(run.started_at)}" if run.started_at else "not started")
    if run.state == "running":
        line("driver", f"pid {run.driver_pid} on {run.driver_host}, last heard of {_moment(run.heartbeat_at)}")
    if run.address:
        line("submitted to", run.address)
    for policy in policies:
        line("policy", f"{policy.name}: {policy.updates}/{policy.total_updates} updates")
    for name, value in made_by(run):
        line(name, value)
    for reason in failure_reasons(failures):
        line("failed", reason.line)


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


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most so many columns, broken between words or behind a "|" of a signature, and else anywhere."""
    lines = [""]
    for piece in re.findall(r"[^\s|]+\|?\s*|\|\s*|\s+", text):
        if lines[-1] and cell_len(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        *whole, rest = chop_cells(piece, width) if cell_len(piece.rstrip()) > width else [piece]
        lines[-1:] = [*whole, rest] if not lines[-1] else [lines[-1] + rest]
    return [line.rstrip() for line in lines]


def _moment(moment: datetime | None) -> str:
    return "–" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _state_in_words(run: RunInfo) -> str:
    return "stale" if _is_stale(run) else run.state + (f" ({run.error})" if run.error else "")


@dataclass(frozen=True, slots=True)
class FailureReason:
    """One reason, and the failures that have it: at least one, all in one stage.

    `message` is theirs, with `'…'` for the key of the article if there are several.
    """

    stage: str
    error_class: str
    message: str
    failures: tuple[FailureInfo, ...]

    @property
    def line(self) -> str:
        """For `nws status`."""
        one = self.failures[0]
        nodes = _some(sorted({failure.node for failure in self.failures}))
        if len(self.failures) == 1:
            tried = f"({counted(one.attempts, 'attempt')}, on {nodes})"
            return f"{self.stage}, {one.dataset} {one.key}: {self.error_class}: {self.message} {tried}"
        articles = _some([f"{failure.dataset} {failure.key}" for failure in self.failures])
        many = counted(len(self.failures), "article")
        return f"{self.stage}, {many}: {self.error_class}: {self.message} ({articles}; on {nodes})"


def failure_reasons(failures: Sequence[FailureInfo]) -> list[FailureReason]:
    """The reasons of these failures, the most frequent first. The names of the articles make no difference."""
    groups: dict[tuple[str, str, str], list[FailureInfo]] = {}
    for failure in failures:
        message = failure.message.replace(repr(failure.key), "'…'")
        groups.setdefault((failure.stage, failure.error_class, message), []).append(failure)
    reasons = [
        FailureReason(stage, error_class, message if len(group) > 1 else group[0].message, tuple(group))
        for (stage, error_class, message), group in groups.items()
    ]
    return sorted(reasons, key=lambda reason: -len(reason.failures))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
