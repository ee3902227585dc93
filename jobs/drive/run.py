"""A run in the hands of its driver: what it writes to the store, fenced by its epoch, and how it begins and ends."""

import contextlib
import functools
import math
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console

from cluster.log_lines import pool_warnings
from core.article_ids import ArticleIds
from core.errors import CancelledError, FencedError, StoreUnavailableError
from core.types import Landed, SystemKind
from jobs.drive.heartbeat import Heart
from jobs.drive.patience import Result, patiently
from jobs.drive.watchdog import watchdog
from jobs.plan.revisions import code_version
from jobs.store import (
    CurveMeans,
    FailureInfo,
    FinalState,
    PolicyCheckpoint,
    PolicyInfo,
    Reusable,
    RoundResult,
    RunInfo,
    Stage,
    StageWork,
    Store,
    UpdateNumbers,
    seconds_of_driver,
)
from jobs.store.runs import require_epoch

# Ctrl-C, SIGTERM, nws cancel.
_INTERRUPTIONS = (KeyboardInterrupt, SystemExit, CancelledError)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run stands when its driver ends.

    `articles` are those with summaries, `reused` summaries are copies. `seconds` is how long drivers worked on it.
    """

    run_id: str
    state: str
    articles: int
    summaries: int
    reused: int
    failures: int
    seconds: float = field(compare=False)

    def as_dict(self) -> dict[str, str | int | float]:
        return asdict(self)


def outcome_of(run: RunInfo) -> Outcome:
    """How a run stands now."""
    seconds = run.worked_seconds + seconds_of_driver(run)
    return Outcome(run.id, run.state, run.articles_done, run.summaries, run.reused, run.failures, seconds)


@dataclass(frozen=True, slots=True)
class Run:
    """A run that this process drives. What reads or writes the store waits for one that is away, for an hour at most.

    What writes raises `FencedError` once another driver has the run.
    """

    id: str
    epoch: int
    store: Store
    heart: Heart

    def say(self, text: str) -> None:
        """Print a line, and keep it in the run's log."""
        self.heart.say(text)

    def note(self, text: str) -> None:
        """Keep a line in the run's log alone."""
        self.heart.note(text)

    def show(self, **changes: Any) -> None:
        """See `Heart.show`."""
        self.heart.show(changes)

    def note_driver(self, device: str | None) -> None:
        """Keep in the run's log who drives it now."""
        self.note(f"Driver {self.epoch}, pid {os.getpid()} on {socket.gethostname()}, code {code_version()}, {device}")

    def check(self) -> None:
        """See `Heart.check`."""
        self.heart.check()

    def start(self, device: str | None, systems: Mapping[str, SystemKind], works: Mapping[str, str]) -> None:
        """See `Store.start_run`."""
        self._patiently(lambda: self.store.start_run(self.id, self.epoch, device, code_version(), systems, works))

    def set_total(self, articles: int) -> None:
        """See `Store.set_total`."""
        self._patiently(lambda: self.store.set_total(self.id, self.epoch, articles))

    def note_workers(self, device: str, arithmetic: Sequence[str]) -> None:
        """See `Store.note_workers`."""
        self._patiently(lambda: self.store.note_workers(self.id, self.epoch, device, arithmetic))

    def disown(self, systems: Sequence[str], software: Sequence[str]) -> None:
        """See `Store.disown`."""
        self._patiently(lambda: self.store.disown(self.id, self.epoch, systems, software))

    def record(self, landed: Sequence[Landed], stage: Stage, reusable: Reusable | None = None) -> None:
        """See `Store.record`."""
        self._patiently(lambda: self.store.record(self.id, self.epoch, landed, stage, reusable))

    def record_round(self, results: Sequence[RoundResult]) -> None:
        """See `Store.record_round`."""
        self._patiently(lambda: self.store.record_round(self.id, self.epoch, results))

    def info(self) -> RunInfo:
        """See `Store.run_info`."""
        return self._patiently(lambda: self.store.run_info(self.id))

    def find_reusable(self, stage: StageWork, arithmetic: str | None) -> Reusable | None:
        """See `Store.find_reusable`."""
        return self._patiently(lambda: self.store.find_reusable(self.id, stage, arithmetic))

    def known_summaries(self, reusable: Reusable, content_hashes: Mapping[str, str]) -> dict[str, set[tuple[str, int]]]:
        """See `Store.known_summaries`."""
        return self._patiently(lambda: self.store.known_summaries(reusable, content_hashes))

    def finished_articles(self, stage: Stage) -> ArticleIds:
        """See `Store.finished_article_ids`."""
        return self._patiently(lambda: self.store.finished_article_ids(self.id, stage))

    def failures(self) -> list[FailureInfo]:
        """See `Store.failures`."""
        return self._patiently(lambda: self.store.failures(self.id))

    def policies(self) -> list[PolicyInfo]:
        """See `Store.policy_infos`."""
        return self._patiently(lambda: self.store.policy_infos(self.id))

    def checkpoints(self) -> list[PolicyCheckpoint]:
        """See `Store.checkpoints`."""
        return self._patiently(lambda: self.store.checkpoints(self.id))

    def update_numbers(self) -> list[UpdateNumbers]:
        """See `Store.update_numbers`."""
        return self._patiently(lambda: self.store.update_numbers(self.id))

    def curve_means(self) -> list[CurveMeans]:
        """See `Store.curve_means`."""
        return self._patiently(lambda: self.store.curve_means(self.id))

    def _patiently(self, call: Callable[[], Result]) -> Result:
        def attempt() -> Result:
            self.heart.moved()  # a driver that waits for its store does not hang
            return call()

        return patiently(attempt, self.heart.say)


