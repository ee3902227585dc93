"""What `nws status` prints of a run, on any screen."""

import io
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from run_infos import run_info

from jobs.drive.progress import Span
from jobs.report.console import PrintableConsole
from jobs.report.run_view import View, line, print_facts, status_facts
from jobs.store import ActorShare, FailureInfo, Progress, Store

NOW = datetime(2026, 11, 22, tzinfo=UTC)
ACTORS = (
    ActorShare(0, "Tesla T4", "gpu-1", 0.97),
    ActorShare(1, "Tesla T4", "gpu-1", 0.4),
    ActorShare(2, "Tesla T4", "gpu-2", None),
)
SPAN = Span(90.0, 45)
AT = Progress(NOW, "sweep", finished=42, failed=2, total=100, actors=ACTORS)


def view(at: Progress | None = AT, span: Span = SPAN, reasons: Any = (), **changes: Any) -> View:
    running = {"state": "running", "finished_at": None, "heartbeat_at": datetime.now(UTC)}
    return View(run_info(**(running | changes)), at, span, reasons)


def printed(store: Store, seen: View, width: int = 80) -> list[str]:
    stream = io.StringIO()
    console = PrintableConsole(file=stream, width=width, color_system=None, force_terminal=True)
    print_facts(status_facts(store, seen), console)
    return [text.rstrip() for text in stream.getvalue().splitlines()]


def test_a_line_for_where_there_is_no_terminal() -> None:
    speed = "0.5 articles/s in the last 90 s"
    assert line(view()) == f"running, sweep: 42/100 articles, 2 failed, {speed}, about 116 s left"
    assert line(view(None, state="done")) == "done, 40/42 articles, 2 failed"
    assert "0.5 articles/min in the last 10 min, about 116 min left" in line(view(span=Span(600.0, 5)))
    assert line(view(span=Span(5.0, 0))).endswith("42/100 articles, 2 failed")
    assert line(view(replace(AT, total=None))).endswith(f"sweep: 42/? articles, 2 failed, {speed}")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_facts_fold_and_lose_nothing(store: Store, width: int) -> None:
    lines = printed(store, view(), width)
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    for part in ("running, pid 1 on here", "2 on gpu-1, Tesla T4: 40 % to 97 % busy", "1 on gpu-2, Tesla T4"):
        assert part in text


def test_every_reason_of_failures_is_told_behind_what_changes(store: Store) -> None:
    reasons = [
        FailureInfo("news", f"story-{i}", "id", "sweep", f"Error{i}", f"why {i}", 1, "node", NOW) for i in range(9)
    ]
    lines = printed(store, view(reasons=reasons, name="a long run"), 200)
    names = [text.split()[0] for text in lines if text[0] != " "]
    assert list(dict.fromkeys(names))[:9] == [
        *("run", "name", "state", "progress", "speed", "actors", "summaries", "failed", "time")
    ]
    assert all(f"why {i}" in "\n".join(lines) for i in range(9))


def test_a_run_that_waits_and_one_whose_models_are_loading(store: Store) -> None:
    pending = " ".join(printed(store, view(None, state="pending", address="http://head:8265"), 200))
    assert "pending, waits for its Ray job at http://head:8265. If that is gone: nws resume p1-0421" in pending
    loading = "\n".join(printed(store, view(replace(AT, actors=()), Span(0.0, 0))))
    assert "none is ready" in loading
    assert "not known yet" in loading
