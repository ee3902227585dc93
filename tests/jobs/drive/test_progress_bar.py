import io
import time

import pytest
from rich.console import Console

from jobs.drive import progress_bar


def ignored(*args: object, **fields: object) -> None:
    pass


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Its only element is the time."""
    now = [0.0]
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: now[0])
    return now


def test_plain_lines_where_there_is_no_terminal(clock: list[float]) -> None:
    stream = io.StringIO()
    with progress_bar.run_progress(
        Console(file=stream), 12, already_done=2, note=ignored, show=ignored, first="loading m"
    ) as advance:
        clock[0] = 15.0
        advance(0, 0)
        clock[0] = 20.0
        advance(4, 0)
        clock[0] = 30.0
        advance(1, 1)
    lines = stream.getvalue().splitlines()
    assert lines == [
        "2/12 articles · 15 s · loading m",
        "6/12 articles · 20 s",
        "8/12 articles, 1 failed · 30 s · about 10 s left",
    ]


def test_lines_while_nothing_lands_become_fewer(clock: list[float]) -> None:
    stream = io.StringIO()
    with progress_bar.run_progress(Console(file=stream), 12, already_done=0, note=ignored, show=ignored) as advance:
        for second in range(1, 101):
            clock[0] = float(second)
            advance(0, 0)
    seconds = [int(line.split(" · ")[1].removesuffix(" s")) for line in stream.getvalue().splitlines()]
    assert seconds == [*range(5, 55, 5), *(56, 63, 70, 78, 87, 97), 100]


def test_lines_come_while_the_driver_waits() -> None:
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(progress_bar, "_SECONDS_BETWEEN_LINES", 0.0)
        with progress_bar.run_progress(Console(file=stream), 12, already_done=0, note=ignored, show=ignored):
            while not stream.getvalue():
                time.sleep(0.01)
    assert stream.getvalue().startswith("0/12 articles · ")


def test_the_bar_of_a_terminal_has_the_estimate_of_the_lines(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_bar.sys.stderr, "isatty", lambda: True)
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80, color_system=None)
    with progress_bar.run_progress(console, 24, already_done=0, note=ignored, show=ignored) as advance:
        for second in (12.0, 20.0):
            clock[0] = second
            advance(8, 0)
        clock[0] = 60.0  # eight articles in eight seconds, then nothing: what is left has not melted away
    assert "16/24 articles · 60 s · about 40 s left\n" in stream.getvalue()


def test_what_is_shown_is_what_the_lines_say(clock: list[float]) -> None:
    shown: list[dict[str, object]] = []

    def show(**fields: object) -> None:
        shown.append(fields)

    with progress_bar.run_progress(Console(file=io.StringIO()), 9, 2, ignored, show, unit="updates") as advance:
        for second in (5.0, 7.0):
            clock[0] = second
            advance(1, 1)
    counts = {"finished": 2, "failed": 0, "total": 9, "span_seconds": 0.0, "span_finished": 0}
    assert shown[0] == counts | {"unit": "updates", "actors": (), "newest": None}
    assert shown[-1] == {"finished": 6, "failed": 2, "total": 9, "span_seconds": 2.0, "span_finished": 2}


def test_an_unknown_total() -> None:
    stream = io.StringIO()
    with progress_bar.run_progress(Console(file=stream), None, already_done=0, note=ignored, show=ignored) as advance:
        advance(2, 0)
    assert stream.getvalue().splitlines()[-1].startswith("2/? articles")


def test_nothing_to_do() -> None:
    stream = io.StringIO()
    with progress_bar.run_progress(Console(file=stream), 0, already_done=0, note=ignored, show=ignored):
        pass
    assert stream.getvalue() == "0/0 articles · 0 s · done\n"


def test_a_line_is_noted_now_and_then_and_at_the_end(clock: list[float]) -> None:
    notes: list[str] = []
    with progress_bar.run_progress(Console(file=io.StringIO()), 9, 2, note=notes.append, show=ignored) as advance:
        for second in (30.0, 61.0, 90.0):
            clock[0] = second
            advance(1, second == 61.0)
    assert notes == ["5/9 articles, 1 failed", "6/9 articles, 1 failed"]
