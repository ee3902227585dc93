"""What a person is told when a cluster does not take a job. In processes of their own: Ray reads its switches once."""

import contextlib
import http.server
import importlib.metadata
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_server import serving
from ray_head import Head, free_ports, ray_head, run_script

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    with ray_head() as running:
        yield running


ASKING = """
from nws.cluster import job_api
from nws.core.errors import ClusterError
{before}
try:
    head = job_api.Head({address!r})
    {do}
except ClusterError as error:
    print("refused:", error)
"""
LIST = "print(sorted(job.submission_id for job in head.jobs()))"
HASTY = "job_api._ANSWER_SECONDS = job_api._DO_SECONDS = 1"


def ask(address: str, folder: Path, environment: dict[str, str], do: str = LIST, before: str = "") -> str:
    return run_script(ASKING.format(address=address, do=do, before=before), folder, environment)


def test_a_head_that_does_not_answer(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    told = ask(f"http://127.0.0.1:{port}", tmp_path, {"HOME": str(tmp_path)})
    assert told.startswith(f"refused: No Ray dashboard answers at http://127.0.0.1:{port}")
    assert "--dashboard-host" in told


@contextlib.contextmanager
def silent_server(version: str | None) -> Iterator[str]:
    """A dashboard that takes every connection and says nothing but its version, if it has one."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if version is None or not self.path.startswith("/api/version"):
                over.wait()
                return
            body = json.dumps({"ray_version": version}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    over = threading.Event()
    with serving(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            over.set()


@pytest.mark.parametrize("call", ["", 'head.stop("j")', 'head.log("j")'])
def test_a_head_that_takes_connections_and_does_not_answer(call: str, tmp_path: Path) -> None:
    with silent_server(importlib.metadata.version("ray") if call else None) as address:
        told = ask(address, tmp_path, {"HOME": str(tmp_path)}, call, HASTY)
    assert told.startswith(f"refused: No Ray dashboard answers at {address}: ")
    assert "timed out" in told


def test_a_token_is_needed_and_the_right_one(head: Head, tmp_path: Path) -> None:
    without = {k: v for k, v in head.environment.items() if k not in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH")}
    told = ask(head.dashboard, tmp_path, without | {"HOME": str(tmp_path)})
    assert told.startswith(f"refused: The Ray cluster at {head.dashboard} does not accept this machine: ")
    assert "ray get-auth-token" in told

    told = ask(head.dashboard, tmp_path, head.environment | {"RAY_AUTH_TOKEN_PATH": str(tmp_path / "absent")})
    assert "RAY_AUTH_TOKEN_PATH is set but file cannot be opened" in told

    (tmp_path / "token").write_text("cd" * 32)
    told = ask(head.dashboard, tmp_path, head.environment | {"RAY_AUTH_TOKEN_PATH": str(tmp_path / "token")})
    assert "does not accept this machine" in told
    assert "cd" * 32 not in told


def test_a_token_that_lies_there_is_shown_and_the_address_wins_over_rays_variables(head: Head, tmp_path: Path) -> None:
    environment = {k: v for k, v in head.environment.items() if k != "RAY_AUTH_MODE"}
    environment |= {"RAY_ADDRESS": "127.0.0.1:1", "RAY_API_SERVER_ADDRESS": "http://127.0.0.1:1"}
    assert ask(head.dashboard + "/", tmp_path, environment) == "[]\n"


def test_a_job_is_followed_stopped_and_its_name_not_taken_twice(head: Head, tmp_path: Path) -> None:
    (tmp_path / "shipped").mkdir()
    (tmp_path / "shipped" / "file").touch(mode=0o600)
    (tmp_path / "shipped" / "file").write_text("shipped")
    more = """
    import time
    from pathlib import Path
    command = "echo $(stat -c %a file) $(cat file) && sleep 300"  # one line: Ray may put its own between two
    arguments = (command, Path("shipped"), {"a": "b"})
    head.submit_job("j1", *arguments)
    while "shipped" not in head.log("j1"):
        time.sleep(1)
    print(head.job("j1").status, head.job("j1").has_ended)
    print(head.stop("j1"))
    while not head.job("j1").has_ended:
        time.sleep(1)
    print(head.job("j1").status, "600 shipped" in head.log("j1"), head.stop("j1"))
    try:
        head.job("j2")
    except ClusterError as error:
        print(error)
    head.submit_job("j1", *arguments)"""
    lines = ask(head.dashboard, tmp_path, head.environment, f"{LIST}\n    {more.strip()}").splitlines()
    assert lines[:4] == ["[]", "RUNNING False", "True", "STOPPED True False"]
    assert "refuses" in lines[4]
    assert "j2" in lines[4]
    assert lines[5].startswith("refused: ")
    assert "already exists" in lines[5]
