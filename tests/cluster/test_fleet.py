import itertools
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import fakes
import psutil
import pytest
from fake_episodes import FakeEpisodeRunner
from ray_dashboard import wait_for_actors

from cluster.actors import EpisodeActor
from cluster.fleet import Fleet
from cluster.loss import Loss
from cluster.resources import ActorResources
from cluster.session import Session
from cluster.worker import this_worker

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("session")]

CPU = ActorResources(num_gpus=0, num_cpus=1, accelerator_type=None)


def named(prefix: str) -> Iterator[str]:
    return (f"{prefix}-{number}" for number in itertools.count())


def become_ready(fleet: Fleet) -> None:
    while len(fleet.loads) < fleet.actors:
        assert fleet.wait() == []


def wait_for(fleet: Fleet, tickets: list[int]) -> dict[int, Any]:
    found: dict[int, Any] = {}
    while len(found) < len(tickets):
        found |= fleet.wait()
    assert sorted(found) == tickets
    return found


def test_a_death_is_charged_to_the_call_the_actor_was_at() -> None:
    with closing(Fleet(EpisodeActor, FakeEpisodeRunner, named("dying"), CPU, 1)) as fleet:
        fleet.start()
        become_ready(fleet)
        for words in ("", "prepare-raises"):
            fleet.send(0, "prepare", fakes.article(0, words), 1)
        answers = wait_for(fleet, [0, 1])
        assert answers[0] is None
        assert answers[1].message == "cannot be prepared"
        for words in ("prepare-dies", ""):
            fleet.send(0, "prepare", fakes.article(0, words), 1)
        assert fleet.loads == {0: 2}
        losses = wait_for(fleet, [2, 3])
        assert all(isinstance(loss, Loss) and loss.node == this_worker().node for loss in losses.values())
        assert [losses[ticket].charged for ticket in (2, 3)] == [True, False]
        assert (fleet.loads, fleet.workers) == ({}, ()), "another actor is asked for"
        become_ready(fleet)
        assert [str(worker) for worker in fleet.workers] == [str(this_worker())]


def test_a_fleet_can_be_closed_and_started_again() -> None:
    with closing(Fleet(EpisodeActor, FakeEpisodeRunner, named("again"), CPU, 2)) as fleet:
        for ticket in range(2):
            assert (fleet.loads, fleet.workers, fleet.missing) == ({}, (), [])
            for _ in range(2):
                fleet.start()
            become_ready(fleet)
            assert [(actor.number, actor.seconds) for actor in fleet.busy] == [(0, 0.0), (1, 0.0)]
            fleet.send(1, "prepare", fakes.article(ticket), 1)
            assert fleet.loads == {0: 0, 1: 1}
            assert wait_for(fleet, [ticket]) == {ticket: None}
            idle, used = fleet.busy
            assert idle.seconds == 0 < used.seconds
            for _ in range(2):
                fleet.close()


def test_the_caller_is_not_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    nobodys = ActorResources(1, 0, "none-such")
    fleet = Fleet(EpisodeActor, FakeEpisodeRunner, named("idle"), nobodys, 1, poll_seconds=0.1, patience_seconds=1.0)
    with closing(fleet):
        fleet.start()
        started = time.monotonic()
        told = []
        while time.monotonic() - started < 2.5:
            assert fleet.wait() == []
            told.append(len(caplog.records))
    assert len(told) > 15
    # A machine that is starved may wait longer than it was told to.
    assert 2 <= told[-1] <= time.monotonic() - started, "a warning for each second of silence"
    assert "1 of 1 actors wait for 1 none-such GPU each" in caplog.text


def test_a_name_that_is_still_taken_is_passed_over(session: Session) -> None:
    fleets = [Fleet(EpisodeActor, FakeEpisodeRunner, named("taken"), CPU, 1) for _ in range(2)]
    with closing(fleets[0]), closing(fleets[1]):
        for fleet in fleets:  # as if the second were another process of the same run
            fleet.start()
            become_ready(fleet)
        wait_for_actors(session, 2, lambda actor: actor["name"] in ("taken-0", "taken-1"))


@pytest.mark.faults
def test_an_actor_that_is_stopped_is_replaced_and_its_calls_are_lost(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    runner = partial(FakeEpisodeRunner, log)
    with closing(Fleet(EpisodeActor, runner, named("stopped"), CPU, 1, stuck_seconds=1, poll_seconds=0.1)) as fleet:
        fleet.start()
        become_ready(fleet)
        fleet.send(0, "prepare", fakes.article(0), 1)
        wait_for(fleet, [0])
        actor = psutil.Process(int(log.read_text().split()[0]))
        actor.suspend()
        for ticket in (1, 2):
            assert fleet.send(0, "prepare", fakes.article(ticket), 1) == ticket
        losses = wait_for(fleet, [1, 2])
        assert [(loss.error_class, loss.charged) for loss in (losses[1], losses[2])] == [
            ("ActorStuckError", True),
            ("ActorStuckError", False),
        ]
        assert "no answer for" in losses[1].message
        assert "Actor 0 on " in caplog.text
        assert "is stuck: no answer for" in caplog.text
        become_ready(fleet)
        fleet.send(0, "prepare", fakes.article(3), 1)
        assert wait_for(fleet, [3]) == {3: None}
        deadline = time.monotonic() + 60
        while actor.is_running() and actor.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline, "the actor that was replaced is still there"
            time.sleep(0.1)
