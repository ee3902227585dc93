import os
import socket
from functools import partial
from pathlib import Path

import fakes
import pytest
from fake_episodes import FakeEpisodeRunner, request

from nws.cluster.dispatcher import this_worker
from nws.cluster.pools import inline_episodes
from nws.core.article import Article
from nws.core.errors import DeviceError, NwsError


def test_a_device_that_fails_is_no_fault_of_the_article() -> None:
    class Failing(FakeEpisodeRunner):
        def prepare(self, article: Article) -> None:
            raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")

    with pytest.raises(DeviceError, match="GPU"):
        list(inline_episodes(Failing).prepare([fakes.article(1)], lambda: None))


def test_every_article_is_prepared_once_and_the_guilty_one_fails(tmp_path: Path) -> None:
    articles = [fakes.article(i, "prepare-raises" if i == 1 else "") for i in range(3)]
    looks = 0

    def look_around() -> None:
        nonlocal looks
        looks += 1

    pool = inline_episodes(partial(FakeEpisodeRunner, tmp_path / "log"))
    assert [str(worker) for worker in pool.actors.workers] == [str(this_worker())]
    groups = list(pool.prepare(articles, look_around))
    (_, none), (_, failure), (_, other) = (pair for (pair,) in groups)
    assert (none, other) == (None, None)
    assert (failure.article_id, failure.error_class, failure.message, failure.attempts, failure.node) == (
        articles[1].id, "ValueError", "cannot be prepared", 1, socket.gethostname(),
    )  # fmt: skip
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


def test_errors_of_the_runner_come_as_they_are() -> None:
    pool = inline_episodes(FakeEpisodeRunner)
    with pytest.raises(NwsError, match="not finite"):
        pool.learn([request("a", 0, [(fakes.article(1, "learn-refuses"), 7)])], lambda: None)
    with pytest.raises(ZeroDivisionError):
        pool.learn([request("a", 0, [(fakes.article(1, "learn-raises"), 7)])], lambda: None)
