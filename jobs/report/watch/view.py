"""The state of a run now, read from the store: a few rows by their keys, however large it is."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from jobs.drive.heartbeat import HeartbeatMonitor
from jobs.drive.time_left import Span
from jobs.store import NewSummary, Progress, Reason, RunInfo, Store

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
    reasons: tuple[Reason, ...]
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
        self._reasons: tuple[Reason, ...] = ()
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
            self._reasons = tuple(store.newest_failures(run_id, self._most_reasons))
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
