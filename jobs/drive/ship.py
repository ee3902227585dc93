"""Runs on a Ray cluster: ships this code to the head, where `nws drive` drives the run.

The store's URL travels as a file of its own in the shipped checkout: the entrypoint, environment variables and metadata
of a job can all be read in the dashboard.
"""

import contextlib
import os
import re
import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.job_api import Head
from core.errors import FencedError, NwsError
from jobs.installation import ROOT, VERSION_FILE, code_version, git, is_installed
from jobs.recipes.outside import SHIPPED, files_to_ship
from jobs.store import RunInfo, Store, new_run_id
from jobs.store.address import parse_address

if TYPE_CHECKING:  # `nws cancel` must not wait for torch
    from jobs.recipes.plan import Plan

URL_FILE = ".nws_store_url"
_SUBMISSION_FILE = ".nws_submission"

# Plugins import `nws.plugins`.
_OURS = ("core", "cluster", "jobs", "nws", "nws_start.py")
# Code, and what it reads: all else stays here, whatever a checkout holds.
_CODE = frozenset((".py", ".j2", ".css", ".js", ".mako"))
_READ = {"core/sample": ".jsonl", "jobs/recipes/bundled": ".yaml"}
# Of files and folders. Such a name may have an ending of code.
_PRIVATE = re.compile(r"^\.|^id_(rsa|dsa|ecdsa|ed25519)|credential|secret|\.(pem|key|env|db)\b", re.IGNORECASE)

