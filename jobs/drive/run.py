"""A run that this process drives: its rows and log, its heartbeat, its beginning and its end.

The fence keeps two drivers from writing at once: `nws.jobs.store.lifecycle`.
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
from nws.jobs.drive.progress import Advance, Minutes, run_progress
from nws.jobs.drive.watchdog import watchdog
from nws.jobs.store import LogLine, Progress, Reusable, RunInfo, RunWriter, Store, seconds_of_driver
from nws.jobs.store.runs import require_epoch

BEAT_SECONDS = 5.0
# Ctrl-C, SIGTERM, nws cancel.
_INTERRUPTIONS = (KeyboardInterrupt, SystemExit, CancelledError)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state of a run when its driver ends.

    `articles` counts those with all summaries, `reused` the summaries that are copies. `seconds` is the time that
    drivers worked on it.
    """

    run_id: str
    state: str
    articles: int
    summaries: int
    reused: int
    failures: int
    seconds: float = field(compare=False)


def outcome_of(run: RunInfo) -> Outcome:
    """The state of a run now."""
    seconds = run.worked_seconds + seconds_of_driver(run)
    return Outcome(run.id, run.state, run.articles_done, run.summaries, run.reused, run.failures, seconds)


def _without_names(message: str, article: Article) -> str:
    """The message without the id and the key of the article."""
    names = "|".join(re.escape(name) for name in (article.id, article.key) if name)
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", "", message)


class Run(RunWriter):
    """A run that this process drives. While its `with` block runs, a thread tells the store that the driver lives.

    Its methods and those of its `store` wait for a store that is away, for an hour at most. The heartbeat does not: it
    keeps its lines for a later beat.

    The thread would beat on while the driver hangs. So it pauses while the driver has not `moved` for `stuck_after`
    seconds: the run can then be resumed elsewhere.

    `stop_after_equal_failures` articles that fail in a row for one reason end the work.

    Lines go to the `console`, and progress to `progress_console`, by default the same.
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
        self._minutes = Minutes()
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
        """Print a line, and have it stored in the run's log with the next beat."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)
        self.note(text)

    def note(self, text: str) -> None:
        """Have a line stored that the console need not show."""
        with self._lock:
            self._lines.append(LogLine(datetime.now(UTC), text))

    def show(self, **changes: Any) -> None:
        """Store the driver's progress with the next beat: fields of `nws.jobs.store.Progress` that have changed."""
        now = datetime.now(UTC)
        self._at = replace(self._at or Progress(now, stage=""), recorded_at=now, **changes)

    def progress(
        self, stage: str, total: int | None, done: int = 0, unit: str = "articles", place: tuple[int, int] = (0, 1)
    ) -> AbstractContextManager[Advance]:
        """Show, log and store the progress of a stage, see `run_progress`; `place` is its number, and how many."""
        show = functools.partial(self.show, stage=stage)
        return run_progress(self._progress_console, total, done, self.note, show, unit, place, self._minutes)

    def record(
        self,
        landed: Sequence[Landed],
        stage: str = "sweep",
        systems: Sequence[str] = (),
        reusable: Reusable | None = None,
    ) -> None:
        """See `RunWriter.record`. What fails is noted in the log.

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
        """Count articles that failed in a row, as they land, with the same class and message; refuse one too many."""
        reason = None if failure is None else (failure.error_class, _without_names(failure.message, article))
        self._equal_failures = self._equal_failures + 1 if reason == self._last_reason else 1
        self._last_reason = reason
        if failure is not None and self._equal_failures == self.stop_after_equal_failures:
            raise NwsError(
                f"{self._equal_failures} articles in a row failed for the same reason, so the run was stopped. The "
                f"last one, {article.key!r}: {failure.error_class}: {failure.message} Mend the cause, then: nws resume "
                f"{self.id}. It tries them again, and then all that were not tried. To let a run go on regardless, set "
                "stop_after_equal_failures to null in its recipe."
            )

    def check(self) -> None:
        """Note that the driver moves, and stop it if it has to stop.

        Raises:
            StoreError: another driver took the run over (`FencedError`), or the store refuses.
            CancelledError: somebody asked for an end.
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
                    f"The driver has not moved for {seconds:.0f} s. Until it does, it is not heard of any more, and "
                    "the run may be resumed elsewhere. Where work takes so long, raise stuck_after in the recipe."
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
    """Hold a pending run while its job gets ready to drive it: opens datasets, fetches models, waits for machines.

    A job that dies meanwhile leaves a run whose driver is gone, not one that is pending for ever, and one that cannot
    begin ends the run as failed. A run that has ended before stays as it is until it is driven.

    Args:
        store: where the run is.
        run_id: which.
        epoch: with which the job was submitted, None for a job that NWS did not submit.
        console: where it is told that the store is away.

    Yields:
        The epoch with which the run is to be claimed then, None for a run that must be free.

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
    """Let the heart of a claimed run beat. An error ends the run, if it is still this driver's."""
    try:
        with Run(store, run_id, epoch, console, stuck_after) as run:
            yield run
    finally:
        if (error := sys.exception()) and not isinstance(error, FencedError):  # else it is another driver's to end
            is_away = isinstance(error, StoreUnavailableError)  # it was waited for already
            writer = (store if is_away else _patient(store, console)).writer(run_id, epoch)
            # Fenced off: the run has ended already, or is another's.
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
    """Claim a run, do its work while its heart beats, and end it: done, interrupted, or failed with what went wrong.

    An interruption is no error: it is in the outcome, and the run can be resumed. A driver that dies without a word is
    recorded by its watchdog. For `stuck_after` see `Run`, for the others `Store.claim_run`.

    Raises:
        StoreError: another driver works on it, or there is no such run.
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
