"""A Ray of one's own on this machine, closed to everybody else: the only `ray.init` for local runs.

Ray reads its switches while it is imported, so nothing here, and nothing this imports, imports it at the top.
"""

import contextlib
import importlib
import logging
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import ClusterError

_ENVIRONMENT = {
    # Without this, Ray rewrites 127.0.0.1 to the machine's outside address and listens on every interface.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    # Autoscaler lines on stderr.
    "RAY_SCHEDULER_EVENTS": "0",
}

# Ray's sockets are <temporary folder>/ray/session_<26 characters>_<pid>/sockets/plasma_store, and the name of a
# UNIX socket holds 107 bytes (unix(7)).
_LONGEST_TEMP_DIR = 39

_PATIENCE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Session:
    """A running Ray.

    Attributes:
        dashboard_url: Where its dashboard answers, on this machine only; None if it has none.
        auth_token_path: The file with the token that the dashboard asks for; None if it asks for none, or for the
            one in RAY_AUTH_TOKEN.
        resources: What there is, by Ray's names, e.g. `{"CPU": 4.0, "GPU": 1.0}`.
        node: The name of this machine.
    """

    dashboard_url: str | None
    auth_token_path: Path | None
    resources: Mapping[str, float]
    node: str


@contextlib.contextmanager
def local_session(
    num_cpus: int | None = None, num_gpus: int | None = None, resources: Mapping[str, float] | None = None
) -> Iterator[Session]:
    """Start Ray on this machine, bound to loopback, and end it with the block, however the block ends.

    It never joins a Ray that is already there, whatever RAY_ADDRESS says. SIGTERM stays the caller's, or
    becomes `SystemExit` where the caller has no handler, so that the block is left in order.

    Args:
        num_cpus: CPUs to count with; None for those of the machine.
        num_gpus: GPUs to count with; None for those of the machine.
        resources: More resources by Ray's names, e.g. accelerator types.

    Raises:
        ClusterError: Ray cannot start, or cannot be kept on loopback.
    """
    os.environ.update(_ENVIRONMENT)
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    _shorten_temp_dir()
    token_path = _private_token()

    on_sigterm = signal.getsignal(signal.SIGTERM)
    ray: Any = importlib.import_module("ray")
    if getattr(importlib.import_module("ray._private.ray_constants"), "ENABLE_RAY_CLUSTER", True):
        raise ClusterError(
            f"Ray {ray.__version__} cannot be kept on 127.0.0.1: it was imported before the session started, or "
            "this version ignores RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER. Import nothing of Ray before `local_session`."
        )
    try:
        try:
            context = ray.init(
                address="local",
                num_cpus=num_cpus,
                num_gpus=num_gpus,
                resources=dict(resources or {}),
                include_dashboard=True,
                dashboard_host="127.0.0.1",
                log_to_driver=False,
                logging_level=logging.ERROR,
                namespace="nws",
                runtime_env={"worker_process_setup_hook": _import_from(Path(__file__).parents[1])},
            )
        except (OSError, RuntimeError) as error:
            raise ClusterError(f"Ray cannot start on this machine: {error}") from error
        if threading.current_thread() is threading.main_thread():
            # Ray's own handler dumps a stack and ends the process before anything can be put in order.
            signal.signal(signal.SIGTERM, _exit if on_sigterm in (signal.SIG_DFL, None) else on_sigterm)
        if context.address_info["node_ip_address"] != "127.0.0.1":
            raise ClusterError(f"Ray listens on {context.address_info['node_ip_address']}, not on 127.0.0.1.")
        yield Session(
            dashboard_url=f"http://{context.dashboard_url}" if context.dashboard_url else None,
            auth_token_path=token_path,
            resources=ray.cluster_resources(),
            node=socket.gethostname(),
        )
    finally:
        _shut_down(ray)


def _exit(signum: int, frame: object) -> None:
    raise SystemExit(128 + signum)


def _shut_down(ray: Any) -> None:
    """`ray.shutdown`, and an end to the agents of our raylet, which outlive it if the start was interrupted."""
    psutil = importlib.import_module("psutil")  # Ray brings it along
    below_raylet = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.name() == "raylet":
                below_raylet += child.children(recursive=True)
    ray.shutdown()
    for process in psutil.wait_procs(below_raylet, timeout=_PATIENCE_SECONDS)[1]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def _import_from(checkout: Path) -> Callable[[], None]:
    """What a worker process does first: import our packages from where this process has them.

    Ray puts the folder the user is in at the front of the workers' path, where a `core` of the user's would win.
    """
    folder = str(checkout)

    # Inside, so that it is pickled by value: a worker cannot import it before it has run.
    def import_packages() -> None:
        sys.path.insert(0, folder)
        importlib.import_module("core")
        importlib.import_module("cluster")

    return import_packages


def _shorten_temp_dir() -> None:
    asked = os.environ.get("RAY_TMPDIR", "")
    if len(os.fsencode(asked)) > _LONGEST_TEMP_DIR:
        raise ClusterError(
            f"RAY_TMPDIR is {asked}, too long for the names of Ray's sockets: name a folder of at most "
            f"{_LONGEST_TEMP_DIR} bytes."
        )
    if len(os.fsencode(os.environ.get("TMPDIR", ""))) > _LONGEST_TEMP_DIR:
        # RAY_TMPDIR would not do: the processes of the dashboard have sockets in TMPDIR.
        os.environ["TMPDIR"] = "/tmp"


def _private_token() -> Path | None:
    """The file of Ray's token, readable by its owner alone: Ray itself would write it readable by everybody."""
    if os.environ["RAY_AUTH_MODE"].lower() != "token" or "RAY_AUTH_TOKEN" in os.environ:
        return None
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")
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
