import os
import pickle
import socket
from functools import partial
from pathlib import Path

import fakes
import pytest
from fake_episodes import FakeEpisodeRunner, request

from cluster.article_work import prepare_article
from cluster.episode_pool import inline_episodes
from cluster.worker_info import this_worker
from core.errors import CancelledError, DeviceError, NwsError
from core.types import Article


def be_cancelled() -> None:
    raise CancelledError("Somebody asked for the end of the run.")


def test_prepare_article_turns_an_exception_into_a_failure() -> None:
    prepared: list[Article] = []
    assert prepare_article(prepared.append, fakes.article(1)) is None
    assert prepared == [fakes.article(1)]
    bad = fakes.article(2, "prepare-raises")
    failure = prepare_article(FakeEpisodeRunner().prepare, bad)
    assert failure is not None
    assert (failure.article_id, failure.error_class, failure.message, failure.attempts) == (
        bad.id, "ValueError", "cannot be prepared", 1,
    )  # fmt: skip
    assert failure.node == socket.gethostname()


@pytest.mark.parametrize(
    "text", ["CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "CUDA error: x"]
)
def test_a_device_that_fails_is_no_fault_of_the_article(text: str) -> None:
    def fail(article: Article) -> None:
        raise RuntimeError(text)

    with pytest.raises(DeviceError, match="GPU"):
        prepare_article(fail, fakes.article(1))


def test_every_article_is_prepared_once_and_the_guilty_one_fails(tmp_path: Path) -> None:
    articles = [fakes.article(i, "prepare-raises" if i == 1 else "") for i in range(3)]
    looks = 0

    def look_around() -> None:
        nonlocal looks
        looks += 1

    pool = inline_episodes(partial(FakeEpisodeRunner, tmp_path / "log"))
    assert [str(worker) for worker in pool.actors.workers] == [str(this_worker())]
    assert [busy.seconds for busy in pool.actors.busy] == [0.0]
    groups = list(pool.prepare(articles, look_around))
    assert pool.actors.busy[0].seconds > 0
    assert [[(article, failure is None) for article, failure in group] for group in groups] == [
        [(articles[0], True)], [(articles[1], False)], [(articles[2], True)],
    ]  # fmt: skip
    assert (tmp_path / "log").read_text() == "".join(f"{os.getpid()} prepare {i}\n" for i in range(3))
    assert looks == 3, "before each article"


def test_answers_are_in_the_order_of_requests_and_episodes() -> None:
    one, two = fakes.article(1), fakes.article(2)
    requests = [request("a", 3, [(two, 7), (one, 9)]), request("b", 4, []), request("c", 5, [(one, 7)])]
    pool = inline_episodes(FakeEpisodeRunner)
    learnt = pool.learn(requests, lambda: None)
    decoded = pool.decode(requests, lambda: None)
    assert [[(g.article_id, g.n) for g in gradients] for gradients in learnt] == [
        [(two.id, 7), (one.id, 9)], [], [(one.id, 7)],
    ]  # fmt: skip
    assert [[d.text for d in of_one] for of_one in decoded] == [["a 2 7", "a 1 9"], [], ["c 1 7"]]


def test_a_look_around_may_end_every_call() -> None:
    requests = [request("a", 0, [(fakes.article(1), 7)])]
    pool = inline_episodes(FakeEpisodeRunner)
    with pytest.raises(CancelledError):
        list(pool.prepare([fakes.article(1)], be_cancelled))
    with pytest.raises(CancelledError):
        pool.learn(requests, be_cancelled)
    with pytest.raises(CancelledError):
        pool.decode(requests, be_cancelled)


def test_errors_of_the_runner_come_as_they_are() -> None:
    pool = inline_episodes(FakeEpisodeRunner)
    with pytest.raises(NwsError, match="not finite"):
        pool.learn([request("a", 0, [(fakes.article(1, "learn-refuses"), 7)])], lambda: None)
    with pytest.raises(ZeroDivisionError):
        pool.learn([request("a", 0, [(fakes.article(1, "learn-raises"), 7)])], lambda: None)


def test_what_travels_can_be_pickled() -> None:
    broadcast, episodes = pickle.loads(pickle.dumps(request("a", 3, [(fakes.article(1), 7)])))
    assert (broadcast.training.name, broadcast.update) == ("a", 3)
    assert broadcast.parameters["weight"].tolist() == [[3, 4, 5], [6, 7, 8]]
    assert episodes == [(fakes.article(1), 7)]
