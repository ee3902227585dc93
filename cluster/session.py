"""A private Ray on this machine, closed to other users, or an existing cluster. Only this module calls `ray.init`.

It also makes the token that Ray asks its clients for, and the folder for Ray's sockets and logs. Ray reads its switches
while it is imported, so neither this module nor its imports import Ray at the top.
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
    # Without this, Ray replaces 127.0.0.1 by the machine's public address and listens on every interface.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # An hour, in ms. By default, Ray ends idle segmenting processes after a second, while actors are busy, and each
    # bundle would wait for a new process to load spaCy.
    "RAY_idle_worker_killing_time_threshold_ms": "3600000",
    # Ray would start a process for each CPU beforehand, and use none of them, since our processes need a setup hook.
    "RAY_prestart_worker_first_driver": "0",
}
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Hides lines of the autoscaler on stderr.
    "RAY_SCHEDULER_EVENTS": "0",
}

_PATIENCE_SECONDS = 2.0
_CONNECT_SECONDS = 5.0
# Ray's sockets are <its folder>/session_<26 characters>_<pid>/sockets/plasma_store, and the name of a UNIX socket has
# at most 107 bytes (unix(7)). Ray's folder is <parent>/nws-<8 characters>/r.
LONGEST_TMPDIR = 107 - len("/nws-12345678/r/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store")


@dataclass(frozen=True, slots=True)
class Session:
    """A running Ray.

    Attributes:
        dashboard_url: the URL of its dashboard (that of a local session answers on this machine only); None if it has
            none.
        auth_token_path: the file with the token that the dashboard asks for; None if it asks for none, or for the one
            in RAY_AUTH_TOKEN.
        resources: the total resources, by Ray's names, such as `{"CPU": 4.0, "GPU": 1.0}`.
    """

    dashboard_url: str | None
    auth_token_path: Path | None
    resources: Mapping[str, float]


def private_token() -> Path | None:
    """Return the file of Ray's token, and make it if it is missing; None if Ray needs no file.

    Only its owner can read it. (Ray itself would make it readable by everybody.)

    Raises:
        ClusterError: the file cannot be written.
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
            # Unlike a rename, this does not replace the token of a session that was a moment faster.
            path.hardlink_to(draft)
        except FileExistsError:
            path.chmod(0o600)
        finally:
            draft.unlink()
    except OSError as error:
        raise ClusterError(
            f"The token of the Ray dashboard cannot be written to {path}: {error}. "
            "Name another file with RAY_AUTH_TOKEN_PATH."
        ) from error
    return path


def known_token() -> Path | None:
    """Return the file with the token for a cluster that somebody else started; None if Ray needs no file.

    As with `ray start`, a token is used if there is one, unless RAY_AUTH_MODE says otherwise. If Ray asks for a token,
    it refuses to go on without one.
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
    """Make a folder for Ray, and remove it at the end. After an error it stays, for Ray's logs.

    It is in RAY_TMPDIR, or else in the folder for temporary files. Ray makes its folder writable for everybody, without
    the sticky bit, so anybody could replace its sockets. Therefore this folder is inside one that is closed to others.
    Ray refuses a RAY_TMPDIR that is too long for the names of sockets.

    Raises:
        ClusterError: the folder cannot be made.
    """
    if len(os.fsencode(os.environ.get("TMPDIR", ""))) > LONGEST_TMPDIR:
        # The processes of the dashboard also have sockets in TMPDIR.
        os.environ["TMPDIR"] = "/tmp"
    parent = Path(os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp").absolute()
    try:
        parent.mkdir(parents=True, exist_ok=True)
        closed = Path(tempfile.mkdtemp(prefix="nws-", dir=parent))  # mode 0700
        folder = closed / "r"
        folder.mkdir()
    except OSError as error:
        raise ClusterError(
            f"Ray's folder cannot be created: {error}. Name another place for it with RAY_TMPDIR."
        ) from error
    try:
        yield folder
    finally:
        if not isinstance(sys.exception(), Exception):  # an interruption removes it, too
            shutil.rmtree(closed, ignore_errors=True)  # Ray's last processes may still write to it


@contextlib.contextmanager
def local_session(**machine: Any) -> Iterator[Session]:
    """Start Ray on this machine, bound to loopback, and end it with the block, however the block ends.

    It never joins a running Ray, whatever RAY_ADDRESS says. The caller's handler of SIGTERM stays. Without one, SIGTERM
    becomes `SystemExit`, so that the block ends properly.

    Args:
        machine: `num_cpus`, `num_gpus` and `resources` of `ray.init`, if they differ from those of the machine.

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

    Actors and tasks of this process end when it leaves. SIGTERM is treated as by `local_session`. Workers import `nws`
    from the same folder as this process if their machine has it, or else from the `working_dir` that a submitted job
    ships.

    Args:
        address: `host:port` of the cluster's GCS; None for RAY_ADDRESS, which Ray sets for the driver of a job.

    Raises:
        ClusterError: there is no address, nothing answers there, or the cluster does not accept this process.
    """
    address = address or os.environ.get("RAY_ADDRESS", "")
    _require_answer(address)
    os.environ.update(_ENVIRONMENT)
    advice = (
        " Its versions of Ray and Python must be those of this machine, and so must its token, if it asks for one "
        "(RAY_AUTH_MODE, RAY_AUTH_TOKEN_PATH)."
    )
    ray: Any = importlib.import_module("ray")
    try:
        yield _begin(ray, address, known_token(), f"The Ray cluster at {address} cannot be joined", advice)
    finally:
        ray.shutdown()


def _begin(ray: Any, address: str, token_path: Path | None, refused: str, advice: str = "", **options: Any) -> Session:
    """Start or join Ray, and restore the handler of SIGTERM, as Ray's own would end the process before it can clean up.

    Raises:
        ClusterError: says what was `refused`, the reason, and the advice.
    """
    on_sigterm = signal.getsignal(signal.SIGTERM)
    # Without a working_dir, since Ray adds that of a submitted job.
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
    """Refuse an address where nothing answers, since Ray itself would retry for a minute."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
    except (OSError, OverflowError, ValueError) as error:
        raise ClusterError(
            f"No Ray cluster answers at {address!r}: {error}. Is its head running, and is RAY_ADDRESS the host:port of "
            "its GCS (port 6379, unless it was started with another port)?"
        ) from error


def _exit(signum: int, frame: object) -> None:
    raise SystemExit(128 + signum)


def _shut_down(ray: Any) -> None:
    """Shut down Ray, and end the agents of our raylet, which survive if the start was interrupted.

    A raylet or GCS that somebody has stopped (SIGSTOP) is killed first, since Ray would wait for its answer for ever.
    """
    psutil = importlib.import_module("psutil")  # a dependency of Ray
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
    """Return the setup hook of worker processes, which imports `nws` from the same folder as this process.

    Ray puts the user's current folder first on the workers' path, so an `nws` in it would be imported instead of this
    one. The folder of this `nws` is on the path only for the import, since the `core` of a checkout would hide the
    user's own `core`. On another machine the folder may not exist; there a job's `working_dir` has the package.
    """
    folder = str(folder_with_nws)

    # A nested function is pickled by value: a worker cannot import it before it has run.
    def import_nws() -> None:
        is_here = Path(folder, "nws").is_dir()
        if is_here:
            sys.path.insert(0, folder)
        importlib.import_module("nws")
        if is_here:
            sys.path.remove(folder)

    return import_nws
