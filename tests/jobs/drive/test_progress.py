import io
import itertools

import pytest
from rich.console import Console

from jobs.drive import progress


def ignored(text: str) -> None:
    pass


def test_plain_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.chain([0.0, 0.0, 10.0, 20.0, 20.0, 20.0, 30.0, 30.0], itertools.repeat(30.0))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    with progress.run_progress(Console(file=stream), 12, already_done=2, note=ignored) as advance:
        advance(2, 0)
        advance(3, 1)
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("4/12 articles, 20 s")
    assert "8/12 articles, 1 failed" in lines[1]
    assert lines[-1].startswith("8/12 articles, 1 failed, 30 s, about")


def test_an_unknown_total() -> None:
    stream = io.StringIO()
    with progress.run_progress(Console(file=stream), None, already_done=0, note=ignored) as advance:
        advance(2, 0)
    assert stream.getvalue().splitlines()[-1].startswith("2/? articles")


def test_nothing_to_do() -> None:
    stream = io.StringIO()
    with progress.run_progress(Console(file=stream), 0, already_done=0, note=ignored):
        pass
    assert stream.getvalue() == "0/0 articles, 0 s\n"


def test_a_line_is_noted_now_and_then_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    notes: list[str] = []
    with progress.run_progress(Console(file=io.StringIO()), 9, already_done=2, note=notes.append) as advance:
        for second in (30.0, 61.0, 90.0):
            clock[0] = second
            advance(1, second == 61.0)
    assert notes == ["5/9 articles, 1 failed", "6/9 articles, 1 failed"]
