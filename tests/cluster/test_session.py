import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import fakes
import psutil
import pytest
import ray

from nws.cluster.pools import sweeps_on_ray
from nws.cluster.resources import ActorResources
from nws.cluster.session import Session

pytestmark = [pytest.mark.slow, pytest.mark.ray]

CHECKOUT = Path(__file__).parents[2]


def status(url: str, token: str | None = None) -> int:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_every_socket_of_a_session_is_on_loopback(session: Session) -> None:
    listening = []
    with sweeps_on_ray(fakes.WORK, ActorResources(0, 1, None), actors=1) as pool:
        fakes.together(pool.map(fakes.bundles(1, 1)))  # so that there are workers, too
        own = psutil.Process()
        for process in [own, *own.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                listening += [c.laddr for c in process.net_connections("inet") if c.status == psutil.CONN_LISTEN]
    assert len(listening) >= 5, "gcs, raylet, worker, dashboard and agent listen"
    # A socket for both families shows 127.0.0.1 as ::ffff:127.0.0.1.
    assert {address.ip.removeprefix("::ffff:") for address in listening} <= {"127.0.0.1", "::1"}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_no_other_user_reaches_the_folder_of_a_session(session: Session) -> None:
    """Not to read its logs, not to talk to its sockets, and not to put others in their place."""
    node = ray._private.worker.global_worker.node
    sockets = [Path(node.raylet_socket_name), Path(node.plasma_store_socket_name)]
    assert all(path.is_socket() for path in sockets)
    for path in sockets:
        assert as_nobody(lambda path=path: path.rename(path.with_name("moved"))) == "PermissionError"
        assert as_nobody(lambda path=path: socket.socket(socket.AF_UNIX).connect(str(path))) == "PermissionError"
    assert as_nobody(lambda: os.listdir(node.get_logs_dir_path())) == "PermissionError"
    session_dir = Path(node.get_session_dir_path())
    for folder in (session_dir, *session_dir.parents[:2]):
        assert as_nobody(lambda folder=folder: (folder / "mine").touch()) == "PermissionError"
    assert as_nobody(lambda: os.listdir("/")) == "nothing", "everything is refused to nobody"


def as_nobody(do: Callable[[], object]) -> str:
    """What is raised when another user does it, in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        raised = "nothing"
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            do()
        except BaseException as error:
            raised = type(error).__name__
        finally:
            os.write(write, raised.encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


def test_without_the_token_there_is_nothing_but_metrics(session: Session) -> None:
    assert session.auth_token_path is not None
    assert session.auth_token_path.stat().st_mode & 0o777 == 0o600
    assert status(f"{session.dashboard_url}/nodes?view=summary", session.auth_token_path.read_text().strip()) == 200
    told: dict[int, str] = {}
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            for listening in process.net_connections("inet"):
                if listening.status == psutil.CONN_LISTEN:
                    told |= {listening.laddr.port: without_token(listening.laddr.port)}
    answers = {port: answer for port, answer in told.items() if answer}
    # Three, but where another session has the fixed ones.
    assert 1 <= len(answers) <= 3, answers
    assert all(answer.startswith("# HELP") for answer in answers.values()), answers
    assert len(told) > len(answers) + 4, "gcs, raylet, dashboard and agents were asked, too"


def without_token(port: int) -> str:
    """What anybody on this machine gets there over HTTP; nothing where a token is asked for, or it is not HTTP."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/logs/", timeout=10) as response:
            return str(response.read(100).decode())
    except urllib.error.HTTPError as error:
        with error:
            return "" if error.code == 401 else f"{error.code}"
    except (OSError, http.client.HTTPException):
        return ""


def start(script: str, cwd: Path, **environment: str) -> subprocess.Popen[str]:
    """A process of its own that finds the checkout only because it is told where, as an installed `nws` would."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(CHECKOUT)!r})\n{script}"],
        cwd=cwd,
        env={k: v for k, v in os.environ.items() if not k.startswith("RAY_")} | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


WORKING = """
import json
from nws.cluster.pools import sweeps_on_ray
from nws.cluster.resources import plan_actors
from nws.cluster.session import local_session
import fakes

with local_session(num_cpus=1) as session:
    print(session.dashboard_url, flush=True)
    input()
    with sweeps_on_ray(fakes.WORK, *plan_actors(session.resources, None, None)) as pool:
        print(sum(len(result.summaries) for _, result in fakes.together(pool.map(fakes.bundles(4, 2)))), flush=True)
        for landed in pool.map(fakes.bundles(3, 1, {1: "sweep-slow"})):
            for _ in landed:
                print("one landed", flush=True)
"""


def line(process: subprocess.Popen[str]) -> str:
    """The next line it prints; if it ends instead, its errors become ours."""
    assert process.stdout is not None
    printed = process.stdout.readline().strip()
    assert printed, process.communicate()[1]
    return printed


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


@pytest.mark.faults
def test_two_sessions_coexist_and_each_ends_only_itself(tmp_path: Path) -> None:
    # The folder the user is in has packages with our names, and its path is too long for Ray's sockets.
    folder = tmp_path / ("long" * 20)
    for name in ("core", "cluster"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise ImportError('not ours')")
    with (
        start(WORKING, folder, TMPDIR=str(folder)) as first,
        start(WORKING, folder, RAY_ADDRESS="127.0.0.1:1") as second,
    ):
        urls = [line(first), line(second)]
        assert all(url.startswith("http://127.0.0.1:") for url in urls)
        assert urls[0] != urls[1]
        children = [psutil.Process(p.pid).children(recursive=True) for p in (first, second)]

        tell(first)
        assert line(first) == "16"
        assert line(first) == "one landed"
        first.send_signal(signal.SIGINT)
        assert first.wait(timeout=45) != 0  # the slow one takes a minute
        assert "KeyboardInterrupt" in first.communicate()[1]
        assert psutil.wait_procs(children[0], timeout=60)[1] == [], "processes of the first session are left"

        assert status(urls[1]) == 200
        tell(second)
        assert line(second) == "16"
        second.terminate()
        assert second.wait(timeout=60) != 0
        second.communicate()
        assert psutil.wait_procs(children[1], timeout=60)[1] == [], "processes of the second session are left"


REFUSED = """
{before}
from nws.cluster.session import local_session
from nws.core.errors import ClusterError
try:
    with local_session(num_cpus=1):
        print("started")
except ClusterError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("before", "environment", "message"),
    [
        ("import ray", {}, "imported before the session"),
        ("", {"RAY_TMPDIR": "/tmp/" + "long" * 20}, "cannot exceed 107 bytes"),
        ("", {"RAY_AUTH_TOKEN_PATH": "/dev/null/token"}, "Name another file with RAY_AUTH_TOKEN_PATH"),
    ],
)
def test_a_session_that_cannot_be_kept_private_does_not_start(
    before: str, environment: dict[str, str], message: str, tmp_path: Path
) -> None:
    with start(REFUSED.format(before=before), tmp_path, **environment) as process:
        assert message in process.communicate(timeout=120)[0]
