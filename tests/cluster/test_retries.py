"""Which bundle is sent when, and what becomes of one that is lost: in this process, or against scripted actors."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import fakes
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_actors import ScriptedActors

from nws.cluster.article_work import Work
from nws.cluster.pools import SweepPool, inline_sweeps
from nws.core.article import Article
from nws.core.errors import ModelError
from nws.core.types import BundleResult


def sweep(_: str, bundle: Sequence[Article]) -> BundleResult:
    ((_, result),) = fakes.together(inline_sweeps(fakes.WORK).map([bundle]))
    return result


def dies_of(deadly: frozenset[str]) -> Callable[[str, Sequence[Article]], bool]:
    return lambda _, bundle: not deadly.isdisjoint(article.key for article in bundle)


def run(actors: ScriptedActors, bundles: list[list[Article]]) -> tuple[Counter[str], dict[str, int]]:
    """How often each article got its summaries, and the attempts of each that failed, by key."""
    landed = fakes.together(SweepPool(actors).map(bundles))
    keys = {article.id: article.key for bundle in bundles for article in bundle}
    done = Counter(keys[s.article_id] for _, result in landed for s in result.summaries if s.n == 1)
    failed = [(keys[f.article_id], f.attempts) for _, result in landed for f in result.failures]
    assert len(dict(failed)) == len(failed), "an article failed twice"
    return done, dict(failed)


@given(
    st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.frozensets(st.integers(0, 19).map(str)),
    st.integers(0, 10_000),
)  # fmt: skip
def test_deadly_articles_fail_and_all_others_are_done_once(
    count: int, size: int, actors: int, deadly: frozenset[str], seed: int
) -> None:
    bundles = fakes.bundles(count, size)

    def on_trial(bundle: Sequence[Article]) -> bool:
        return len(bundle) == 1 < size

    done, failed = run(ScriptedActors(actors, sweep, dies_of(deadly), on_trial, seed), bundles)
    present = {article.key for bundle in bundles for article in bundle}
    assert set(failed) == deadly & present
    assert done == Counter(present - deadly)
    assert set(failed.values()) <= {3 + (size > 1)}


@given(st.integers(0, 10_000), st.floats(0, 0.9))
def test_every_article_lands_once_however_often_actors_die(seed: int, chance: float) -> None:
    draw = random.Random(seed)
    scripted = ScriptedActors(2, sweep, lambda *_: draw.random() < chance, seed=seed)
    done, failed = run(scripted, fakes.bundles(4, 3))
    assert done + Counter(list(failed)) == Counter(str(i) for i in range(12))


def test_inline_pool_builds_once_and_pulls_bundles_lazily() -> None:
    pulled: list[int] = []

    def source() -> Iterator[list[Article]]:
        for i, bundle in enumerate(fakes.bundles(3, 2)):
            pulled.append(i)
            yield bundle

    results = inline_sweeps(fakes.WORK).map(source())
    ((bundle, result),) = next(results)
    assert pulled == [0, 1], "no further than the next one"
    assert {s.article_id for s in result.summaries} == {a.id for a in bundle}
    assert [len(group) for group in results] == [1, 1]


def test_inline_pool_lets_a_factory_error_through() -> None:
    with pytest.raises(ModelError, match="no-such-model"):
        inline_sweeps(Work(fakes.make_segmenter, fakes.make_nothing))


def test_an_error_of_the_source_comes_after_what_had_landed() -> None:
    bundles = fakes.bundles(2, 2)

    def source() -> Iterator[list[Article]]:
        yield from bundles
        raise ModelError("the source broke")

    groups = inline_sweeps(fakes.WORK).map(source())
    landed = [list(bundle) for _ in bundles for bundle, _ in next(groups)]
    assert landed == bundles
    with pytest.raises(ModelError, match="the source broke"):
        next(groups)