# Ray's own 3 seconds are too short for a driver to put its run in order.
_STOP_SECONDS = 30


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

    Raises:
        NwsError: there is no code but links.
    """
    names = _files(checkout)
    if not names:
        raise NwsError(f"{checkout} holds no code for the cluster, or only links, which stay here. Install NWS anew.")
    for name in names:
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
    """What git knows or would add; outside of a git checkout, all but caches. Relative to the checkout.

    Of these only code, and the data that come with it; no links, and nothing that is named like a secret.
    """
    # Beside an installed wheel, `alembic` is the library, and a git is that of another project.
    ours = _OURS if is_installed(checkout) else (*_OURS, "alembic")
    names = [] if is_installed(checkout) else _known_to_git(checkout, ours)
    if not names:
        paths = (path for name in ours for path in (checkout / name, *(checkout / name).rglob("*")))
        names = [path.relative_to(checkout) for path in paths if "__pycache__" not in path.parts]
    return sorted(
        name for name in set(names) if _is_ours(name) and (checkout / name).is_file() and not _is_linked(checkout, name)
    )


def _is_ours(name: Path) -> bool:
    """Whether a file may leave this machine, by its name."""
    of_ours = any(name.suffix == suffix and name.is_relative_to(folder) for folder, suffix in _READ.items())
    return (of_ours or name.suffix in _CODE) and not any(_PRIVATE.search(part) for part in name.parts)


def _is_linked(checkout: Path, name: Path) -> bool:
    """Whether the file, or a folder that it is in, is a link, which may lead to anything."""
    return any((checkout / part).is_symlink() for part in (name, *name.parents[:-1]))


def _known_to_git(checkout: Path, ours: Sequence[str]) -> list[Path]:
    """What it knows or would add; nothing outside of a git checkout."""
    listed = git(checkout, "ls-files", "-z", "--cached", "--others", "--exclude-standard", *ours) or b""
    return [Path(os.fsdecode(name)) for name in listed.split(b"\0") if name]


def take_store_url() -> str | None:
    """The URL that was shipped with this checkout, whose file is deleted; None if there is none."""
    path = ROOT / URL_FILE
    try:
        url = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    path.unlink()
    return url


def ship_run(
    store: Store,
    store_url: str,
    plan: "Plan",
    address: str,
    reuse: bool = False,
    name: str | None = None,
    note: str | None = None,
) -> str:
    """Submit a new run; its id, which is also that of the job. `reuse`, `name` and `note` are as for `driver.start`.

    Raises:
        RecipeError: the address is not that of a dashboard.
        ClusterError: the head does not answer or refuses the job. A run that exists by then is 'failed'.
    """
    head = Head(address)
    run_id = new_run_id(plan.job)
    store.create_run(plan.run_spec(head.address, reuse, name, note), run_id)
    with _or_given_up(store, run_id, epoch=0):
        own = files_to_ship(plan.recipe.model_dump(mode="json"))
        _ship(store, store_url, head, run_id, plan.job, run_id, 0, [], own)
    return run_id


def ship_again(
    store: Store,
    store_url: str,
    run_id: str,
    address: str,
    accelerator: str | None,
    actors: int | None,
    take_over: bool,
) -> tuple[str, int]:
    """Submit a run again that no driver works on (with `take_over`: any run).

    Returns:
        The id of the new job, and the epoch with which it claims the run. Of two jobs of a run, the one that was
        submitted last drives it; the other ends as FAILED when it begins.

    Raises:
        NwsError: a driver works on it, there is no such run, or the head does not answer or refuses.
    """
    run = store.require_free(run_id, socket.gethostname(), take_over)
    own = files_to_ship(run.recipe)
    head = Head(address)
    submission_id = _next_name(head, run_id)
    epoch = store.submit_again(run_id, socket.gethostname(), address, take_over)
    with _or_given_up(store, run_id, epoch):
        _ship(store, store_url, head, run_id, run.job, submission_id, epoch, options_of(accelerator, actors), own)
    return submission_id, epoch


def ship_shard_driver(
    store: Store, run: RunInfo, epoch: int, head: Head, accelerator: str | None, actors: int | None
) -> str:
    """Submit a driver of the shards of a run, whose parent process has this epoch; the name of the job.

    Raises:
        NwsError: the head does not answer or refuses.
    """
    own = files_to_ship(run.recipe)
    name = _next_name(head, run.id)
    _ship(store, store.url, head, run.id, run.job, name, epoch, options_of(accelerator, actors), own)
    return name


def options_of(accelerator: str | None, actors: int | None) -> list[str]:
    """What `nws drive` is to be told of the actors."""
    return [*_option("--accelerator", accelerator), *_option("--actors", actors)]


def _option(name: str, value: object) -> list[str]:
    return [] if value is None else [name, str(value)]


def _ship(
    store: Store,
    store_url: str,
    head: Head,
    run_id: str,
    job: str,
    submission_id: str,
    epoch: int,
    options: list[str],
    own: Mapping[str, Path],
) -> None:
    entrypoint = shlex.join(["python", "-m", "jobs.cli", "drive", run_id, "--epoch", str(epoch), *options])
    with tempfile.TemporaryDirectory(prefix="nws-submit-") as folder:
        stage(Path(folder), store_url, submission_id, own=own)
        head.submit_job(
            submission_id,
            entrypoint,
            Path(folder),
            {"RAY_JOB_STOP_WAIT_TIME_S": str(_STOP_SECONDS)},
            {"run_id": run_id, "job": job, "store": store.shown_url},
        )


@contextlib.contextmanager
def _or_given_up(store: Store, run_id: str, epoch: int) -> Iterator[None]:
    """For what a pending run would wait for for ever if it failed."""
    try:
        yield
    finally:
        error = sys.exception()
        if error is not None:
            give_up(store, run_id, epoch, error)


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
    names = [job.submission_id for job in head.jobs()]
    return sorted((name for name in names if _number(name, run_id)), key=lambda name: _number(name, run_id))


def _next_name(head: Head, run_id: str) -> str:
    """A cluster never takes the same name twice. That of a run's first job is for `ship_run`."""
    numbers = [_number(job.submission_id, run_id) for job in head.jobs()]
    return f"{run_id}-a{max([1, *numbers]) + 1}"


def _number(submission_id: str, run_id: str) -> int:
    """1 for a run's first job, 2 for the job of its first `nws resume`, …, and 0 for a job of another run."""
    if submission_id == run_id:
        return 1
    match = re.fullmatch(re.escape(run_id) + r"-a(\d+)", submission_id)
    return int(match[1]) if match else 0


def stop_jobs(head: Head, run_id: str) -> list[str]:
    """Stop the jobs of a run that have not ended; their ids."""
    return [name for name in jobs_of(head, run_id) if not head.job(name).has_ended and head.stop(name)]


def end_stopped(store: Store, run_id: str) -> None:
    """End a run whose job was stopped, and its shards, should their drivers not have had the time."""
    for run in (*store.shards(run_id), store.run_info(run_id)):
        if run.state in ("pending", "running"):
            epoch = store.claim_run(run.id, socket.gethostname(), os.getpid(), take_over=True)
            store.writer(run.id, epoch).finish("interrupted", "cancelled; its Ray job was stopped")
