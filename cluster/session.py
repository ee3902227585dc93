"""A private Ray on this machine, closed to other users, or an existing cluster. The only place with `ray.init`.

Ray asks its clients for a token, and has a folder for its sockets and logs: both are made here.
Ray reads its switches while it is imported, so nothing here, and nothing this imports, imports it at the top.
"""

import contextlib
import importlib
import logging
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nws.core.errors import ClusterError

_OF_OUR_OWN = {
    # Without this, Ray rewrites 127.0.0.1 to the machine's outside address and listens on every interface.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # An hour, in ms. After a second, Ray would end processes that segment while actors are busy, and each bundle wait
    # for a new one to load spaCy.
    "RAY_idle_worker_killing_time_threshold_ms": "3600000",
    # Ray would start a process for each CPU beforehand, and then use none of them: ours begin with a setup hook.
    "RAY_prestart_worker_first_driver": "0",
}
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Autoscaler lines on stderr.
    "RAY_SCHEDULER_EVENTS": "0",
}

_PATIENCE_SECONDS = 2.0
_CONNECT_SECONDS = 5.0
# Ray's sockets are <its folder>/session_<26 characters>_<pid>/sockets/plasma_store, and the name of a UNIX socket
# holds 107 bytes (unix(7)). Its folder is <parent>/nws-<8 characters>/r.
LONGEST_TMPDIR = 107 - len("/nws-12345678/r/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store")


@dataclass(frozen=True, slots=True)
class Session:
    """A running Ray.

    Attributes:
        dashboard_url: Where its dashboard answers (a local session's on this machine only); None if it has none.
        auth_token_path: The file with the token that the dashboard asks for; None if it asks for none, or for the
            one in RAY_AUTH_TOKEN.
        resources: What there is, by Ray's names, e.g. `{"CPU": 4.0, "GPU": 1.0}`.
    """

    dashboard_url: str | None
    auth_token_path: Path | None
    resources: Mapping[str, float]


def private_token() -> Path | None:
    """The file of Ray's token, made if it is missing; None where Ray needs no file.

    It is readable by its owner alone: Ray itself would write it readable by everybody.

    Raises:
        ClusterError: it cannot be kept there.
    """
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    if not _is_in_file():
        return None
    path = _token_path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600, exist_ok=False)
        draft.write_text(secrets.token_hex(32))
        try:
            # Unlike a rename, this leaves the token of a session that was faster by a moment.
            path.hardlink_to(draft)
        except FileExistsError:
            path.chmod(0o600)
        finally:
            draft.unlink()
    except OSError as error:
        raise ClusterError(
            f"The token of the Ray dashboard cannot be kept in {path}: {error}. "
            "Name another file with RAY_AUTH_TOKEN_PATH."
        ) from error
    return path


def known_token() -> Path | None:
    """The file of the token to show a cluster that somebody else started; None where Ray needs no file.

    As for `ray start`, a token is used where there is one, unless RAY_AUTH_MODE says otherwise. Ray refuses to go on
    without one where it asks for one.
    """
    path = _token_path()
    if "RAY_AUTH_TOKEN" in os.environ or path.is_file():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    return path if "RAY_AUTH_MODE" in os.environ and _is_in_file() else None


def _token_path() -> Path:
    return Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")


