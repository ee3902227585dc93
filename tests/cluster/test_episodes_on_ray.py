from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import Any

import fakes
import pytest
from fake_episodes import FakeEpisodeRunner, nothing, request

from nws.cluster.dispatcher import this_worker
from nws.cluster.pools import EpisodePool, episodes_on_ray, inline_episodes
from nws.cluster.resources import ActorResources
from nws.core.learning.exchange import ArticleGradient, Parameters

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.usefixtures("session")]

HALF_A_CPU = ActorResources(num_gpus=0, num_cpus=0.5, accelerator_type=None)


def plain(answers: Sequence[Sequence[ArticleGradient]]) -> list[Any]:
    """Gradients in a form that can be compared, to the last bit."""
    return [[astuple(replace(g, gradient=_bits(g.gradient))) for g in gradients] for gradients in answers]


def _bits(gradient: Parameters) -> Any:
    return {name: (value.shape, value.dtype.name, value.tobytes()) for name, value in gradient.items()}


def lines(log: Path) -> list[list[str]]:
    """What the runners were called for: a process id, a method and the keys of articles each time."""
    return [line.split() for line in log.read_text().splitlines()]


def test_answers_of_three_actors_one_of_which_dies_equal_those_of_the_inline_pool(tmp_path: Path) -> None:
    deadly = f"learn-dies-once={tmp_path / 'died'}"
    articles = [fakes.article(i, {3: "prepare-raises", 4: deadly}.get(i, "")) for i in range(7)]
    forth = [(article, n) for article in articles for n in (7, 9)]
    requests = [request("a", 3, forth), request("b", 0, []), request("c", 8, forth[::-1])]

    def everything(pool: EpisodePool) -> list[Any]:
        prepared = dict(pair for group in pool.prepare(articles, nothing) for pair in group)
        learnt, decoded = pool.learn(requests, nothing), pool.decode(requests[::-1], nothing)
        (some,) = pool.decode([request("a", 3, forth[:2])], nothing)
        assert [str(worker) for worker in pool.actors.workers] == [str(this_worker())]
        return [prepared, plain(learnt), decoded, some]

    with episodes_on_ray(partial(FakeEpisodeRunner, tmp_path / "log"), HALF_A_CPU, 3) as pool:
        found = everything(pool)
    assert (tmp_path / "died").exists()
    assert found == everything(inline_episodes(FakeEpisodeRunner))
    assert [failure.message for failure in found[0].values() if failure] == ["cannot be prepared"]

    calls = Counter(method for _, method, *_ in lines(tmp_path / "log"))
    assert calls == {"prepare": 7, "learn": 3 + 1, "decode": 3 + 1}, "once in each actor with a share"
    visited: dict[str, set[str]] = {}
    for pid, _, *keys in lines(tmp_path / "log"):
        for key in keys:
            visited.setdefault(key, set()).add(pid)
    homes = Counter(tuple(sorted(pids)) for pids in visited.values())
    assert sorted(homes.values(), reverse=True) == [3, 2, 2], "each article has one home"
    assert sum(len(pids) for pids in homes) == 3 + 1, "but for the death of an actor"
