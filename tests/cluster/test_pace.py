from hypothesis import given
from hypothesis import strategies as st

from cluster.pace import Pace

SECONDS = st.floats(0.001, 1e6)
SIZES = st.integers(0, 1_000_000)


@given(st.lists(st.tuples(SIZES, SECONDS)), SIZES, st.floats(0, 600))
def test_nothing_is_stuck_below_the_floor(came_back: list[tuple[int, float]], size: int, seconds: float) -> None:
    pace = Pace(600)
    for one, took in came_back:
        pace.came_back(one, took)
    assert not pace.is_stuck(size, seconds)


def test_a_call_is_stuck_when_it_takes_many_times_the_usual() -> None:
    pace = Pace(600)
    for _ in range(3):
        pace.came_back(1000, 10)
    assert pace.usual_seconds(1000) == 10
    assert not pace.is_stuck(1000, 600)
    assert pace.is_stuck(1000, 601)


def test_long_articles_have_more_time() -> None:
    pace = Pace(600)
    for _ in range(3):
        pace.came_back(1000, 10)
    assert not pace.is_stuck(100_000, 20 * 1000 - 1)
    assert pace.is_stuck(100_000, 20 * 1000 + 1)


def test_one_slow_call_does_not_move_the_limit() -> None:
    # Such as one whose answer waited while the driver waited for its store.
    pace = Pace(600)
    for seconds in (10, 3600, 10):
        pace.came_back(1000, seconds)
    assert pace.usual_seconds(1000) == 10


def test_the_first_call_has_more_time() -> None:
    pace = Pace(600)
    assert pace.usual_seconds(1000) is None
    assert not pace.is_stuck(1000, 3600)
    assert pace.is_stuck(1000, 3601)


def test_articles_without_text_are_no_division_by_zero() -> None:
    pace = Pace(0.5)
    pace.came_back(0, 10)
    assert pace.is_stuck(0, 201)
