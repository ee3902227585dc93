"""A run that this process drives: its rows and log, its heartbeat, its start and its end.

A fence keeps two drivers from writing at the same time: see `nws.jobs.store.lifecycle`.
"""

import contextlib
import functools
import math
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Self

from rich.console import Console

from nws.cluster.article_work import pool_warnings
from nws.core.article import Article
from nws.core.errors import CancelledError, FencedError, NwsError, StoreError, StoreUnavailableError
from nws.core.types import Failure, Landed
from nws.jobs.drive.progress import Advance, MinuteTimer, run_progress
from nws.jobs.drive.watchdog import watchdog
from nws.jobs.store import LogLine, Progress, Reusable, RunInfo, RunWriter, Store, seconds_of_driver
from nws.jobs.store.runs import require_epoch

BEAT_SECONDS = 5.0
# Ctrl-C, SIGTERM, nws cancel.
_INTERRUPTIONS = (KeyboardInterrupt, SystemExit, CancelledError)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state of a run when its driver ends.

    `articles` is the number of articles with all summaries, `reused` that of summaries copied from other runs, and
    `seconds` the time that drivers have worked on the run.
    """

    run_id: str
    state: str
    articles: int
    summaries: int
    reused: int
    failures: int
    seconds: float = field(compare=False)


def outcome_of(run: RunInfo) -> Outcome:
    """Return the present state of a run."""
    seconds = run.worked_seconds + seconds_of_driver(run)
    return Outcome(run.id, run.state, run.articles_done, run.summaries, run.reused, run.failures, seconds)


def _without_names(message: str, article: Article) -> str:
    """Remove the id and the key of the article from a message."""
    names = "|".join(re.escape(name) for name in (article.id, article.key) if name)
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", "", message)


class Run(RunWriter):
    """A run that this process drives. While its `with` block runs, a thread sends heartbeats to the store.

    Its methods and those of its `store` wait for an unreachable store, for an hour at most. The heartbeat does not
    wait: it keeps its lines for a later beat.

    The thread would go on while the driver hangs. So it pauses if the driver has not called `moved` for `stuck_after`
    seconds; the run can then be resumed elsewhere.

    The work ends after `stop_after_equal_failures` articles in a row that fail for the same reason.

    Lines go to `console`, and progress to `progress_console`, by default the same console.
    """

    def __init__(
        self,
        store: Store,
        run_id: str,
        epoch: int,
        console: Console,
        stuck_after: float = math.inf,
        progress_console: Console | None = None,
    ) -> None:
        self.store: Store = store.waiting(self.say, self.moved)  # a driver that waits for its store does not hang
        super().__init__(self.store, run_id, epoch)
        self._console = console
        self._progress_console = progress_console or console
        self._minutes = MinuteTimer()
        self.stop_after_equal_failures: int | None = None
        self._last_reason: tuple[str, str] | None = None
        self._equal_failures = 0
        self._heart = store.writer(run_id, epoch)
        self._lines: list[LogLine] = []
        self._at: Progress | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._reason: StoreError | CancelledError | None = None
        self._stuck_after = stuck_after
        self._moved_at = time.monotonic()
        self._paused = False
        self._thread = threading.Thread(target=self._beat_on, name="heartbeat", daemon=True)

    def say(self, text: str) -> None:
        """Print a line, and store it in the run's log with the next heartbeat."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)
        self.note(text)

    def note(self, text: str) -> None:
        """Store a line in the run's log without printing it."""
        with self._lock:
            self._lines.append(LogLine(datetime.now(UTC), text))

    def show(self, **changes: Any) -> None:
        """Store changed fields of `nws.jobs.store.Progress` with the next heartbeat."""
        now = datetime.now(UTC)
        self._at = replace(self._at or Progress(now, stage=""), recorded_at=now, **changes)

    def progress(
        self, stage: str, total: int | None, done: int = 0, unit: str = "articles", place: tuple[int, int] = (0, 1)
    ) -> AbstractContextManager[Advance]:
        """Show, log and store the progress of a stage, see `run_progress`. `place` is its number and that of stages."""
        show = functools.partial(self.show, stage=stage)
        return run_progress(self._progress_console, total, done, self.note, show, unit, place, self._minutes)

    def record(
        self,
        landed: Sequence[Landed],
        stage: str = "sweep",
        systems: Sequence[str] = (),
        reusable: Reusable | None = None,
    ) -> None:
        """Store results, see `RunWriter.record`, and log the failures among them.

        Raises:
            NwsError: too many articles have failed for one reason.
        """
        super().record(landed, stage, systems, reusable)
        for failure in (failure for _, result in landed for failure in result.failures):
            self.note(f"Article {failure.article_id} failed: {failure.error_class}: {failure.message}")
        for bundle, result in landed:
            failures = {failure.article_id: failure for failure in result.failures}
            for article in bundle:
                self._require_other_reasons(article, failures.get(article.id))

    def _require_other_reasons(self, article: Article, failure: Failure | None) -> None:
        """Count articles that failed in a row with the same class and message, as they land; stop at one too many."""
        reason = None if failure is None else (failure.error_class, _without_names(failure.message, article))
        self._equal_failures = self._equal_failures + 1 if reason == self._last_reason else 1
        self._last_reason = reason
        if failure is not None and self._equal_failures == self.stop_after_equal_failures:
            raise NwsError(
                f"{self._equal_failures} articles in a row failed for the same reason, so the run was stopped. The "
                f"last one, {article.key!r}: {failure.error_class}: {failure.message} Fix the cause, then run: nws "
                f"resume {self.id}. It retries these articles and goes on with the rest. If a run should go on "
                "regardless of failures, set stop_after_equal_failures to null in its recipe."
            )

    def check(self) -> None:
        """Note that the driver does not hang, and stop it if it has to stop.

        Raises:
            StoreError: another driver took the run over (`FencedError`), or the store refuses.
            CancelledError: somebody cancelled the run.
        """
        self.moved()
        if self._reason is not None:
            raise self._reason

    def moved(self) -> None:
        """Note that the driver does not hang."""
        self._moved_at = time.monotonic()

    def _beat_on(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            seconds = time.monotonic() - self._moved_at
            hangs = seconds > self._stuck_after
            if hangs and not self._paused:
                self.say(
                    f"The driver has made no progress for {seconds:.0f} s. Until it does, it sends no heartbeats, so "
                    "the run may be resumed elsewhere. If work takes this long, raise stuck_after in the recipe."
                )
            if not (hangs and self._paused):
                self._beat()  # the first time once more, so that the silence has a reason
            self._paused = hangs

    def _beat(self) -> None:
        with self._lock:
            lines, self._lines = self._lines, []
        try:
            if self._heart.heartbeat(lines, self._at):
                self._reason = CancelledError(f"run {self.id} was cancelled")
        except StoreUnavailableError:
            with self._lock:
                self._lines = [*lines, *self._lines]
        except StoreError as error:  # fenced off, or a store that refuses
            self._reason = error

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._ended.set()
        self._thread.join()
        if not isinstance(self._reason, StoreError):
            self._beat()


@contextlib.contextmanager
def hold_run(store: Store, run_id: str, epoch: int | None, console: Console) -> Iterator[int | None]:
    """Hold a pending run while its job prepares to drive it: opens datasets, fetches models, waits for machines.

    If the job dies meanwhile, the run's driver is gone, but the run is not pending for ever. If the job cannot begin,
    the run fails. A run that ended earlier stays as it is until it is driven.

    Args:
        store: the store of the run.
        run_id: the run.
        epoch: the epoch with which the job was submitted; None for a job that NWS did not submit.
        console: the console that shows when the store is unreachable.

    Yields:
        The epoch with which to claim the run afterwards; None for a run that must be free.

    Raises:
        FencedError: the run is no longer this job's.
    """
    host, pid = socket.gethostname(), os.getpid()
    patient = _patient(store, console)
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
def held(store: Store, run_id: str, epoch: int, console: Console, stuck_after: float = math.inf) -> Iterator[Run]:
    """Send the heartbeats of a claimed run while the block runs. An error ends the run if this driver still has it."""
    try:
        with Run(store, run_id, epoch, console, stuck_after) as run:
            yield run
    finally:
        if (error := sys.exception()) and not isinstance(error, FencedError):  # then another driver ends the run
            is_away = isinstance(error, StoreUnavailableError)  # the driver has waited for the store already
            writer = (store if is_away else _patient(store, console)).writer(run_id, epoch)
            # FencedError: the run has ended already, or another driver has it.
            with contextlib.suppress(FencedError, *([StoreUnavailableError] if is_away else [])):
                if isinstance(error, _INTERRUPTIONS):
                    writer.finish("interrupted")
                else:
                    writer.finish("failed", f"{type(error).__name__}: {error}")


def take_run(
    store: Store,
    run_id: str,
    console: Console,
    work: Callable[[Run], None],
    take_over: bool = False,
    epoch: int | None = None,
    stuck_after: float = math.inf,
) -> Outcome:
    """Claim a run, do its work with heartbeats, and end it as done, as interrupted, or as failed with its error.

    An interruption is not an error: it is in the outcome, and the run can be resumed. If the driver dies without a
    message, its watchdog records that. For `stuck_after` see `Run`, for the other arguments `Store.claim_run`.

    Raises:
        StoreError: another driver works on the run, or there is no such run.
        NwsError: whatever the work raises.
    """
    patient = _patient(store, console)
    epoch = patient.claim_run(run_id, socket.gethostname(), os.getpid(), take_over=take_over, epoch=epoch)
    with watchdog(store.url, run_id, epoch):
        try:
            with held(store, run_id, epoch, console, stuck_after) as run, pool_warnings(run.say):
                work(run)
        except _INTERRUPTIONS:
            pass
        else:
            patient.writer(run_id, epoch).finish("done")
    return outcome_of(patient.run_info(run_id))


def _patient(store: Store, console: Console) -> Store:
    return store.waiting(functools.partial(console.print, markup=False))