def _is_in_file() -> bool:
    return os.environ["RAY_AUTH_MODE"].lower() == "token" and "RAY_AUTH_TOKEN" not in os.environ


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """Make a folder, and remove it at the end; it stays after an error, for Ray's logs.

    It is in RAY_TMPDIR, or else where temporary files are. Ray makes the folder it is given writable for everybody,
    without the sticky bit, so that anybody could put another socket in the place of its own. This one is therefore
    inside of one that is closed to others. A RAY_TMPDIR that is too long for the names of sockets is refused by Ray.

    Raises:
        ClusterError: it cannot be there.
    """
    if len(os.fsencode(os.environ.get("TMPDIR", ""))) > LONGEST_TMPDIR:
        # The processes of the dashboard have sockets in TMPDIR, too.
        os.environ["TMPDIR"] = "/tmp"
    parent = Path(os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp").absolute()
    try:
        parent.mkdir(parents=True, exist_ok=True)
        closed = Path(tempfile.mkdtemp(prefix="nws-", dir=parent))  # mode 0700
        folder = closed / "r"
        folder.mkdir()
    except OSError as error:
        raise ClusterError(
            f"Ray's folder cannot be made: {error}. Name another place for it with RAY_TMPDIR."
        ) from error
    try:
        yield folder
    finally:
        if not isinstance(sys.exception(), Exception):  # an interruption removes it, too
            shutil.rmtree(closed, ignore_errors=True)  # Ray's last processes may still write to it


@contextlib.contextmanager
def local_session(**machine: Any) -> Iterator[Session]:
    """Start Ray on this machine, bound to loopback, and end it with the block, however the block ends.

    It never joins a Ray that is already there, whatever RAY_ADDRESS says. SIGTERM stays the caller's, or
    becomes `SystemExit` where the caller has no handler, so that the block is left in order.

    Args:
        machine: `num_cpus`, `num_gpus` and `resources` of `ray.init`, where they are not those of the machine.

    Raises:
        ClusterError: Ray cannot start, or cannot be kept on loopback and in a private folder.
    """
    os.environ.update(_ENVIRONMENT | _OF_OUR_OWN)
    token_path = private_token()
    ray: Any = importlib.import_module("ray")
    if getattr(importlib.import_module("ray._private.ray_constants"), "ENABLE_RAY_CLUSTER", True):
        raise ClusterError(
            f"Ray {ray.__version__} cannot be kept on 127.0.0.1: it was imported before the session started, or "
            "this version ignores RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER. Import nothing of Ray before `local_session`."
        )
    with private_folder() as folder:
        options = {"include_dashboard": True, "dashboard_host": "127.0.0.1", "_temp_dir": str(folder), **machine}
        try:
            yield _begin(ray, "local", token_path, "Ray cannot start on this machine", **options)
        finally:
            _shut_down(ray)


@contextlib.contextmanager
def joined_session(address: str | None = None) -> Iterator[Session]:
    """Join an existing Ray cluster, and leave it at the end of the block. The cluster goes on.

    What this process started there ends when it leaves. SIGTERM is treated as by `local_session`. Workers import
    `nws` from where this process has it if that folder is there on their machine, or else from the
    `working_dir` that a submitted job ships.

    Args:
        address: `host:port` of the cluster's GCS; None for RAY_ADDRESS, which Ray sets for the driver of a job.

    Raises:
        ClusterError: there is no address, nothing answers there, or the cluster does not let this process in.
    """
    address = address or os.environ.get("RAY_ADDRESS", "")
    _require_answer(address)
    os.environ.update(_ENVIRONMENT)
    advice = (
        " Its Ray and Python must be of the versions that are here, and so must its token, if it asks for one "
        "(RAY_AUTH_MODE, RAY_AUTH_TOKEN_PATH)."
    )
    ray: Any = importlib.import_module("ray")
    try:
        yield _begin(ray, address, known_token(), f"The Ray cluster at {address} cannot be joined", advice)
    finally:
        ray.shutdown()


def _begin(ray: Any, address: str, token_path: Path | None, refused: str, advice: str = "", **options: Any) -> Session:
    """Start or join Ray, and put back the handler of SIGTERM: Ray's own ends the process before it can clean up.

    Raises:
        ClusterError: what is `refused`, why, and the advice.
    """
    on_sigterm = signal.getsignal(signal.SIGTERM)
    # No working_dir: Ray adds the one of a submitted job.
    hook = {"worker_process_setup_hook": _import_from(Path(__file__).parents[2])}
    options |= {"log_to_driver": False, "logging_level": logging.ERROR, "runtime_env": hook}
    try:
        context = ray.init(address=address, **options)
    except (OSError, RuntimeError, ray.exceptions.RayError) as error:
        raise ClusterError(f"{refused}: {error}{advice}") from error
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _exit if on_sigterm in (signal.SIG_DFL, None) else on_sigterm)
    dashboard_url = f"http://{context.dashboard_url}" if context.dashboard_url else None
    return Session(dashboard_url, token_path, ray.cluster_resources())


def _require_answer(address: str) -> None:
    """Refuse an address where nothing answers: Ray itself would ask it again and again for a minute."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
    except (OSError, OverflowError, ValueError) as error:
        raise ClusterError(
            f"No Ray cluster answers at {address!r}: {error}. Is its head running, and is RAY_ADDRESS the host:port of "
            "its GCS (port 6379 unless it was started with another)?"
        ) from error


def _exit(signum: int, frame: object) -> None:
    raise SystemExit(128 + signum)


def _shut_down(ray: Any) -> None:
    """`ray.shutdown`, and an end to the agents of our raylet, which outlive it if the start was interrupted.

    A raylet or GCS that somebody has stopped is killed before: Ray would wait for its answer for ever.
    """
    psutil = importlib.import_module("psutil")  # Ray brings it along
    below_raylet = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.name() == "raylet":
                below_raylet += child.children(recursive=True)
            if child.name() in ("raylet", "gcs_server") and child.status() == psutil.STATUS_STOPPED:
                child.kill()
    ray.shutdown()
    for process in psutil.wait_procs(below_raylet, timeout=_PATIENCE_SECONDS)[1]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def _import_from(folder_with_nws: Path) -> Callable[[], None]:
    """The setup hook of worker processes: it imports `nws` from where this process has it.

    Ray puts the folder the user is in at the front of the workers' path, so an `nws` in it would be imported in place
    of this one. The folder of this one is on the path only for that import: the `core` of a checkout would hide the
    user's. On another machine the folder may not exist; there a job's `working_dir` has the package.
    """
    folder = str(folder_with_nws)

    # Inside, so that it is pickled by value: a worker cannot import it before it has run.
    def import_nws() -> None:
        is_here = Path(folder, "nws").is_dir()
        if is_here:
            sys.path.insert(0, folder)
        importlib.import_module("nws")
        if is_here:
            sys.path.remove(folder)

    return import_nws
