"""`nws status --watch` beside a driver at work, in a thread of this process."""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_server import eventually
from rich.console import Console
from undisturbed import QUIET, STUB_WORK

from bench import stub_work
from nws.jobs.commands import manage
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.store import Store

RUN = "phase1-20261122-aaaaaa"


@pytest.fixture
def begun(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Thread]:
    """A run of 12 articles in bundles of 2, of which one is worked on and stored after each look of the watcher."""
    monkeypatch.setattr("nws.jobs.drive.run.BEAT_SECONDS", 0.02)
    monkeypatch.setattr("nws.jobs.drive.progress._BETWEEN_MARKS_SECONDS", 0.0)
    monkeypatch.setattr(manage, "_SECONDS_BETWEEN_LINES", 0.0)
    stub_work.write_articles(tmp_path / "news.jsonl", 12)
    recipe = {"datasets": [{"name": str(tmp_path / "news.jsonl")}], "n": [1, 7, 9], "bundle_size": 2}
    plan = plan_job("phase1", "sample", recipe)
    gate = threading.Semaphore(0)
    monkeypatch.setattr(stub_work, "_pause", lambda seconds: seconds == 0 or gate.acquire(timeout=60))
    thread = threading.Thread(target=lambda: driver.start(store, plan, "inline", QUIET, STUB_WORK, run_id=RUN))

    def pause(seconds: float) -> None:
        before = finished(store)
        gate.release()
        assert eventually(lambda: finished(store) > before or store.run_info(RUN).state != "running")

    monkeypatch.setattr(manage, "_pause", pause)
    thread.start()
    assert eventually(lambda: finished(store) == 0)
    yield thread
    gate.release(100)
    thread.join()


def finished(store: Store) -> int:
    progress = store.progress(RUN)
    return -1 if progress is None else progress.finished


def test_a_json_object_a_refresh_until_the_run_ends(nws, begun: threading.Thread) -> None:
    result = nws("status", "--watch", "--json")
    assert (result.code, result.err) == (0, "")
    seen = [json.loads(line) for line in result.out.splitlines()]
    assert [one["state"] for one in seen] == ["running"] * (len(seen) - 1) + ["done"]
    assert [one["progress"]["finished"] for one in seen[:6]] == [0, 2, 4, 6, 8, 10]
    assert [one["articles_done"] for one in seen[:6]] == [0, 2, 4, 6, 8, 10]
    for one in seen[2:6]:  # two bundles have landed
        at = one["progress"]
        assert (at["stage"], at["total"], one["failures"]) == ("sweep", 12, 0)
        assert at["seconds_left"] == pytest.approx((12 - at["finished"]) / at["per_second"])
    last = seen[-1]
    assert (last["articles_done"], last["total_articles"], last["summaries"]) == (12, 12, 12 * 7 * 3)
    assert (last["progress"], last["failed_articles"]) == (None, [])


def test_plain_lines_where_there_is_no_terminal(nws, begun: threading.Thread) -> None:
    result = nws("status", "--watch", RUN)
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == "running, sweep: 0/12 articles, 0 failed"
    counts = "running, sweep: 6/12 articles, 0 failed"
    assert re.fullmatch(counts + r", \S+ articles/s in the last \d+ s, about \d+ s left", lines[3])
    assert lines[-1] == "done, 12/12 articles, 0 failed"
    assert nws("status", "--watch", RUN).out.splitlines() == lines[-1:]


def test_a_screen_on_a_terminal(nws, begun: threading.Thread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manage, "out", Console(force_terminal=True))
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = nws("status", "--watch", RUN)
    assert result.code == 0
    assert "\x1b[1A" in result.out  # drawn over what was there
    assert "state        done" in result.out[result.out.rindex("run         ") :]


def test_who_stops_watching_leaves_the_run_alone(
    nws, store: Store, begun: threading.Thread, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(manage, "_pause", interrupted)
    result = nws("status", "--watch")
    assert result.code == 130
    assert f"The run goes on. Stop it with: nws cancel {RUN}" in result.err
    assert begun.is_alive()
    assert store.run_info(RUN).state == "running"
