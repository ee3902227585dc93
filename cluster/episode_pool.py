"""The interface of pools that run episodes, and the pool that needs no Ray."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, Protocol, TypeAlias

from cluster.pool import prepare_article
from cluster.worker import Busy, Stopwatch, Worker, this_worker
from core.device_errors import device_errors_in_words
from core.learning.exchange import ArticleGradient, Decoded, Request
from core.types import Article, Failure

# What a runner can be asked for.
Method: TypeAlias = Literal["prepare", "learn", "decode"]
# An article that was prepared, or why it could not be.
Prepared: TypeAlias = tuple[Article, Failure | None]


class EpisodeRunner(Protocol):
    """What runs the episodes: pure functions of the request, so that any of them gives the same answers."""

    def prepare(self, article: Article) -> None:
        """Prepare an article for episodes, once. `learn` and `decode` do it themselves if it was not done.

        Raises:
            Exception: of any kind; it becomes the failure of the article.
        """
        ...

    def learn(self, requests: Sequence[Request]) -> list[list[ArticleGradient]]:
        """The gradients, in the order of requests and episodes."""
        ...

    def decode(self, requests: Sequence[Request]) -> list[list[Decoded]]:
        """The greedy summaries, in the order of requests and episodes."""
        ...


class EpisodePool(Protocol):
    """Runs episodes, one call of its methods at a time.

    `look_around` is called before every wait, and a wait ends after a few seconds. What it raises ends the call.
    """

    @property
    def workers(self) -> tuple[Worker, ...]:
        """See `Pool.workers`."""
        ...

    @property
    def busy(self) -> tuple[Busy, ...]:
        """See `Pool.busy`."""
        ...

    def prepare(self, articles: Sequence[Article], look_around: Callable[[], None]) -> Iterator[list[Prepared]]:
        """Yield every article once it is prepared, in any order.

        Each article is prepared by the worker that gets its episodes later, as long as that worker lives. An article
        that cannot be prepared, or whose worker dies again and again, comes with its failure.

        Raises:
            NwsError: the factory of the runner failed, or the machines cannot run it.
        """
        ...

    def learn(self, requests: Sequence[Request], look_around: Callable[[], None]) -> list[list[ArticleGradient]]:
        """The gradients, in the order of requests and episodes, whoever computed them.

        Raises:
            NwsError: a runner raised it, or workers keep dying, or as for `prepare`.
        """
        ...

    def decode(self, requests: Sequence[Request], look_around: Callable[[], None]) -> list[list[Decoded]]:
        """The greedy summaries; otherwise as `learn`."""
        ...


class InlineEpisodePool:
    """A pool in this process, with one runner: for tests, debugging, and machines without Ray.

    It looks around before each article and each call. Errors of the runner in `learn` and `decode` are passed on.
    """

    def __init__(self, make_runner: Callable[[], EpisodeRunner]) -> None:
        with device_errors_in_words():
            self._runner = make_runner()
        self._at_work = Stopwatch()

    @property
    def workers(self) -> tuple[Worker, ...]:
        """See `Pool.workers`."""
        return (this_worker(),)

    @property
    def busy(self) -> tuple[Busy, ...]:
        """See `Pool.busy`."""
        return (Busy(0, this_worker(), self._at_work.seconds),)

    def prepare(self, articles: Sequence[Article], look_around: Callable[[], None]) -> Iterator[list[Prepared]]:
        """See `EpisodePool.prepare`."""
        for article in articles:
            look_around()
            with self._at_work:
                failure = prepare_article(self._runner.prepare, article)
            yield [(article, failure)]

    def learn(self, requests: Sequence[Request], look_around: Callable[[], None]) -> list[list[ArticleGradient]]:
        """See `EpisodePool.learn`."""
        look_around()
        with self._at_work, device_errors_in_words():
            return self._runner.learn(requests)

    def decode(self, requests: Sequence[Request], look_around: Callable[[], None]) -> list[list[Decoded]]:
        """See `EpisodePool.decode`."""
        look_around()
        with self._at_work, device_errors_in_words():
            return self._runner.decode(requests)
