"""Runs on a Ray cluster: ships this code to the head, where `nws drive` drives the run, and follows it from here.

The store's URL travels as a file of its own in the shipped checkout: the entrypoint, environment variables and metadata
of a job can all be read in the dashboard.
"""

import contextlib
import itertools
import os
import re
import shlex
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from nws.cluster.job_api import Head
from nws.core.errors import ClusterError, FencedError, NwsError
from nws.jobs.installation import ROOT, VERSION_FILE, code_version
from nws.jobs.store import LogLine, RunInfo, Store, new_run_id
from nws.jobs.store.address import parse_address
from nws.jobs.store.runs import SILENT_SECONDS

if TYPE_CHECKING:  # `nws cancel` must not wait for torch
    from nws.jobs.recipes.plan import Plan

URL_FILE = ".nws_store_url"
_SUBMISSION_FILE = ".nws_submission"

# Of the package `nws`. In a checkout they are links to folders beside it.
_FOLDERS = ("core", "cluster", "jobs", "migrations")
# Code, and what it reads: all else stays here, whatever a checkout holds.
_SHIPPED = (
    *("*.py", "*.j2", "*.css", "*.js", "*.mako"),
    *("core/models/*.txt", "core/sample/*.jsonl", "jobs/recipes/bundled/*/*.yaml"),
)

_PAUSE_SECONDS = 1.0
_LAST_LINES = 20


def stage(
    target: Path, store_url: str, submission_id: str, checkout: Path = ROOT, own: Mapping[str, Path] | None = None
) -> None:
    """Copy what a job needs of the checkout, and add the store's URL and the version of the code.

    Args:
        target: an existing folder, which nobody else should be able to read.
        store_url: in full, with its password.
        submission_id: goes along, so that no two packages are the same: Ray would hand out its copy of the
            first again, from which the driver has deleted the URL.
        checkout: where our packages are.
        own: files of the user's own that the run needs, by the names under which its driver finds them.
    """
    from nws.jobs.recipes.outside import SHIPPED

    for name in _files(checkout):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(checkout / name, target / name)
    for shipped, path in (own or {}).items():
        (target / SHIPPED.name).mkdir(mode=0o700, exist_ok=True)
        shutil.copyfile(path, target / SHIPPED.name / shipped)
    (target / VERSION_FILE).write_text(code_version(), encoding="utf-8")
    (target / _SUBMISSION_FILE).write_text(submission_id, encoding="utf-8")
    secret = target / URL_FILE
    secret.touch(mode=0o600)
    secret.write_text(parse_address(store_url).url.render_as_string(hide_password=False), encoding="utf-8")


def _files(checkout: Path) -> list[Path]:
    """Our code and what it reads, relative to the checkout. No other link or file, whatever lies there, goes."""
    package = checkout / "nws"
    paths = itertools.chain(package.glob("*"), *((package / name).rglob("*") for name in _FOLDERS))
    names = (path.relative_to(checkout) for path in paths if path.is_file() and not path.is_symlink())
    return sorted(name for name in names if any(map(name.match, _SHIPPED)))


def take_store_url() -> str | None:
    """The URL that was shipped with this checkout, whose file is deleted; None if there is none."""
    path = ROOT / URL_FILE
    if not path.is_file():
        return None
    url = path.read_text(encoding="utf-8")
    path.unlink()
    return url


def ship_run(
    store: Store, plan: "Plan", address: str, reuse: bool = False, name: str | None = None, note: str | None = None
) -> str:
    """Submit a new run; its id, which is also that of its first job. For the others see `driver.start`.

    Raises:
        RecipeError: the address is not that of a dashboard.
        ClusterError: the head does not answer or refuses the job. A run that exists by then is 'failed'.
    """
    head = Head(address)
    run_id = new_run_id(plan.job)
    store.create_run(plan.run_spec(head.address, reuse, name, note), run_id)
    ship_job(store, head, store.run_info(run_id), 0)
    return run_id


def ship_again(
    store: Store, run_id: str, address: str, accelerator: str | None, actors: int | None, take_over: bool
) -> tuple[str, int]:
    """Submit a run again that no driver works on (with `take_over`: any run).

    Returns:
        The id of the new job, and the epoch with which it claims the run. Of two jobs of a run, the one that was
        submitted last drives it; the other ends as FAILED when it begins.

    Raises:
        NwsError: a driver works on it, there is no such run, or the head does not answer or refuses.
    """
    from nws.jobs.recipes.outside import files_to_ship

    run = store.require_free(run_id, socket.gethostname(), take_over)
    files_to_ship(run.recipe)  # which may be refused
    head = Head(address)
    epoch = store.submit_again(run_id, socket.gethostname(), address, take_over)
    return ship_job(store, head, run, epoch, options_of(accelerator, actors)), epoch


def options_of(accelerator: str | None, actors: int | None) -> list[str]:
    """What `nws drive` is to be told of the actors."""
    options = {"--accelerator": accelerator, "--actors": actors}
    return [text for name, value in options.items() if value is not None for text in (name, str(value))]


def ship_job(store: Store, head: Head, run: RunInfo, epoch: int, options: Sequence[str] = ()) -> str:
    """Submit a job that drives a run, or shards of it, with this epoch; its name.

    A pending run, which would wait for ever, ends if that fails.

    Raises:
        NwsError: the head does not answer or refuses.
    """
    from nws.jobs.recipes.outside import files_to_ship

    entrypoint = shlex.join(["python", "-m", "nws.jobs.cli", "drive", run.id, "--epoch", str(epoch), *options])
    shown = {"run_id": run.id, "job": run.job, "store": store.shown_url}
    try:
        job = _next_name(head, run.id)
        with tempfile.TemporaryDirectory(prefix="nws-submit-") as folder:
            stage(Path(folder), store.url, job, own=files_to_ship(run.recipe))
            head.submit_job(job, entrypoint, Path(folder), shown)
        return job
    finally:
        if error := sys.exception():
            give_up(store, run.id, epoch, error)


