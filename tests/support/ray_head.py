"""A Ray cluster of one machine, on loopback, as `ray start` makes one, and processes that join it."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Head:
    """A running head. `environment` is what its clients need: the switch for loopback, and where the token is."""

    address: str
    dashboard: str
    environment: dict[str, str]


@contextlib.contextmanager
def ray_head(*options: str) -> Iterator[Head]:
    """`ray start --head` with two CPUs on free ports; every process of it ends with the block."""
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True) as folder:
        environment = cluster_environment(folder)
        gcs, dashboard, agent, client = free_ports(4)
        command = [
            str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--num-cpus=2", f"--port={gcs}",
            f"--dashboard-port={dashboard}", f"--dashboard-agent-listen-port={agent}",
            f"--ray-client-server-port={client}", *options,
        ]  # fmt: skip
        with (Path(folder) / "log").open("w+") as log:
            process = subprocess.Popen(command, env=environment, cwd="/", stdout=log, stderr=log)
            try:
                while "--block" not in (Path(folder) / "log").read_text():
                    assert process.poll() is None, (Path(folder) / "log").read_text()
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(timeout=0.2)
                yield Head(f"127.0.0.1:{gcs}", f"http://127.0.0.1:{dashboard}", environment)
            finally:
                process.terminate()
                process.wait(timeout=60)


def cluster_environment(folder: str) -> dict[str, str]:
    """Of the processes of a cluster whose files lie in `folder`, and of those that join it."""
    token = Path(folder) / "token"
    token.write_text("ab" * 32)
    return {k: v for k, v in os.environ.items() if not k.startswith("RAY_")} | {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",  # as in conftest.py
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_TMPDIR": folder,
    }


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in sockets]


def run_script(script: str, cwd: Path, environment: dict[str, str], prefix: Sequence[str] = ()) -> str:
    """What a process of its own prints, which finds the checkout only because it is told where.

    `prefix` are the words of a command that runs the command behind it.
    """
    done = subprocess.run(
        [*prefix, sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(CHECKOUT)!r})\n{script}"],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
