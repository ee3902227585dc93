import time
from contextlib import closing
from typing import Any

import fakes
import pytest
from fake_episodes import FakeEpisodeRunner

from cluster.actor_pool import ActorPool
from cluster.article_work import EpisodeActor
from cluster.dispatcher import Loss, Task
from cluster.resources import ActorResources
from cluster.worker_info import this_worker

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("session")]

CPU = ActorResources(num_gpus=0, num_cpus=1, accelerator_type=None)


def become_ready(pool: ActorPool) -> None:
    while len(pool.tasks) < len(pool):
        assert pool.wait() == []


def send(pool: ActorPool, number: int, *all_words: str) -> list[Task]:
    """Have articles prepared."""
    tasks = [Task(fakes.article(i, words), 1) for i, words in enumerate(all_words)]
    for task in tasks:
        pool.send(number, "prepare", task)
    return tasks


def wait_for(pool: ActorPool, tasks: list[Task]) -> list[Any]:
    """Their outcomes, in the order of the tasks."""
    found: dict[Task, Any] = {}
    while len(found) < len(tasks):
        found |= pool.wait()
    assert found.keys() == set(tasks)
    return [found[task] for task in tasks]


def test_a_death_is_charged_to_the_call_the_actor_was_at() -> None:
    with closing(ActorPool(EpisodeActor, FakeEpisodeRunner, CPU, 1)) as pool:
        pool.start()
        become_ready(pool)
        good, bad = wait_for(pool, send(pool, 0, "", "prepare-raises"))
        assert good is None
        assert bad.message == "cannot be prepared"
        tasks = send(pool, 0, "prepare-dies", "")
        assert pool.tasks == {0: tasks}
        losses = wait_for(pool, tasks)
        assert all(isinstance(loss, Loss) and loss.node == this_worker().node for loss in losses)
        assert [loss.charged for loss in losses] == [True, False]
        assert (pool.tasks, pool.workers) == ({}, ()), "another actor is asked for"
        become_ready(pool)
        assert [str(worker) for worker in pool.workers] == [str(this_worker())]


def test_a_pool_can_be_closed_and_started_again() -> None:
    with closing(ActorPool(EpisodeActor, FakeEpisodeRunner, CPU, 2)) as pool:
        for _ in range(2):
            assert (pool.tasks, pool.workers, pool.missing) == ({}, (), [])
            for _ in range(2):
                pool.start()
            become_ready(pool)
            assert [(actor.number, actor.seconds) for actor in pool.busy] == [(0, 0.0), (1, 0.0)]
            tasks = send(pool, 1, "")
            assert pool.tasks == {0: [], 1: tasks}
            assert wait_for(pool, tasks) == [None]
            idle, used = pool.busy
            assert idle.seconds == 0 < used.seconds
            for _ in range(2):
                pool.close()


def test_the_caller_is_not_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    nobodys = ActorResources(1, 0, "none-such")
    pool = ActorPool(EpisodeActor, FakeEpisodeRunner, nobodys, 1, poll_seconds=0.1, patience_seconds=1.0)
    with closing(pool):
        pool.start()
        started = time.monotonic()
        told = []
        while time.monotonic() - started < 2.5:
            assert pool.wait() == []
            told.append(len(caplog.records))
    assert len(told) > 15
    # A machine that is starved may wait longer than it was told to.
    assert 2 <= told[-1] <= time.monotonic() - started, "a warning for each second of silence"
    assert "1 actors wait for 1 none-such GPU each" in caplog.text
