"""Runs on a Ray cluster: this code is shipped to the head, where `nws drive` drives the run, and is followed from here.

The store's URL travels as a file of its own in the shipped checkout, because the dashboard shows the entrypoint, the
environment variables and the metadata of a job to everybody.
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

# Folders of the package `nws`. In a checkout they are links to folders beside it.
_FOLDERS = ("core", "cluster", "jobs", "migrations")
# Code, and the files that it reads. Nothing else of a checkout is shipped.
_SHIPPED = (
    *("*.py", "*.j2", "*.css", "*.js", "*.mako"),
    *("core/models/*.txt", "core/sample/*.jsonl", "jobs/recipes/bundled/*/*.yaml"),
)

_PAUSE_SECONDS = 1.0
_LAST_LINES = 20


def stage(
    target: Path, store_url: str, submission_id: str, checkout: Path = ROOT, own: Mapping[str, Path] | None = None
) -> None:
    """Copy the files of the checkout that a job needs, and add the store's URL and the version of the code.

    Args:
        target: an existing folder, which nobody else should be able to read.
        store_url: the full URL, with its password.
        submission_id: the id of the job, which makes each package unique: Ray would reuse its copy of an equal package,
            from which a driver has deleted the URL.
        checkout: the folder of NWS's packages.
        own: the user's own files that the run needs, by the names under which its driver finds them.
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
    """List NWS's code and the files that it reads, relative to the checkout. Other files and links are not shipped."""
    package = checkout / "nws"
    paths = itertools.chain(package.glob("*"), *((package / name).rglob("*") for name in _FOLDERS))
    names = (path.relative_to(checkout) for path in paths if path.is_file() and not path.is_symlink())
    return sorted(name for name in names if any(map(name.match, _SHIPPED)))


def take_store_url() -> str | None:
    """Read the URL that was shipped with this checkout, and delete its file; None if there is none."""
    path = ROOT / URL_FILE
    if not path.is_file():
        return None
    url = path.read_text(encoding="utf-8")
    path.unlink()
    return url


def ship_run(
    store: Store, plan: "Plan", address: str, reuse: bool = False, name: str | None = None, note: str | None = None
) -> str:
    """Submit a new run. Returns its id, which is also the id of its first job. For the arguments see `driver.start`.

    Raises:
        RecipeError: the address is not that of a dashboard.
        ClusterError: the head does not answer or refuses the job. If the run exists by then, it becomes 'failed'.
    """
    head = Head(address)
    run_id = new_run_id(plan.job)
    store.create_run(plan.run_spec(head.address, reuse, name, note), run_id)
    ship_job(store, head, store.run_info(run_id), 0)
    return run_id


def ship_again(
    store: Store, run_id: str, address: str, accelerator: str | None, actors: int | None, take_over: bool
) -> tuple[str, int]:
    """Submit a run again on which no driver works (with `take_over`: any run).

    Returns:
        The id of the new job, and the epoch with which it claims the run. If a run has two jobs, the one that was
        submitted last drives it, and the other ends as FAILED when it begins.

    Raises:
        NwsError: a driver works on it, there is no such run, or the head does not answer or refuses.
    """
    from nws.jobs.recipes.outside import files_to_ship

    run = store.require_free(run_id, socket.gethostname(), take_over)
    files_to_ship(run.recipe)  # raises an error if a file cannot be shipped
    head = Head(address)
    epoch = store.submit_again(run_id, socket.gethostname(), address, take_over)
    return ship_job(store, head, run, epoch, actor_options(accelerator, actors)), epoch


def actor_options(accelerator: str | None, actors: int | None) -> list[str]:
    """Return the options of `nws drive` about actors."""
    options = {"--accelerator": accelerator, "--actors": actors}
    return [text for name, value in options.items() if value is not None for text in (name, str(value))]


def ship_job(store: Store, head: Head, run: RunInfo, epoch: int, options: Sequence[str] = ()) -> str:
    """Submit a job that drives a run, or its shards, with this epoch. Returns the name of the job.

    If that fails, a pending run ends as failed, since it would wait for ever.

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
            fail_pending_run(store, run.id, epoch, error)


def fail_pending_run(store: Store, run_id: str, epoch: int, error: BaseException) -> None:
    """End a pending run as failed, because `error` keeps the job of this epoch from driving it.

    A run that another job or driver has claimed by now is left alone.
    """
    store = store.waiting()  # waits silently, since there is no driver to show that it waits
    if store.run_info(run_id).state != "pending":
        return
    with contextlib.suppress(FencedError):
        claimed = store.claim_run(run_id, socket.gethostname(), os.getpid(), epoch=epoch)
        text = str(error) if isinstance(error, NwsError) else type(error).__name__
        store.writer(run_id, claimed).finish("failed", text)


def jobs_of(head: Head, run_id: str) -> list[str]:
    """List the ids of a run's jobs that the head knows, the oldest first."""
    pattern = re.compile(re.escape(run_id) + r"(-a\d+)?")
    names = [job.submission_id for job in head.jobs() if pattern.fullmatch(job.submission_id)]
    return sorted(names, key=lambda name: (len(name), name))


