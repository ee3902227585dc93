"""The state of a run now, read from the store: a few rows by their keys, however large it is."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from jobs.drive.progress import Span, duration
from jobs.drive.ship import HeartbeatMonitor
from jobs.store import ActorShare, FailureInfo, NewSummary, Progress, RunInfo, Store
from jobs.terminal.console import printable
from jobs.terminal.numerals import counted, decimals
from jobs.terminal.system_names import system_names
from jobs.terminal.table_style import role

_REASONS = 3


@dataclass(frozen=True, slots=True)
class View:
    """A run at one moment.

    Attributes:
        run: as the store has it.
        progress: what its driver is at; None while the run has none, or it has not told yet.
        span: of the progress, until now.
        silent_seconds: seconds since the last heartbeat.
        reasons: why the last articles failed.
        written: the summaries of one of the articles that were stored last at one n, the highest F1 first.
    """

    run: RunInfo
    progress: Progress | None
    span: Span
    silent_seconds: float
    reasons: tuple[FailureInfo, ...]
    written: tuple[NewSummary, ...]

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

    def as_dict(self) -> dict[str, Any]:
        """As plain values, times in ISO 8601."""
        run, at = self.run, self.progress
        return {
            "run_id": run.id,
            "state": run.state,
            "articles_done": run.articles_done,
            "total_articles": run.total_articles,
            "summaries": run.summaries,
            "reused": run.reused,
            "failures": run.failures,
            "stage": None if at is None else at.stage,
            "unit": None if at is None else at.unit,
            "finished": None if at is None else at.finished,
            "total": None if at is None else at.total,
            "per_second": self.span.rate,
            "seconds_left": self.seconds_left,
            "actors": [] if at is None else [asdict(actor) for actor in at.actors],
            "last_failures": [
                asdict(failure) | {"failed_at": failure.failed_at.isoformat()} for failure in self.reasons
            ],
            "last_summaries": [asdict(summary) for summary in self.written],
        }


class Viewer:
    """Looks at a run again and again, and asks only for what has changed.

    `reasons` is how many failures it tells of, the last ones. A `store` that is `waiting` is waited for.
    """

    def __init__(self, store: Store, run_id: str, reasons: int = _REASONS) -> None:
        self._store = store
        self._run_id = run_id
        self._most_reasons = reasons
        self._heartbeats = HeartbeatMonitor()
        self._failures = 0
        self._reasons: tuple[FailureInfo, ...] = ()
        self._newest: str | None = None
        self._written: tuple[NewSummary, ...] = ()

    def look(self) -> View:
        """The run now.

        Raises:
            ClusterError: its driver is gone, and the run has not ended.
            StoreError: there is no such run, or the store cannot be read.
        """
        view = self.glance()
        self._heartbeats.require(view.run)
        return view

    def glance(self) -> View:
        """The run now, whether its driver is gone or not.

        Raises:
            StoreError: there is no such run, or the store cannot be read.
        """
        store, run_id = self._store, self._run_id
        run = store.run_info(run_id)
        silent = self._heartbeats.silent_seconds(run)
        progress = store.progress(run_id)
        if run.failures != self._failures:
            self._reasons = tuple(store.failures(run_id, newest=self._most_reasons))
            self._failures = run.failures
        newest = progress.newest if progress else None
        if newest != self._newest:
            self._written = at_one_length(store.summaries_of(run_id, newest)) if newest else ()
            self._newest = newest
        at = progress if run.state == "running" else None
        return View(run, at, span_until_now(run, at, silent), silent, self._reasons, self._written)


def span_until_now(run: RunInfo, at: Progress | None, silent_seconds: float) -> Span:
    """The span that a driver reported, extended to now: by its own clock up to its heartbeat, then by ours."""
    if at is None:
        return Span(0.0, 0)
    # Articles land in bundles, and updates one by one.
    bundle = run.recipe.get("bundle_size", 1) if at.unit == "articles" else 1
    gap = at.span_seconds * min(1.0, bundle / at.span_finished) if at.span_finished else 0.0
    span = Span(at.span_seconds, at.span_finished, gap)
    if not span.finished and not span.seconds:
        return span
    since = (run.heartbeat_at - at.noted_at).total_seconds() if run.heartbeat_at else 0.0
    return span.later(max(0.0, since) + silent_seconds)


def at_one_length(summaries: Sequence[NewSummary]) -> tuple[NewSummary, ...]:
    """The summaries at the middle n, the highest F1 first. They are easier to compare at one length."""
    lengths = sorted({summary.n for summary in summaries if summary.n}) or [0]
    n = lengths[len(lengths) // 2]
    shown = (summary for summary in summaries if summary.n == n)
    return tuple(sorted(shown, key=lambda summary: (-summary.bertscore_f1, summary.system)))


_MACHINES = 8
_SYSTEMS = 5
_SILENCE_WORTH_A_WORD = 15.0


def line(view: View) -> str:
    """The progress of a run on one line."""
    run = view.run
    counts = f"{run.state}, {done_text(view)} articles done, {run.failures} failed"
    return ", ".join(filter(None, (counts, stage_text(view), _speed(view), _silence(view))))


def failure_line(reason: FailureInfo) -> str:
    """Why an article failed, on one line."""
    return printable(f"{reason.dataset} {reason.key}: {reason.error_class}: {reason.message}")


def screen(view: View) -> RenderableType:
    """A run, its actors, its last failures and what was written last; it folds at any width."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    failed = _named("failed", [failure_line(reason) for reason in view.reasons])
    for name, text in (("run", printable(view.run.id)), ("state", state_text(view)), *facts(view), *failed):
        table.add_row(name, Text(text))
    return Group(table, *_written(view))


