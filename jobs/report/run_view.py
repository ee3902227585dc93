"""The state of a run now, for `nws status` and `nws serve`: a few rows by their keys, however large the run is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nws.cluster.dispatcher import rows_warning
from nws.jobs.drive.progress import Span, duration
from nws.jobs.drive.ship import HeartbeatMonitor
from nws.jobs.report.console import printable
from nws.jobs.report.numerals import counted
from nws.jobs.report.run_status import as_dict, done_text, failure_lines, made_by, moment_text, plain_values, state_name
from nws.jobs.report.run_status import duration as work_time
from nws.jobs.store import FailureInfo, Progress, RunInfo, Store

_NAME_WIDTH = 12
_BRIEF_REASONS = 2
_BRIEF_LETTERS = 130


@dataclass(frozen=True, slots=True)
class View:
    """A run at one moment.

    Attributes:
        run: as the store has it.
        progress: the progress of its driver; None without a driver, or before the first report.
        span: the span of the progress, until now.
        reasons: why articles failed.
        newest: the id of an article of those that were stored last.
    """

    run: RunInfo
    progress: Progress | None
    span: Span
    reasons: tuple[FailureInfo, ...] = ()
    newest: str | None = None

    @property
    def has_ended(self) -> bool:
        """Whether nobody works on the run, nor is going to."""
        return self.run.state not in ("pending", "running")

    @property
    def seconds_left(self) -> float | None:
        """Seconds left of the current stage; None if unknown."""
        if self.progress is None or self.progress.total is None:
            return None
        return self.span.seconds_left(self.progress.total - self.progress.finished)


class Viewer:
    """Looks at a run again and again, and reads its failures only if their number has changed.

    `most_reasons` is how many failures it reads, the last ones; default: all. A `waiting` store is waited for.
    """

    def __init__(self, store: Store, run_id: str, most_reasons: int | None = None) -> None:
        self._store = store
        self._run_id = run_id
        self._most_reasons = most_reasons
        self._heartbeats = HeartbeatMonitor()
        self._failures = 0
        self._reasons: tuple[FailureInfo, ...] = ()

    def read_live(self) -> View:
        """Read the run as it is now, and refuse it if its driver is gone.

        Raises:
            ClusterError: its driver is gone, and the run has not ended.
            StoreError: there is no such run, or the store cannot be read.
        """
        view = self.read()
        self._heartbeats.require(view.run)
        return view

    def read(self) -> View:
        """Read the run as it is now, whether its driver is gone or not.

        Raises:
            StoreError: there is no such run, or the store cannot be read.
        """
        run = self._store.run_info(self._run_id)
        silent = self._heartbeats.silent_seconds(run)
        progress = self._store.progress(run.id)
        if run.failures != self._failures:
            self._reasons = tuple(self._store.failures(run.id, newest=self._most_reasons))
            self._failures = run.failures
        at = progress if run.state == "running" else None
        newest = progress.newest if progress else None
        return View(run, at, span_until_now(run, at, silent), self._reasons, newest)


def span_until_now(run: RunInfo, at: Progress | None, silent_seconds: float) -> Span:
    """Extend the span that a driver reported to now: by its own clock up to its heartbeat, then by ours."""
    if at is None:
        return Span(0.0, 0)
    # Articles land in bundles, and updates one by one.
    bundle = run.recipe.get("bundle_size", 1) if at.unit == "articles" else 1
    gap = at.span_seconds * min(1.0, bundle / at.span_finished) if at.span_finished else 0.0
    span = Span(at.span_seconds, at.span_finished, gap)
    if not span.finished and not span.seconds:
        return span
    since = (run.heartbeat_at - at.recorded_at).total_seconds() if run.heartbeat_at else 0.0
    return span.later(max(0.0, since) + silent_seconds)


def status_facts(store: Store, view: View, where: str = "", *, is_brief: bool = False) -> list[tuple[str, str]]:
    """List the facts that `nws status` shows of a run, each with its name: its progress first.

    `where` makes commands find its store. In brief it is what changes, and fits a terminal of 24 lines.
    """
    run = view.run
    rows = [("run", run.id), ("name", run.name or ""), ("state", state_text(view, where)), *facts(view)]
    reasons, shards = failure_lines(view.reasons), _shard_facts(store.shards(run.id))
    if is_brief:
        more = len(reasons) - _BRIEF_REASONS
        reasons = [shorten(reason, _BRIEF_LETTERS, placeholder=" …") for reason in reasons[:_BRIEF_REASONS]]
        reasons += [f"and for {counted(more, 'more reason')}: nws status {run.id}{where}"] * (more > 0)
        shards = shards[:1]
    started = f"{work_time(run)} of work, started {moment_text(run.started_at)}" if run.started_at else "not started"
    rows += [*(("failed", reason) for reason in reasons), *shards, ("time", started)]
    if not is_brief:
        rows += [("shard", f"{run.shard} of {run.parent}" if run.parent else "")]
        rows += [
            ("policy", f"{policy.name}: {policy.updates}/{policy.total_updates} updates")
            for policy in store.policy_infos(run.id)
        ]
        rows += [("note", run.note or ""), ("submitted to", run.address or ""), *made_by(run)]
    return [(name, text) for name, text in rows if text]


def _shard_facts(shards: Sequence[RunInfo]) -> list[tuple[str, str]]:
    if not shards:
        return []
    states = Counter(map(state_name, shards))
    rows = [("shards", f"{len(shards)}: {', '.join(f'{count} {state}' for state, count in states.items())}")]
    for shard in shards:
        if shard.state not in ("done", "pending"):
            error = f" ({shard.error})" if shard.error else ""
            rows.append((f"shard {shard.shard}", f"{shard.id}: {done_text(shard)}, {state_name(shard)}{error}"))
    return rows


def print_facts(facts: Sequence[tuple[str, str]], console: Console) -> None:
    """Print one fact a line. On a terminal long ones are wrapped."""
    if console.is_terminal:
        console.print(facts_table(facts))
        return
    for name, text in facts:
        console.print(f"{name:<{_NAME_WIDTH}} {printable(text)}", markup=False, soft_wrap=True)


def facts_table(facts: Sequence[tuple[str, str]]) -> Table:
    """Make a table of facts below each other, which fold at any width."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(min_width=_NAME_WIDTH, no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in facts:
        table.add_row(name, Text(printable(text)))
    return table


