import pytest

from cluster.worker_info import Busy, WorkerInfo
from jobs.drive import pools
from jobs.drive.pools import BusyShares
from jobs.store import ActorShare

XEON = WorkerInfo("Xeon", "here")


class Shown:
    """In place of a run: what it was shown last."""

    def __init__(self) -> None:
        self.actors: tuple[ActorShare, ...] = ()
        self.times = 0

    def show(self, actors: tuple[ActorShare, ...]) -> None:
        self.actors = actors
        self.times += 1

    @property
    def shares(self) -> list[float | None]:
        return [actor.busy for actor in self.actors]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(pools.time, "monotonic", lambda: now[0])
    return now


def test_the_share_of_the_last_minute(clock: list[float]) -> None:
    run = Shown()
    shares = BusyShares(run)
    shares.look([Busy(0, XEON, 5.0)])
    assert run.actors == (ActorShare(0, "Xeon", "here", None),)
    for second in range(5, 301, 5):  # half of the time for four minutes, then all of it
        clock[0] = float(second)
        shares.look([Busy(0, XEON, 5.0 + (second / 2 if second <= 240 else second - 120))])
        if second == 240:
            assert run.shares == [0.5]
    assert run.shares == [1.0]


def test_an_actor_that_was_replaced_and_one_that_came_later(clock: list[float]) -> None:
    run = Shown()
    shares = BusyShares(run)
    shares.look([Busy(0, XEON, 100.0)])
    clock[0] = 10.0
    shares.look([Busy(0, XEON, 2.0), Busy(1, XEON, 5.0)])
    assert run.shares == [0.2, 0.5]


def test_looking_often_costs_nothing(clock: list[float]) -> None:
    run = Shown()
    shares = BusyShares(run)
    for millisecond in range(10_000):
        clock[0] = millisecond / 1000
        shares.look([Busy(0, XEON, clock[0])])
    assert run.times == 10
    assert run.shares == [1.0]