def _next_name(head: Head, run_id: str) -> str:
    """Return a name for a run's next job, since a cluster never accepts the same name twice."""
    known = jobs_of(head, run_id)
    number = known[-1].removeprefix(run_id).removeprefix("-a") or "1" if known else "0"
    return f"{run_id}-a{int(number) + 1}" if known else run_id


def stop_jobs(head: Head, run_id: str) -> list[str]:
    """Stop the jobs of a run that have not ended. Returns their ids."""
    return [name for name in jobs_of(head, run_id) if not head.job(name).has_ended and head.stop(name)]


def end_stopped(store: Store, run_id: str) -> None:
    """End a run whose job was stopped, and its shards, if their drivers had no time to end them."""
    for run in (*store.shards(run_id), store.run_info(run_id)):
        if run.state in ("pending", "running"):
            epoch = store.claim_run(run.id, socket.gethostname(), os.getpid(), take_over=True)
            store.writer(run.id, epoch).finish("interrupted", "cancelled; its Ray job was stopped")


class HeartbeatMonitor:
    """A monitor of the heartbeats of a run's driver.

    It looks at changes and not at times: the clocks of two machines may differ, and after an outage of the store the
    last heartbeat is old.
    """

    def __init__(self) -> None:
        self._beat: datetime | None = None
        self._heard = time.monotonic()

    def silent_seconds(self, run: RunInfo) -> float:
        """Return the number of seconds without a heartbeat; `run` is the run as it is now."""
        if run.heartbeat_at != self._beat:
            self._beat, self._heard = run.heartbeat_at, time.monotonic()
        return time.monotonic() - self._heard

    def require(self, run: RunInfo) -> None:
        """Refuse a silence that is too long; `run` is the run as it is now.

        Raises:
            ClusterError: the driver is gone, and the run has not ended.
        """
        if run.state == "running" and self.silent_seconds(run) > SILENT_SECONDS:
            raise ClusterError(
                f"The driver of run {run.id} (pid {run.driver_pid} on {run.driver_host}) is gone, and the run has "
                f"not finished. Its results so far are stored. Resume it with: nws resume {run.id}"
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
        store: the store of the run.
        run_id: the run.
        say: a function that gets every line.
        epoch: the epoch of an earlier driver. Only the end of a later driver is waited for.
        line: the number of the last line that is not passed on.
        job: the Ray job that will drive the run, if this process can reach its head.

    Raises:
        ClusterError: the job ended before its driver claimed the run, or the driver is gone.
    """
    patient = store.waiting()  # waits silently, since the driver's log says that it waits
    heartbeats = HeartbeatMonitor()
    while True:
        death = death_of(*job) if job else None  # read before the run, since the job ends after the run
        run = patient.run_info(run_id)
        for number, text in patient.log(run_id, line):
            say(text)
            line = number
        if run.driver_epoch > epoch:
            if run.state not in ("pending", "running"):
                return run
            heartbeats.require(run)
        elif job and death:
            error = ClusterError(f"The Ray job {job[1]} ended before it could drive run {run_id}: it {death}")
            fail_pending_run(store, run_id, epoch, error)
            raise error
        time.sleep(_PAUSE_SECONDS)


def wait_for_end(store: Store, run_id: str, seconds: float) -> bool:
    """Wait for at most that many seconds, and return whether the drivers have ended a run and its shards."""
    deadline = time.monotonic() + seconds
    while any(run.state == "running" for run in (store.run_info(run_id), *store.shards(run_id))):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE_SECONDS / 2)
    return True


def death_of(head: Head, name: str) -> str | None:
    """Describe how a Ray job died, with the end of its log; "" if it ended regularly, and None while it works.

    None, too, if the head does not answer, which says nothing about the run.
    """
    with contextlib.suppress(ClusterError):
        job = head.job(name)
        if job.status == "SUCCEEDED":
            return ""
        if job.has_ended:
            lines = head.log(name).strip().splitlines()[-_LAST_LINES:]
            return f"was {job.status} ({job.message.strip()}). The end of its log:\n" + "\n".join(lines)
    return None