def status_json(store: Store, view: View) -> dict[str, Any]:
    """Return the facts of `nws status` as plain values, times in ISO 8601."""
    run, at = view.run, view.progress
    names = ("id", "shard", "state", "articles_done", "total_articles", "failures", "error")
    return {
        **as_dict(run),
        "failed_articles": [plain_values(failure) for failure in view.reasons],
        "policies": [plain_values(policy) for policy in store.policy_infos(run.id)],
        "shards": [{name: getattr(shard, name) for name in names} for shard in store.shards(run.id)],
        "progress": at and {**plain_values(at), "per_second": view.span.rate, "seconds_left": view.seconds_left},
    }


def progress_line(view: View) -> str:
    """Write the progress of a run on one line."""
    return ", ".join(filter(None, (view.run.state, _progress_text(view), _speed_text(view))))


def facts(view: View) -> list[tuple[str, str]]:
    """List the facts that change while a run goes on, each with its name."""
    run, at = view.run, view.progress
    rows = [("progress", _progress_text(view))]
    if at is not None:
        rows.append(("speed", _speed_text(view) or "not known yet"))
    reused = f", {run.reused} of them reused" if run.reused else ""
    rows.append(("summaries", f"{run.summaries}{reused}"))
    return [*rows, ("warning", warning)] if (warning := rows_warning(run.arithmetic)) else rows


def state_text(view: View, where: str = "") -> str:
    """Write the state of a run, who drives it, its error, and what to do if nobody drives it; `where` as above."""
    run = view.run
    if state_name(run) == "stale":
        return f"stale: its driver has died, or cannot be reached. Resume the run with: nws resume {run.id}{where}"
    if run.state == "pending":
        process = f"its Ray job at {run.address}" if run.address else "its driver"
        return f"pending: waiting for {process} to begin. If it has died: nws resume {run.parent or run.id}{where}"
    if run.state == "running":
        return f"running: its driver is process {run.driver_pid} on {run.driver_host}"
    return run.state + (f" ({run.error})" if run.error else "")


def _progress_text(view: View) -> str:
    return f"{stage_text(view)}, {view.run.failures} failed"


def stage_text(view: View) -> str:
    """Write the progress of the driver's stage, "sweep: 3/24 articles", or else of the run."""
    at = view.progress
    if at is None:
        return f"{done_text(view.run)} articles"
    return f"{at.stage}: {at.finished}/{'?' if at.total is None else at.total} {at.unit}"


def rate_text(view: View) -> str:
    """Write the recent speed of the stage: "2.5 articles/s", or by the minute if it is slow; "" if not known."""
    rate = view.span.rate
    if view.progress is None or rate is None:
        return ""
    return f"{rate:.3g} {view.progress.unit}/s" if rate >= 0.1 else f"{60 * rate:.2g} {view.progress.unit}/min"


def left_text(view: View) -> str:
    """Write the time that the stage still takes: "about 3 min"; "" if not known."""
    return f"about {duration(view.seconds_left)}" if view.seconds_left else ""


def _speed_text(view: View) -> str:
    speed, left = rate_text(view), left_text(view)
    return f"{speed} in the last {duration(view.span.seconds)}" + (f", {left} left" if left else "") if speed else ""
