"""A real server: what changes is seen while it changes, by many at once, on both databases, and it ends."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from nws_process import NWS, ROOT
from postgres_server import postgres_server
from served_runs import MadeRun, serving

from jobs.serve import feeds
from jobs.store import Store, open_store, upgrade_schema

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


def events(port: int, address: str) -> Iterator[dict[str, Any]]:
    """What the server tells, each event's data, until it ends."""
    with (
        httpx.Client(timeout=60, trust_env=False) as client,
        client.stream("GET", f"http://127.0.0.1:{port}{address}") as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


def test_what_a_driver_stores_is_told_until_the_run_ends(url: str, store: Store) -> None:
    run = MadeRun(store)
    run.write()
    with serving(url) as port:
        told = events(port, f"/runs/{run.id}/events")
        first = next(told)
        assert {"state", "progress", "written", "failures", "log"} <= set(first)
        assert "1/30 done, 0 failed" in first["progress"][1]
        run.write()
        run.fail()
        later: dict[str, str] = {}
        while "no word in news" not in later.get("failures", ""):
            later |= {name: html for name, (_, html) in next(told).items()}
        assert "2/30 done, 1 failed" in later["progress"]
        assert "stored 2 of news" in later["log"]
        run.end()
        for parts in told:
            later |= {name: html for name, (_, html) in parts.items()}
        assert ">done<" in later["state"]
        assert "The full report" in later["answer"]


def test_many_readers_ask_the_store_once_and_all_see_it(
    url: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = MadeRun(store)
    run.write()
    looks: Counter[str] = Counter()
    real = Store.run_info

    def counted(self: Store, run_id: str) -> Any:
        looks[threading.current_thread().name.split("-")[0]] += 1
        return real(self, run_id)

    with serving(url) as port:
        streams = [events(port, f"/runs/{run.id}/events") for _ in range(READERS)]
        assert all("1/30" in next(stream)["progress"][1] for stream in streams)
        monkeypatch.setattr(Store, "run_info", counted)
        began = time.monotonic()
        run.write()
        for stream in streams:
            while "2/30" not in next(stream).get("progress", ("", ""))[1]:
                pass
        assert sum(looks.values()) <= time.monotonic() - began + 2  # one a second, not one a reader
        for stream in streams:
            stream.close()


def test_more_readers_than_there_is_room_for_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "MOST_READERS", 1)
    url = f"sqlite:///{tmp_path / 'nws.db'}"
    with open_store(url), serving(url) as port:
        one = events(port, "/events")
        next(one)
        assert httpx.get(f"http://127.0.0.1:{port}/events", trust_env=False).status_code == 503
        one.close()


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
