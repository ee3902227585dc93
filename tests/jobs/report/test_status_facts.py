"""What `nws status` prints of a run, on any screen."""

import io
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from run_infos import run_info

from nws.jobs.drive.progress import Span
from nws.jobs.report.console import PrintableConsole
from nws.jobs.report.run_view import View, print_facts, progress_line, status_facts
from nws.jobs.store import FailureInfo, Progress, Store

NOW = datetime(2026, 11, 22, tzinfo=UTC)
SPAN = Span(90.0, 45)
AT = Progress(NOW, "sweep", finished=42, failed=2, total=100)


def view(at: Progress | None = AT, span: Span = SPAN, reasons: Any = (), **changes: Any) -> View:
    running = {"state": "running", "finished_at": None, "heartbeat_at": datetime.now(UTC)}
    return View(run_info(**(running | changes)), at, span, reasons)


def printed(store: Store, seen: View, width: int = 80, *, is_brief: bool = False) -> list[str]:
    stream = io.StringIO()
    console = PrintableConsole(file=stream, width=width, color_system=None, force_terminal=True)
    print_facts(status_facts(store, seen, is_brief=is_brief), console)
    return [text.rstrip() for text in stream.getvalue().splitlines()]


def test_a_line_for_where_there_is_no_terminal() -> None:
    speed = "0.5 articles/s in the last 90 s"
    assert progress_line(view()) == f"running, sweep: 42/100 articles, 2 failed, {speed}, about 116 s left"
    assert progress_line(view(None, state="done")) == "done, 40/42 articles, 2 failed"
    assert "0.5 articles/min in the last 10 min, about 116 min left" in progress_line(view(span=Span(600.0, 5)))
    assert progress_line(view(span=Span(5.0, 0))).endswith("42/100 articles, 2 failed")
    assert progress_line(view(replace(AT, total=None))).endswith(f"sweep: 42/? articles, 2 failed, {speed}")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_facts_fold_and_lose_nothing(store: Store, width: int) -> None:
    lines = printed(store, view(), width)
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    for part in ("running: its driver is process 1 on here", "0.5 articles/s in the last 90 s, about 116 s left"):
        assert part in text


def test_in_brief_it_fits_a_small_screen_with_what_changes_first(store: Store) -> None:
    reasons = [
        FailureInfo("news", f"story-{i}", "id", "sweep", f"Error{i}", f"why {i} " + "x y " * 200, 1, "node", NOW)
        for i in range(9)
    ]
    seen = view(reasons=reasons, name="a long run", note="of many words " * 20)
    lines = printed(store, seen, is_brief=True)
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    names = [text.split()[0] for text in lines if text[0] != " "]
    assert list(dict.fromkeys(names)) == [*("run", "name", "state", "progress", "speed", "summaries", "failed", "time")]
    text = "\n".join(lines)
    for told in ("why 1", "and for 7 more reasons: nws status p1-0421"):
        assert told in text
    assert "why 8" in "\n".join(printed(store, seen))


def test_a_run_that_waits_and_one_whose_speed_is_not_known(store: Store) -> None:
    pending = " ".join(printed(store, view(None, state="pending", address="http://head:8265"), 200))
    assert (
        "pending: waiting for its Ray job at http://head:8265 to begin. If it has died: nws resume p1-0421" in pending
    )
    loading = "\n".join(printed(store, view(AT, Span(0.0, 0))))
    assert "not known yet" in loading