def facts(view: View) -> list[tuple[str, str]]:
    """What is known of a run now, each with its name; several lines of a fact have its name once."""
    run, at = view.run, view.progress
    reused = f", {run.reused} of them reused" if run.reused else ""
    told = [("articles", f"{done_text(view)} done, {run.failures} failed"), ("summaries", f"{run.summaries}{reused}")]
    if at is not None:
        told += [("at", stage_text(view)), ("speed", _speed(view) or "not known yet")]
        told += _named("actors", machine_lines(at.actors))
    return told


def _named(name: str, lines: Iterable[str]) -> list[tuple[str, str]]:
    return list(zip(itertools.chain([name], itertools.repeat("")), lines, strict=False))


def state_text(view: View) -> str:
    """The state of a run, who drives it, and its error."""
    run = view.run
    if run.state == "pending":
        return f"pending, waits for {f'its Ray job at {run.address}' if run.address else 'a driver'}"
    if run.state == "running":
        return f"running, pid {run.driver_pid} on {run.driver_host}" + (f", {_silence(view)}" if _silence(view) else "")
    return run.state + (f" ({printable(run.error)})" if run.error else "")


def _silence(view: View) -> str:
    is_silent = view.run.state == "running" and view.silent_seconds > _SILENCE_WORTH_A_WORD
    return f"not heard of for {duration(view.silent_seconds)}" if is_silent else ""


def done_text(view: View) -> str:
    """How many articles are done, and of how many: "3/24", or "3/?" where that is not known."""
    total = view.run.total_articles
    return f"{view.run.articles_done}/{'?' if total is None else total}"


def stage_text(view: View) -> str:
    """How far the stage is that the driver is at: "sweep: 3/24 articles"; "" if it has not told."""
    at = view.progress
    return "" if at is None else f"{at.stage}: {at.finished}/{'?' if at.total is None else at.total} {at.unit}"


def rate_text(view: View) -> str:
    """How fast the stage has been of late: "2.5 articles/s", or by the minute if it is slow; "" if not known."""
    rate = view.span.rate
    if view.progress is None or rate is None:
        return ""
    return f"{rate:.3g} {view.progress.unit}/s" if rate >= 0.1 else f"{60 * rate:.2g} {view.progress.unit}/min"


def left_text(view: View) -> str:
    """How long the stage still takes: "about 3 min"; "" if not known."""
    return f"about {duration(view.seconds_left)}" if view.seconds_left else ""


def _speed(view: View) -> str:
    speed, left = rate_text(view), left_text(view)
    return f"{speed} in the last {duration(view.span.seconds)}" + (f", {left} left" if left else "") if speed else ""


def machine_lines(ready: Sequence[ActorShare]) -> list[str]:
    """The actors, a line for each machine."""
    if not ready:
        return ["none is ready"]
    by_machine: dict[tuple[str, str], list[ActorShare]] = {}
    for actor in ready:
        by_machine.setdefault((actor.node, actor.device), []).append(actor)
    lines = [_machine(*place, actors) for place, actors in sorted(by_machine.items())]
    further = len(lines) - _MACHINES
    return lines if further <= 0 else [*lines[:_MACHINES], f"and those of {counted(further, 'more machine')}"]


def _machine(node: str, device: str, actors: list[ActorShare]) -> str:
    shares = [actor.busy for actor in actors if actor.busy is not None]
    busy = f": {' '.join(f'{100 * share:.0f} %' for share in shares)} busy" if shares else ""
    return printable(f"{len(actors)} on {node}, {device}{busy}")


def _written(view: View) -> list[RenderableType]:
    """What the systems wrote about one article at one n: F1, name, and the text below."""
    if not view.written:
        return []
    first = view.written[0]
    heading = f"Newest summaries: {first.dataset} {first.key}, n = {first.n or 'uncut'}"
    lines: list[RenderableType] = [Text(), Text(printable(heading), style="bold")]
    names = system_names(summary.system for summary in view.written)
    for summary in view.written[:_SYSTEMS]:
        lines.append(
            Text(
                printable(f"{decimals(summary.bertscore_f1)} {names[summary.system]}{role(summary.kind)}"), style="dim"
            )
        )
        lines.append(Text("     " + printable(summary.text)))
    further = len(view.written) - _SYSTEMS
    return lines if further <= 0 else [*lines, Text(f"and {counted(further, 'more system')}", style="dim")]