def give_up(store: Store, run_id: str, epoch: int, error: BaseException) -> None:
    """End a run as failed that is still pending, because `error` keeps the job of this epoch from it.

    A run that another job or driver has by now is left alone.
    """
    store = store.waiting()  # told to nobody: that is of no use to a run that cannot begin
    if store.run_info(run_id).state != "pending":
        return
    with contextlib.suppress(FencedError):
        claimed = store.claim_run(run_id, socket.gethostname(), os.getpid(), epoch=epoch)
        text = str(error) if isinstance(error, NwsError) else type(error).__name__
        store.writer(run_id, claimed).finish("failed", text)


def jobs_of(head: Head, run_id: str) -> list[str]:
    """The ids of a run's jobs that the head knows, the oldest first."""
    pattern = re.compile(re.escape(run_id) + r"(-a\d+)?")
    names = [job.submission_id for job in head.jobs() if pattern.fullmatch(job.submission_id)]
    return sorted(names, key=lambda name: (len(name), name))


def _next_name(head: Head, run_id: str) -> str:
    """A cluster never takes the same name twice."""
    known = jobs_of(head, run_id)
    number = known[-1].removeprefix(run_id).removeprefix("-a") or "1" if known else "0"
    return f"{run_id}-a{int(number) + 1}" if known else run_id


def stop_jobs(head: Head, run_id: str) -> list[str]:
    """Stop the jobs of a run that have not ended; their ids."""
    return [name for name in jobs_of(head, run_id) if not head.job(name).has_ended and head.stop(name)]


def end_stopped(store: Store, run_id: str) -> None:
    """End a run whose job was stopped, and its shards, should their drivers not have had the time."""
    for run in (*store.shards(run_id), store.run_info(run_id)):
        if run.state in ("pending", "running"):
            epoch = store.claim_run(run.id, socket.gethostname(), os.getpid(), take_over=True)
            store.writer(run.id, epoch).finish("interrupted", "cancelled; its Ray job was stopped")


class HeartbeatMonitor:
    """The heartbeat of a run's driver.

    It is measured by its changes, not by clocks: those of two machines may differ, and after an outage the last beat is
    old.
    """

    def __init__(self) -> None:
        self._beat: datetime | None = None
        self._heard = time.monotonic()

    def silent_seconds(self, run: RunInfo) -> float:
        """For how many seconds there has been no beat; called with the run as it is now."""
        if run.heartbeat_at != self._beat:
            self._beat, self._heard = run.heartbeat_at, time.monotonic()
        return time.monotonic() - self._heard

    def require(self, run: RunInfo) -> None:
        """Refuse a silence that is too long; called with the run as it is now.

        Raises:
            ClusterError: the driver is gone, and the run has not ended.
        """
        if run.state == "running" and self.silent_seconds(run) > SILENT_SECONDS:
            raise ClusterError(
                f"The driver of run {run.id} (pid {run.driver_pid} on {run.driver_host}) is gone, and the run has "
                f"not ended. What it stored is there; resume it with: nws resume {run.id}"
            )


def follow_run(
    store: Store,
    run_id: str,
    say: Callable[[LogLine], None],
    epoch: int = -1,
    line: int = 0,
    job: tuple[Head, str] | None = None,
) -> RunInfo:
    """Pass on the driver's log until the run ends. Returns the run as it is then.

    Args:
        store: where the run is.
        run_id: which.
        say: called with every line.
        epoch: of a driver; its end, or that of an earlier one, is not the one that is waited for.
        line: the number of the last line that is not passed on.
        job: the Ray job that is to drive the run, where this process can reach its head.

    Raises:
        ClusterError: the job ended without its driver taking the run, or the driver is gone.
    """
    patient = store.waiting()  # the driver itself says in its log that it waits
    heartbeats = HeartbeatMonitor()
    while True:
        death = death_of(*job) if job else None  # in this order: the job ends last
        run = patient.run_info(run_id)
        for number, text in patient.log(run_id, line):
            say(text)
            line = number
        if run.driver_epoch > epoch:
            if run.state not in ("pending", "running"):
                return run
            heartbeats.require(run)
        elif job and death:
            error = ClusterError(f"Before it drove run {run_id}, the Ray job {job[1]} {death}")
            give_up(store, run_id, epoch, error)
            raise error
        time.sleep(_PAUSE_SECONDS)


def wait_for_end(store: Store, run_id: str, seconds: float) -> bool:
    """Whether drivers have ended a run and its shards, after so many seconds at most."""
    deadline = time.monotonic() + seconds
    while any(run.state == "running" for run in (store.run_info(run_id), *store.shards(run_id))):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE_SECONDS / 2)
    return True


def death_of(head: Head, name: str) -> str | None:
    """How a Ray job died, with the end of its log; "" if it has ended in order, and None while it works.

    A head that does not answer says nothing about the run, which is in the store.
    """
    with contextlib.suppress(ClusterError):
        job = head.job(name)
        if job.status == "SUCCEEDED":
            return ""
        if job.has_ended:
            lines = head.log(name).strip().splitlines()[-_LAST_LINES:]
            return f"was {job.status} ({job.message.strip()}). The end of its log:\n" + "\n".join(lines)
    return None
