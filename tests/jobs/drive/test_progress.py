import io

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from rich.console import Console

from nws.jobs.drive import progress
from nws.jobs.drive.progress import Pace, duration


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Its only element is the time."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_without_a_terminal_there_is_a_line_a_minute_for_all_stages_together(clock: list[float]) -> None:
    stream, minutes = io.StringIO(), progress.MinuteTimer()
    console = Console(file=stream)
    with progress.run_progress(console, 12, done=2, stage=(0, 2), minutes=minutes) as advance:
        for second, done in ((15.0, 4), (70.0, 4), (100.0, 2)):
            clock[0] = second
            advance(done, 0)
    with progress.run_progress(console, 12, stage=(1, 2), minutes=minutes) as advance:
        clock[0] = 110.0
        advance(11, 1)
    assert stream.getvalue().splitlines() == ["10/24 · 4.4/min · about 3 min left", "24/24, 1 failed · done"]


def test_the_bar_of_a_terminal_has_the_estimate_of_the_lines(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True)
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80, color_system=None)
    with progress.run_progress(console, 24) as advance:
        for second in (12.0, 20.0):
            clock[0] = second
            advance(8, 0)
        clock[0] = 60.0  # eight articles in eight seconds, then nothing: what is left has not melted away
    assert "16/24 · 0.2/s · about 40 s left\n" in stream.getvalue()


def test_what_is_shown_is_what_the_lines_say(clock: list[float]) -> None:
    shown: list[dict[str, object]] = []

    def show(**fields: object) -> None:
        shown.append(fields)

    with progress.run_progress(Console(file=io.StringIO()), 9, 2, show=show, unit="updates") as advance:
        for second in (5.0, 7.0):
            clock[0] = second
            advance(1, 1)
    counts = {"finished": 2, "failed": 0, "total": 9, "span_seconds": 0.0, "span_finished": 0}
    assert shown[0] == counts | {"unit": "updates", "newest": None}
    assert shown[-1] == {"finished": 6, "failed": 2, "total": 9, "span_seconds": 2.0, "span_finished": 2}


def test_a_line_is_noted_now_and_then_and_at_the_end(clock: list[float]) -> None:
    notes: list[str] = []
    with progress.run_progress(Console(file=io.StringIO()), 9, 2, note=notes.append) as advance:
        for second in (30.0, 61.0, 90.0):
            clock[0] = second
            advance(1, second == 61.0)
    assert notes == ["5/9, 1 failed · 1.9/min · about 2 min left", "6/9, 1 failed · 3/min · about 60 s left"]


def landed(every: float, size: int, times: int, pace: Pace | None = None) -> Pace:
    """`times` bundles of `size`, one every so many seconds from 0 on."""
    pace = pace or Pace()
    for number in range(times):
        pace.add(number * every, (number + 1) * size)
    return pace


@given(every=st.floats(0.01, 500), size=st.integers(1, 32), times=st.integers(2, 400))
def test_a_steady_pace_is_told_exactly_whenever_a_bundle_lands(every: float, size: int, times: int) -> None:
    assume((times - 1) * every > 1)  # what lands within a second tells nothing yet
    span = landed(every, size, times).span((times - 1) * every)
    assert span.rate == pytest.approx(size / every)
    assert span.seconds_left(10 * size) == pytest.approx(10 * every)


@given(silence=st.floats(0, 1e6), more=st.floats(0, 1e6))
def test_the_estimate_never_falls_while_nothing_lands(silence: float, more: float) -> None:
    span = landed(10, 4, 3).span(20 + silence)
    assert 29.99 <= span.later(0).seconds_left(12) <= span.later(more).seconds_left(12)


@given(actors=st.integers(1, 8), seconds=st.floats(2, 60), apart=st.floats(0, 1), at=st.floats(0.1, 0.7))
@example(actors=4, seconds=42.0, apart=0.125, at=0.25)
@example(actors=7, seconds=41.8, apart=0.107, at=0.674)
def test_from_a_tenth_on_the_time_left_is_right_within_a_third(
    actors: int, seconds: float, apart: float, at: float
) -> None:
    """Actors load models for a minute, begin together or one after the other, and take as long for each bundle."""
    bundles, size = 40 * actors, 16
    landings = sorted(
        60 + seconds * (apart * actor / actors + k + 1) for actor in range(actors) for k in range(bundles // actors)
    )
    end, now = landings[-1], 60 + at * (landings[-1] - 60)
    pace, landed_now = Pace(), [landing for landing in landings if landing <= now]
    for number, landing in enumerate(landed_now):
        pace.add(landing, (number + 1) * size)
    left = pace.span(now).seconds_left((bundles - len(landed_now)) * size)
    assert left == pytest.approx(end - now, rel=0.3)


def test_nothing_is_told_before_a_second_bundle_has_landed() -> None:
    pace = Pace(3)  # done by an earlier driver
    assert pace.span(5.0).seconds_left(9) is None
    pace.add(10.0, 7)
    assert pace.span(10.0).seconds_left(5) is None
    assert pace.span(14.0).rate is None
    pace.add(14.0, 11)
    assert pace.span(14.0).seconds_left(1) == 1.0
    assert pace.span(14.0).seconds_left(0) == 0.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (119, "119 s"), (120, "2 min"), (3600, "60 min"), (11_100, "3 h 5 min"), (187_000, "2 d 3 h")],
)
def test_durations_in_words(seconds: float, text: str) -> None:
    assert duration(seconds) == text
