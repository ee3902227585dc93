"""`nws submit --address`: real processes, a real cluster with token authentication, and a real Postgres.

The store's URL holds a password (which this Postgres does not ask for), and the password must not be seen anywhere.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from hostile_server import eventually
from nws_process import finish, start
from postgres_server import postgres_server
from ray_head import Head, ray_head

from nws.jobs.drive.ship import URL_FILE
from nws.jobs.store import RunInfo, open_store, upgrade_schema

pytestmark = [pytest.mark.ray, pytest.mark.faults, pytest.mark.timeout(600)]

PASSWORD = "pa55-w0rd-of-the-store"
SMALL = ("submit", "phase1", "--limit", "2", "--n", "1,7", "--accelerator", "cpu", "--actors", "1")
LONG = ("submit", "phase1", "--dataset", "long.jsonl", "--n", "1,7", "--accelerator", "cpu", "--actors", "1")


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    with pytest.MonkeyPatch.context() as patch:
        # The entrypoint of a job says `python`.
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        patch.delenv("PYTHONPATH")
        with ray_head() as running:
            yield running


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    with postgres_server() as server:
        text = sa.make_url(server.url).set(password=PASSWORD).render_as_string(hide_password=False)
        upgrade_schema(text)
        yield text


@pytest.fixture
def folder(head: Head, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a user whose environment names the cluster, its token and the store."""
    for name, value in {**head.environment, "RAY_ADDRESS": head.dashboard, "NWS_STORE": store}.items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.fixture(autouse=True)
def _the_password_is_nowhere(head: Head) -> Iterator[None]:
    yield
    told = json.dumps(get(head, "/api/jobs/"))
    assert PASSWORD not in told
    tmp = Path(head.environment["RAY_TMPDIR"])
    assert not list(tmp.rglob(URL_FILE))
    for path in tmp.rglob("*"):
        if path.is_file() and path.suffix in (".log", ".out", ".err", ".txt", ".json"):
            assert PASSWORD.encode() not in path.read_bytes(), path


def get(head: Head, path: str) -> object:
    token = Path(head.environment["RAY_AUTH_TOKEN_PATH"]).read_text()
    request = urllib.request.Request(head.dashboard + path, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def nws(folder: Path, *arguments: str, code: int = 0) -> tuple[str, str]:
    process = start(folder, *arguments)
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, (out, err)
    assert "Traceback" not in err
    assert PASSWORD not in out + err
    return out, err


def long_dataset(folder: Path, rows: list[dict[str, str]]) -> None:
    lines = [json.dumps({**rows[i % len(rows)], "id": str(i)}) for i in range(1000)]
    (folder / "long.jsonl").write_text("\n".join(lines), encoding="utf-8")


def wait_until_driven(store: str, run_id: str) -> RunInfo:
    """The run, once it has stored something."""
    with open_store(store, read_only=True) as opened:
        assert eventually(lambda: opened.run_info(run_id).summaries > 0, seconds=200)
        return opened.run_info(run_id)


def test_a_submitted_run_is_found_by_its_name_everywhere(head: Head, folder: Path) -> None:
    out, err = nws(folder, *SMALL, "--json")
    outcome = json.loads(out.splitlines()[-1])
    run_id = outcome["run_id"]
    assert outcome.pop("seconds") > 0
    assert outcome == {"run_id": run_id, "state": "done", "articles": 2, "summaries": 28, "reused": 0, "failures": 0}
    assert "2/2 · " in err

    job = f"/api/jobs/{run_id}"
    assert eventually(lambda: get(head, job)["status"] == "SUCCEEDED", seconds=60)  # a moment after its run
    assert get(head, job)["metadata"]["run_id"] == run_id
    rows = json.loads(
        nws(folder, "query", f"select count(*) as c from summaries where run_id = '{run_id}'", "--json")[0]
    )
    assert rows == [{"c": 28}]
    version = json.loads(nws(folder, "status", run_id, "--json")[0])["code_version"]
    assert "," not in version  # the head names the commit, too

    said = nws(folder, "logs", run_id)[0]
    assert "2/2 · " in said
    assert json.loads(nws(folder, "logs", run_id, "--follow", "--json")[0])[0]["text"] in said
    assert f"Run {run_id} is done" in get(head, f"{job}/logs")["logs"]

    out, err = nws(folder, "resume", run_id)
    assert f"as job {run_id}-a2" in err
    assert f"Run {run_id} is done: 2 articles, 28 summaries" in out


def test_a_run_is_followed_cancelled_and_resumed(folder: Path, store: str, sample_rows: list[dict[str, str]]) -> None:
    long_dataset(folder, sample_rows)
    following = start(folder, *LONG)
    assert following.stderr is not None
    said = itertools.takewhile(bool, iter(following.stderr.readline, ""))
    line = next(line for line in said if line.startswith("Submitted phase1-"))
    run_id = line.split()[1]
    wait_until_driven(store, run_id)

    following.send_signal(signal.SIGINT)
    _, err = following.communicate(timeout=60)
    assert following.returncode == 130, err
    assert f"nws logs {run_id} --follow" in err
    assert "is being driven by" in nws(folder, "resume", run_id, code=1)[1]

    out = nws(folder, "cancel", run_id)[0]
    assert out == f"Run {run_id} is interrupted.\n"
    done = json.loads(nws(folder, "status", run_id, "--json")[0])["articles_done"]
    assert 0 < done < 1000

    out, err = nws(folder, "resume", run_id, "--no-wait", "--json")
    assert json.loads(out)["state"] == "submitted"
    assert f"as job {run_id}-a2" in err
    follower = start(folder, "logs", run_id, "--follow")
    with open_store(store, read_only=True) as opened:
        # Until a driver has the run, its URL, with the password, is where Ray keeps packages.
        assert eventually(lambda: opened.run_info(run_id).state == "running", seconds=200)
    out = nws(folder, "cancel", run_id)[0]
    assert f"Run {run_id} is interrupted." in out
    follower.communicate(timeout=60)
    assert follower.returncode == 0


def test_a_driver_that_does_not_react_is_stopped(folder: Path, store: str, sample_rows: list[dict[str, str]]) -> None:
    long_dataset(folder, sample_rows)
    run_id = finish(start(folder, *LONG, "--no-wait", "--json"), 0)["run_id"]
    pid = wait_until_driven(store, str(run_id)).driver_pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        out = nws(folder, "cancel", str(run_id))[0]
        assert out == f"Run {run_id} is interrupted. Stopped the Ray job {run_id}.\n"
    finally:
        subprocess.run(["kill", "-CONT", str(pid)], check=False, stderr=subprocess.DEVNULL)
