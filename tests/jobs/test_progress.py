import io

import pytest
from rich.console import Console

from jobs import progress


def test_plain_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0, 20.0, 20.0, 30.0, 30.0, 30.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    with progress.run_progress(Console(file=stream), 12, already_done=2) as advance:
        advance(2, 0)
        advance(3, 1)
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("4/12 articles, 20 s")
    assert "8/12 articles, 1 failed" in lines[1]
    assert lines[-1].startswith("8/12 articles, 1 failed, 30 s, about")


def test_an_unknown_total() -> None:
    stream = io.StringIO()
    with progress.run_progress(Console(file=stream), None, already_done=0) as advance:
        advance(2, 0)
    assert stream.getvalue().splitlines()[-1].startswith("2/? articles")


def test_nothing_to_do() -> None:
    stream = io.StringIO()
    with progress.run_progress(Console(file=stream), 0, already_done=0):
        pass
    assert stream.getvalue() == "0/0 articles, 0 s\n"
