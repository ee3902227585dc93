"""Whose episodes are whose, and what becomes of those that are lost: without Ray, against scripted actors."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import fakes
import pytest
from fake_episodes import FakeEpisodeRunner, nothing, request
from hypothesis import given
from hypothesis import strategies as st
from scripted_actors import ScriptedActors

from nws.cluster.article_work import EpisodeActor
from nws.cluster.pools import EpisodePool, inline_episodes
from nws.core.article import Article
from nws.core.errors import CancelledError, ClusterError
from nws.core.learning.exchange import Decoded


def answer(method: str, argument: Any) -> Any:
    actor = EpisodeActor(FakeEpisodeRunner)
    actor.build()
    return getattr(actor, method)(argument)


def actors_of(actors: int, dies: Callable[[str, Any], bool | None], seed: int = 0) -> ScriptedActors:
    """Its actors have one call at a time."""
    return ScriptedActors(actors, answer, dies, lambda _: True, seed)


def homes(scripted: ScriptedActors) -> dict[str, set[int]]:
    """Who was called for each article, by its key."""
    found: dict[str, set[int]] = {}
    for number, argument in scripted.sent:
        articles = [argument] if isinstance(argument, Article) else [a for _, episodes in argument for a, _ in episodes]
        assert articles, "a call for nothing"
        for article in articles:
            found.setdefault(article.key, set()).add(number)
    return found


EPISODES = st.lists(st.tuples(st.integers(0, 9), st.sampled_from([7, 9, 11])), max_size=12)


@given(st.lists(EPISODES, max_size=3), st.integers(1, 4), st.sampled_from([0, 0.4]), st.integers(0, 10_000))
def test_answers_are_in_order_whoever_dies(
    asked: list[list[tuple[int, int]]], actors: int, share: float, seed: int
) -> None:
    requests = [request(str(i), i, [(fakes.article(key), n) for key, n in one]) for i, one in enumerate(asked)]
    chance = random.Random(seed)
    # Machines, whose deaths are not counted.
    scripted = actors_of(actors, lambda *_: None if chance.random() < share else False, seed)
    answers = EpisodePool(scripted).decode(requests, nothing)
    assert answers == inline_episodes(FakeEpisodeRunner).decode(requests, nothing)
    seen = list(dict.fromkeys(str(key) for one in asked for key, _ in one))
    assert homes(scripted) == {key: {i % actors} for i, key in enumerate(seen)}
    assert not scripted.closed


def test_what_is_whose_machine_is_gone_is_done_by_the_others() -> None:
    articles = [fakes.article(i) for i in range(6)]
    scripted = actors_of(3, lambda *_: False)
    scripted.ready, scripted.missing = {0, 2}, [1]
    pool = EpisodePool(scripted)
    prepared = [pair for group in pool.prepare(articles, nothing) for pair in group]
    assert sorted(article.key for article, _ in prepared) == [article.key for article in articles]
    requests = [request("a", 0, [(article, 7) for article in articles])]
    assert pool.decode(requests, nothing) == inline_episodes(FakeEpisodeRunner).decode(requests, nothing)
    own = {key for key, numbers in homes(scripted).items() if numbers == {int(key) % 3}}
    assert own == {"0", "2", "3", "5"}

    scripted.ready, scripted.missing = {0}, [1, 2]
    assert pool.decode(requests, nothing) == inline_episodes(FakeEpisodeRunner).decode(requests, nothing)


@given(st.frozensets(st.integers(0, 9)), st.integers(1, 4), st.integers(0, 10_000))
def test_every_article_is_prepared_or_fails_once(deadly: frozenset[int], actors: int, seed: int) -> None:
    articles = [fakes.article(i) for i in range(10)]
    chance, attempts = random.Random(seed), Counter[str]()

    def dies(_: str, article: Article) -> bool | None:
        if chance.random() < 0.3:
            return None
        attempts[article.key] += 1
        return int(article.key) in deadly

    scripted = actors_of(actors, dies, seed)
    prepared = [pair for group in EpisodePool(scripted).prepare(articles, nothing) for pair in group]
    assert sorted(article.key for article, _ in prepared) == [article.key for article in articles]
    failures = {article.key: failure for article, failure in prepared if failure}
    assert failures.keys() == {str(i) for i in deadly}
    assert all((failure.attempts, failure.message) == (3, "it died") for failure in failures.values())
    assert attempts == {str(i): 3 if i in deadly else 1 for i in range(10)}, "machines that die are not its fault"
    assert homes(scripted) == {str(i): {i % actors} for i in range(10)}


def test_five_deaths_in_a_row_stop_the_run() -> None:
    requests = [request("a", 0, [(fakes.article(i), 7) for i in range(2)])]
    scripted = actors_of(2, lambda *_: True)
    with pytest.raises(ClusterError, match=r"^5 actors in a row .* with 1 CPU each.*The last error: it died"):
        EpisodePool(scripted).learn(requests, nothing)
    assert scripted.deaths in (5, 6), "the fifth may come with a sixth"
    assert scripted.closed


def test_an_answer_forgives_the_deaths_before_it() -> None:
    sent = Counter[str]()

    def dies(_: str, argument: Any) -> bool:
        ((broadcast, _),) = argument
        sent[broadcast.training.name] += 1
        return sent[broadcast.training.name] <= 4

    pool = EpisodePool(actors_of(1, dies))
    for i in range(3):
        ((decoded,),) = pool.decode([request(str(i), 0, [(fakes.article(3), 7)])], nothing)
        assert decoded == Decoded(fakes.article(3).id, 7, f"{i} 3 7", 3.07)
    assert sent == {str(i): 5 for i in range(3)}


def test_a_call_that_is_cut_short_ends_the_actors() -> None:
    def be_cancelled() -> None:
        raise CancelledError("Somebody asked for the end of the run.")

    scripted = actors_of(1, lambda *_: False)
    with pytest.raises(CancelledError):
        EpisodePool(scripted).learn([request("a", 0, [(fakes.article(1), 7)])], be_cancelled)
    assert scripted.closed

    scripted = actors_of(1, lambda *_: False)
    groups = EpisodePool(scripted).prepare([fakes.article(i) for i in range(2)], nothing)
    next(groups)
    assert not scripted.closed
    groups.close()  # type: ignore[attr-defined]
    assert scripted.closed