@dataclass(frozen=True, slots=True)
class Claim:
    """How a run is claimed, see `Store.claim_run`."""

    take_over: bool = False
    epoch: int | None = None


FREE = Claim()
"""A run that no driver works on."""


@contextlib.contextmanager
def hold_run(store: Store, run_id: str, epoch: int | None, console: Console) -> Iterator[int | None]:
    """Hold a pending run while its job gets ready to drive it: opens datasets, fetches models, waits for machines.

    A job that dies meanwhile leaves a run whose driver is gone, not one that is pending for ever, and one that cannot
    begin ends the run as failed. A run that has ended before stays as it is until it is driven.

    Args:
        store: where the run is.
        run_id: which.
        epoch: with which the job was submitted, None for a job that NWS did not submit.
        console: where the heart speaks.

    Yields:
        The epoch with which the run is to be claimed then, None for a run that must be free.

    Raises:
        FencedError: the run is no longer this job's.
    """
    host, pid = socket.gethostname(), os.getpid()
    tell = functools.partial(console.print, markup=False)
    run = patiently(lambda: store.run_info(run_id), tell)
    if epoch is not None:
        require_epoch(run, epoch)
    if run.state != "pending":
        yield epoch
        return
    claimed_epoch = patiently(lambda: store.claim_run(run_id, host, pid, epoch=run.driver_epoch), tell)
    try:
        with Heart(store, run_id, claimed_epoch, console):
            yield claimed_epoch
    finally:
        error = sys.exception()
        if error is not None:
            state: FinalState = "interrupted" if isinstance(error, _INTERRUPTIONS) else "failed"
            with contextlib.suppress(FencedError):  # it was driven already, or is another's
                _end_run(store, run_id, claimed_epoch, state, error, tell)


def take_run(
    store: Store,
    run_id: str,
    console: Console,
    work: Callable[[Run], None],
    claim: Claim = FREE,
    stuck_after: float = math.inf,
) -> Outcome:
    """Claim a run, do its work while its heart beats, and end it: done, interrupted, or failed with what went wrong.

    An interruption is no error: it is in the outcome, and the run can be resumed. A driver that dies without a word is
    recorded by its watchdog. `stuck_after` is for its heart.

    Raises:
        StoreError: another driver works on it, or there is no such run.
        NwsError: whatever the work raises.
    """
    host, pid = socket.gethostname(), os.getpid()
    tell = functools.partial(console.print, markup=False)
    epoch = patiently(lambda: store.claim_run(run_id, host, pid, take_over=claim.take_over, epoch=claim.epoch), tell)
    with watchdog(store.url, run_id, epoch):
        _work_to_the_end(store, run_id, epoch, console, work, stuck_after)
    return outcome_of(patiently(lambda: store.run_info(run_id), tell))


def _work_to_the_end(
    store: Store, run_id: str, epoch: int, console: Console, work: Callable[[Run], None], stuck_after: float
) -> None:
    tell = functools.partial(console.print, markup=False)
    state: FinalState = "failed"
    try:
        with Heart(store, run_id, epoch, console, stuck_after) as heart, pool_warnings(heart.say):
            try:
                work(Run(run_id, epoch, store, heart))
            except _INTERRUPTIONS as interruption:
                by = "Ctrl-C" if isinstance(interruption, KeyboardInterrupt) else str(interruption)
                heart.note(f"Interrupted by {by or type(interruption).__name__}")
                raise
            heart.note("Done")
        state = "done"
    except _INTERRUPTIONS:
        state = "interrupted"
    finally:
        error = sys.exception()
        if not isinstance(error, FencedError):  # a run that another driver has is not ours to end
            _end_run(store, run_id, epoch, state, error, tell)


def _end_run(
    store: Store,
    run_id: str,
    epoch: int,
    state: FinalState,
    error: BaseException | None,
    tell: Callable[[str], None],
) -> None:
    text = f"{type(error).__name__}: {error}" if error else None
    if isinstance(error, StoreUnavailableError):  # it was waited for already
        with contextlib.suppress(StoreUnavailableError):
            store.finish_run(run_id, epoch, state, text)
    else:
        patiently(lambda: store.finish_run(run_id, epoch, state, text), tell)
