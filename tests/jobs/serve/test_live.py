"""A real server: what changes is told to many at once, on both databases, and it ends."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from nws_process import NWS, ROOT
from postgres_server import postgres_server
from served_runs import MadeRun, serving

from nws.jobs.serve import app
from nws.jobs.store import Store, open_store, upgrade_schema

pytestmark = pytest.mark.slow

READERS = 20


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'nws.db'}"
        return
    with postgres_server() as server:
        upgrade_schema(server.url)
        yield server.url


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url) as opened:
        yield opened


def poll(port: int, address: str) -> dict[str, Any]:
    """What the server tells a page that is open."""
    headers = {"Accept": "application/json"}
    return httpx.get(f"http://127.0.0.1:{port}{address}", headers=headers, timeout=60, trust_env=False).json()


def test_many_readers_at_once_are_served_while_a_report_is_written(
    url: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, ended = MadeRun(store), MadeRun(store, kept=True)
    for made in (run, ended):
        made.write()
    ended.end()
    go_on = threading.Event()
    monkeypatch.setattr(app, "report_html", lambda *_: f"the report {go_on.wait(60)}")
    with serving(url) as port, ThreadPoolExecutor(2 * READERS) as readers:
        report = f"http://127.0.0.1:{port}/report?run={run.id}"
        reports = [readers.submit(httpx.get, report, trust_env=False, timeout=60) for _ in range(READERS)]
        run.write()
        polls = [readers.submit(poll, port, f"/runs/{run.id}") for _ in range(READERS)]
        assert all("2/30" in news.result()["parts"]["progress"] for news in polls)
        assert "(m|textrank)" in poll(port, "/?q=news done")["parts"]["rows"]
        assert "The full report" in poll(port, f"/runs/{ended.id}")["parts"]["answer"]
        others = islice(as_completed(reports), READERS - 1)
        assert all("loads again by itself" in told.result().text for told in others)
        go_on.set()
        assert sum(told.result().text == "the report True" for told in reports) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_stopped_and_shows_no_token(tmp_path: Path, number: int) -> None:
    with open_store(f"sqlite:///{tmp_path / 'nws.db'}"):
        pass
    token = "a-token-that-nobody-guesses"
    process = subprocess.Popen(
        [*NWS, "serve", "--port", "0", "--token", token],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        port = int(line.split("127.0.0.1:")[1].split("/")[0])
        headers = {"Authorization": f"Bearer {token}"}
        answer = httpx.get(f"http://127.0.0.1:{port}/", headers=headers, trust_env=False)
        assert "<h1>Runs</h1>" in answer.text
        if sys.platform == "linux":
            assert token not in Path(f"/proc/{process.pid}/cmdline").read_text()
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, err
    assert token not in line + out + err
    assert "Traceback" not in err
