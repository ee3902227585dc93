"""Drivers, pool and store on simulated fleets: `tests/support/simulation/`. A seed repeats its simulation exactly."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import pytest
from simulation.cases import MOST_ARTICLES, draw_small
from simulation.simulate import simulate
from simulation.stage import Stage

from nws.cluster import actor_pool
from nws.cluster.actor_pool import ActorPool
from nws.cluster.monitors import loss
from nws.jobs.store import run_writer

SEEDS, AT_ONCE = 200, 10
SEVERAL_DRIVERS = 5003


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(MOST_ARTICLES) as opened:
        yield opened


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(AT_ONCE, SEEDS, AT_ONCE))]
)
def test_whatever_befalls_a_run_its_rows_are_those_of_an_undisturbed_one(stage: Stage, first: int) -> None:
    for seed in range(first, first + AT_ONCE):
        simulate(draw_small(seed), stage)


def test_a_seed_repeats_its_simulation(stage: Stage) -> None:
    one, other = (simulate(draw_small(SEVERAL_DRIVERS), stage) for _ in range(2))
    assert len(one.drivers) > 1
    told = [[line.replace(each.run_id, "the run") for line in each.told] for each in (one, other)]
    assert (told[0], one.world.now) == (told[1], other.world.now)


def _without_fence() -> AbstractContextManager[Any]:
    return mock.patch.object(run_writer, "check_fence")


def _losing_what_waited_behind() -> AbstractContextManager[Any]:
    replace = ActorPool._replace
    return mock.patch.object(ActorPool, "_replace", lambda *arguments: replace(*arguments)[:1])


def _charging_everybody() -> AbstractContextManager[Any]:
    return mock.patch.object(actor_pool, "loss", lambda fault, node, charged: loss(fault, node, True))


@pytest.mark.parametrize(
    ("broken", "seed", "told"),
    [
        (_without_fence, SEVERAL_DRIVERS, "was replaced by 2, and is about to commit"),
        (_losing_what_waited_behind, 5000, "have neither a summary nor a failure"),
        (_charging_everybody, 5000, "was given up after"),
    ],
)
def test_it_sees_what_is_broken(stage: Stage, broken: Any, seed: int, told: str) -> None:
    with broken(), pytest.raises(AssertionError, match=told):
        simulate(draw_small(seed), stage)
