"""Which bundle is sent when, and what becomes of one that is lost: without Ray, against a scripted fleet of actors."""

import itertools
import random
from collections import Counter
from collections.abc import Sequence

import fakes
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.loss import Loss
from cluster.pool import InlinePool
from cluster.ray_pool import RayPool
from cluster.resources import ActorResources
from core.types import Article, BundleResult, Landed


class ScriptedEncoders:
    """Actors in this process, which die of deadly articles and, with the given chance, for no reason."""

    def __init__(self, actors: int, per_actor: int, deadly: frozenset[str], chance: float, seed: int) -> None:
        self.queues: list[list[tuple[int, Sequence[Article], bool]]] = [[] for _ in range(actors)]
        self.per_actor = per_actor
        self.deadly = deadly
        self.chance = chance
        self.random = random.Random(seed)
        self.tickets = itertools.count()
        self.sent: Counter[str] = Counter()
        self.counted: list[Landed] = []

    def _free(self, alone: bool) -> list[list[tuple[int, Sequence[Article], bool]]]:
        return [q for q in self.queues if not q or not (alone or q[0][2] or len(q) >= self.per_actor)]

    def has_room(self, alone: bool) -> bool:
        return bool(self._free(alone))

    def send(self, bundle: Sequence[Article], alone: bool) -> int:
        queue = min(self._free(alone), key=len)
        assert not (alone and queue)
        ticket = next(self.tickets)
        queue.append((ticket, bundle, alone))
        self.sent.update(article.key for article in bundle)
        return ticket

    def wait(self) -> list[tuple[int, BundleResult | Loss]]:
        queue = self.random.choice([q for q in self.queues if q])
        ticket, bundle, _ = queue[0]
        if self.deadly & {article.key for article in bundle} or self.random.random() < self.chance:
            losses = [(t, Loss("ActorDiedError", "died", "node", charged=t == ticket)) for t, _, _ in queue]
            queue.clear()
            return list(losses)
        del queue[0]
        ((_, result),) = fakes.together(InlinePool(fakes.WORK).map([bundle]))
        return [(ticket, result)]

    def count(self, landed: Sequence[Landed]) -> None:
        self.counted += landed

    def close(self) -> None:
        self.queues = []


def run(
    monkeypatch: pytest.MonkeyPatch, encoders: ScriptedEncoders, bundles: list[list[Article]], max_attempts: int
) -> tuple[Counter[str], dict[str, int]]:
    """How often each article got its summaries, and the attempts of each that failed, by key."""
    pool = RayPool(fakes.WORK, ActorResources(0, 1, None), 1, max_attempts=max_attempts)
    with monkeypatch.context() as patch:
        patch.setattr(pool, "_started", lambda: encoders)
        landed = fakes.together(pool.map(bundles))
    assert encoders.counted == landed
    keys = {article.id: article.key for bundle in bundles for article in bundle}
    done = Counter(keys[s.article_id] for _, result in landed for s in result.summaries if s.n == 1)
    failed = [(keys[f.article_id], f.attempts) for _, result in landed for f in result.failures]
    assert len(dict(failed)) == len(failed), "an article failed twice"
    return done, dict(failed)


@given(
    st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4),
    st.frozensets(st.integers(0, 19).map(str)), st.integers(0, 10_000),
)  # fmt: skip
def test_deadly_articles_fail_and_all_others_are_done_once(
    count: int, size: int, actors: int, per_actor: int, max_attempts: int, deadly: frozenset[str], seed: int
) -> None:
    bundles = fakes.bundles(count, size)
    encoders = ScriptedEncoders(actors, per_actor, deadly, chance=0, seed=seed)
    with pytest.MonkeyPatch.context() as monkeypatch:
        done, failed = run(monkeypatch, encoders, bundles, max_attempts)
    present = {article.key for bundle in bundles for article in bundle}
    assert set(failed) == deadly & present
    assert done == Counter(present - deadly)
    assert set(failed.values()) <= {max_attempts + (size > 1)}


@given(st.integers(0, 10_000), st.floats(0, 0.9))
def test_every_article_lands_once_however_often_actors_die(seed: int, chance: float) -> None:
    bundles = fakes.bundles(4, 3)
    encoders = ScriptedEncoders(2, 2, frozenset(), chance, seed)
    with pytest.MonkeyPatch.context() as monkeypatch:
        done, failed = run(monkeypatch, encoders, bundles, max_attempts=3)
    assert done + Counter(list(failed)) == Counter(str(i) for i in range(12))


def test_a_bundle_that_only_waited_keeps_all_its_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    # Twelve deaths of the first bundle and its articles; the second is behind it on the same actor every time.
    encoders = ScriptedEncoders(1, 2, frozenset("012345678"), chance=0, seed=0)
    bundles = [fakes.bundles(1, 9)[0], [fakes.article(9)]]
    done, failed = run(monkeypatch, encoders, bundles, max_attempts=1)
    assert done == Counter(["9"])
    assert set(failed) == set("012345678")
