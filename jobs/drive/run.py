"""A run in the hands of its driver: what it writes to the store, fenced by its epoch, and how it begins and ends."""

import contextlib
import functools
import math
import os
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from cluster.article_work import pool_warnings
from core.errors import CancelledError, FencedError, StoreUnavailableError
from jobs.drive.heartbeat import Heart
from jobs.drive.watchdog import watchdog
from jobs.store import FinalState, RunInfo, RunWriter, Store, seconds_of_driver
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


def outcome_of(run: RunInfo) -> Outcome:
    """How a run stands now."""
    seconds = run.worked_seconds + seconds_of_driver(run)
    return Outcome(run.id, run.state, run.articles_done, run.summaries, run.reused, run.failures, seconds)


class Run(RunWriter):
    """A run that this process drives: what it writes to the store, and the heart that beats for it meanwhile.

    Its methods and those of its `store` wait for a store that is away, for an hour at most.
    """

    def __init__(self, store: Store, run_id: str, epoch: int, heart: Heart) -> None:
        self.store: Store = store.waiting(heart.say, heart.moved)  # a driver that waits for its store does not hang
        super().__init__(self.store, run_id, epoch)
        self.heart = heart

    def say(self, text: str) -> None:
        """Print a line, and keep it in the run's log."""
        self.heart.say(text)

    def note(self, text: str) -> None:
        """Keep a line in the run's log alone."""
        self.heart.note(text)

    def show(self, **changes: Any) -> None:
        """See `Heart.show`."""
        self.heart.show(changes)

    def check(self) -> None:
        """See `Heart.check`."""
        self.heart.check()


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
    patient = store.waiting(functools.partial(console.print, markup=False))
    run = patient.run_info(run_id)
    if epoch is not None:
        require_epoch(run, epoch)
    if run.state != "pending":
        yield epoch
        return
    claimed_epoch = patient.claim_run(run_id, host, pid, epoch=run.driver_epoch)
    with held(store, run_id, claimed_epoch, console):
        yield claimed_epoch


@contextlib.contextmanager
def held(store: Store, run_id: str, claimed_epoch: int, console: Console) -> Iterator[None]:
    """Let the heart of a claimed run beat until it is driven; an error ends the run, if it is still this driver's."""
    try:
        with Heart(store, run_id, claimed_epoch, console):
            yield
    finally:
        error = sys.exception()
        if error is not None:
            state: FinalState = "interrupted" if isinstance(error, _INTERRUPTIONS) else "failed"
            with contextlib.suppress(FencedError):  # it was driven already, or is another's
                _end_run(store, run_id, claimed_epoch, state, error, console)


def take_run(
    store: Store,
    run_id: str,
    console: Console,
    work: Callable[[Run], None],
    take_over: bool = False,
    epoch: int | None = None,
    stuck_after: float = math.inf,
) -> Outcome:
    """Claim a run, do its work while its heart beats, and end it: done, interrupted, or failed with what went wrong.

    An interruption is no error: it is in the outcome, and the run can be resumed. A driver that dies without a word is
    recorded by its watchdog. `stuck_after` is for its heart; for the others see `Store.claim_run`.

    Raises:
        StoreError: another driver works on it, or there is no such run.
        NwsError: whatever the work raises.
    """
    host, pid = socket.gethostname(), os.getpid()
    patient = store.waiting(functools.partial(console.print, markup=False))
    epoch = patient.claim_run(run_id, host, pid, take_over=take_over, epoch=epoch)
    with watchdog(store.url, run_id, epoch):
        _work_to_the_end(store, run_id, epoch, console, work, stuck_after)
    return outcome_of(patient.run_info(run_id))


def _work_to_the_end(
    store: Store, run_id: str, epoch: int, console: Console, work: Callable[[Run], None], stuck_after: float
) -> None:
    state: FinalState = "failed"
    try:
        with Heart(store, run_id, epoch, console, stuck_after) as heart, pool_warnings(heart.say):
            try:
                work(Run(store, run_id, epoch, heart))
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
            _end_run(store, run_id, epoch, state, error, console)


def _end_run(
    store: Store, run_id: str, epoch: int, state: FinalState, error: BaseException | None, console: Console
) -> None:
    """End it as it stands."""
    text = f"{type(error).__name__}: {error}" if error else None
    if isinstance(error, StoreUnavailableError):  # it was waited for already
        with contextlib.suppress(StoreUnavailableError):
            store.writer(run_id, epoch).finish(state, text)
        return
    store.waiting(functools.partial(console.print, markup=False)).writer(run_id, epoch).finish(state, text)
