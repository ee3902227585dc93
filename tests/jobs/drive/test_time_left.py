import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jobs.drive.time_left import Marks, Span, duration


def landed(every: float, size: int, times: int, marks: Marks | None = None) -> Marks:
    """`times` bundles of `size`, one every so many seconds from 0 on."""
    marks = marks or Marks()
    for number in range(times):
        marks.add(number * every, (number + 1) * size)
    return marks


@given(every=st.floats(0.01, 500), size=st.integers(1, 32), times=st.integers(2, 400))
def test_a_steady_pace_is_told_exactly_whenever_a_bundle_lands(every: float, size: int, times: int) -> None:
    span = landed(every, size, times).span((times - 1) * every)
    assert span.rate == pytest.approx(size / every)
    assert span.seconds_left(10 * size) == pytest.approx(10 * every)


def test_loading_the_models_is_no_part_of_the_pace() -> None:
    marks = Marks()
    for at, finished in ((60.0, 4), (61.0, 8), (62.0, 12)):
        marks.add(at, finished)
    assert marks.span(62.0) == Span(2.0, 8, 1.0)


@given(silence=st.floats(0, 1e6), more=st.floats(0, 1e6))
def test_the_estimate_never_falls_while_nothing_lands(silence: float, more: float) -> None:
    span = landed(10, 4, 3).span(20 + silence)
    assert 29.99 <= span.later(0).seconds_left(12) <= span.later(more).seconds_left(12)


@given(
    actors=st.integers(1, 8),
    seconds=st.floats(2, 60),
    apart=st.floats(0, 1),
    at=st.floats(0.1, 0.7),
)
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
    marks, landed_now = Marks(), [landing for landing in landings if landing <= now]
    for number, landing in enumerate(landed_now):
        marks.add(landing, (number + 1) * size)
    left = marks.span(now).seconds_left((bundles - len(landed_now)) * size)
    assert left == pytest.approx(end - now, rel=0.3)


def test_nothing_is_told_before_a_second_bundle_has_landed() -> None:
    marks = Marks(3)  # done by an earlier driver
    assert marks.span(5.0).seconds_left(9) is None
    marks.add(10.0, 7)
    assert marks.span(10.0).seconds_left(5) is None
    assert marks.span(14.0).rate is None
    marks.add(14.0, 11)
    assert marks.span(14.0).seconds_left(1) == 1.0
    assert marks.span(14.0).seconds_left(0) == 0.0


def test_a_new_pace_is_told_within_minutes() -> None:
    marks = landed(10, 1, 31)  # 300 s at one in ten seconds
    for number in range(1, 251):  # then one a second
        marks.add(300.0 + number, 31 + number)
    assert marks.span(550.0).rate == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (119, "119 s"), (120, "2 min"), (3600, "60 min"), (11_100, "3 h 5 min"), (187_000, "2 d 3 h")],
)
def test_durations_in_words(seconds: float, text: str) -> None:
    assert duration(seconds) == text
