"""The interface of pools, the guarded work on articles, and the pool that needs no Ray."""

import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from cluster.worker import Busy, Stopwatch, Worker, this_worker
from cluster.worker_notes import noted
from core.device_errors import as_device_error, device_errors_in_words, is_device_error, is_memory_error
from core.errors import DeviceError
from core.software import Software, software
from core.types import Article, BundleResult, Failure, Landed, SegmentedArticle, Summary

Segmenter: TypeAlias = Callable[[Article], SegmentedArticle]
Sweeper: TypeAlias = Callable[[Sequence[SegmentedArticle]], list[Summary]]


@dataclass(frozen=True, slots=True)
class Work:
    """The work that a pool runs.

    Both factories are picklable and are called once per process that uses them. What they raise is no article's
    fault: it stops the run. What their products raise becomes the `Failure` of the article at hand, unless it is an
    error of the device.
    """

    make_segmenter: Callable[[], Segmenter]
    make_sweeper: Callable[[], Sweeper]


@dataclass(frozen=True, slots=True)
class SegmentedBundle:
    """A bundle between the two halves: its articles in order, without those that could not be segmented.

    `software` is what they were segmented with.
    """

    articles: tuple[SegmentedArticle, ...]
    failures: tuple[Failure, ...]
    software: Software = ()


def segment_bundle(segment: Segmenter, bundle: Sequence[Article]) -> SegmentedBundle:
    """Segment each article by itself; one that cannot be becomes a `Failure`."""
    articles: list[SegmentedArticle] = []
    failures: list[Failure] = []
    for article in bundle:
        try:
            articles.append(segment(article))
        except Exception as error:
            failures.append(_failure(article, error))
    return SegmentedBundle(tuple(articles), tuple(failures), software())


def sweep_bundle(sweep: Sweeper, segmented: SegmentedBundle) -> BundleResult:
    """Sweep the articles together. If that fails, sweep each alone, so that only the faulty ones become failures.

    Summaries keep the order of the bundle. What core logs meanwhile is in the result's notes.

    Raises:
        DeviceError: the device failed, or has no memory for one article alone. That is not the article's fault.
    """
    with noted() as notes:
        result = _swept(sweep, segmented)
    return replace(result, notes=tuple(notes), software=tuple({segmented.software, software()}))


def _swept(sweep: Sweeper, segmented: SegmentedBundle) -> BundleResult:
    if not segmented.articles:
        return BundleResult((), segmented.failures)
    try:
        return BundleResult(tuple(sweep(segmented.articles)), segmented.failures)
    except DeviceError:
        raise
    except Exception as error:
        alone = len(segmented.articles) == 1
        if is_device_error(error) and (alone or not is_memory_error(error)):
            raise as_device_error(error) from error
        if alone:
            return BundleResult((), (*segmented.failures, _failure(segmented.articles[0].article, error)))
    # Outside the `except`: its traceback would keep the tensors of the failed attempt, and after "out of memory"
    # the single articles need that room.
    results = [_swept(sweep, SegmentedBundle((article,), ())) for article in segmented.articles]
    summaries = tuple(summary for result in results for summary in result.summaries)
    failures = tuple(failure for result in results for failure in result.failures)
    return BundleResult(summaries, segmented.failures + failures)


def prepare_article(prepare: Callable[[Article], None], article: Article) -> Failure | None:
    """Prepare an article for episodes on it; its `Failure` if it cannot be.

    Raises:
        DeviceError: the device failed. That is not the article's fault.
    """
    try:
        prepare(article)
    except Exception as error:
        if is_device_error(error):
            raise as_device_error(error) from error
        return _failure(article, error)
    return None


def _failure(article: Article, error: Exception) -> Failure:
    message = str(error) or ("out of memory" if isinstance(error, MemoryError) else repr(error))
    return Failure(article.id, type(error).__name__, message, attempts=1, node=socket.gethostname())


class Pool(Protocol):
    """Runs bundles. Closing the iterator of `map` early ends what still runs."""

    @property
    def workers(self) -> tuple[Worker, ...]:
        """The processes that have loaded their models: sorted, equal ones once."""
        ...

    @property
    def busy(self) -> tuple[Busy, ...]:
        """Each of these processes, and for how long it has had work."""
        ...

    def map(self, bundles: Iterable[Sequence[Article]]) -> Iterator[list[Landed]]:
        """Yield finished bundles with their results, as they land, in any order; one `map` at a time.

        All that landed while the caller was busy come together. Now and then an empty list comes, so that the caller
        can look around. `bundles` is pulled lazily. A bundle whose processes keep dying lands article by article, as
        bundles of one.

        Raises:
            DeviceError: a GPU failed, and no new process helped or could be had.
            NwsError: a factory of the work failed, or the machines cannot run it.
        """
        ...


class InlinePool:
    """A pool in this process, one bundle after the other: for tests, debugging, and machines without Ray."""

    def __init__(self, work: Work) -> None:
        self._segment = work.make_segmenter()
        with device_errors_in_words():
            self._sweep = work.make_sweeper()
        self._at_work = Stopwatch()

    @property
    def workers(self) -> tuple[Worker, ...]:
        """See `Pool.workers`."""
        return (this_worker(),)

    @property
    def busy(self) -> tuple[Busy, ...]:
        """See `Pool.busy`."""
        return (Busy(0, this_worker(), self._at_work.seconds),)

    def map(self, bundles: Iterable[Sequence[Article]]) -> Iterator[list[Landed]]:
        """See `Pool.map`."""
        for bundle in bundles:
            with self._at_work:
                result = sweep_bundle(self._sweep, segment_bundle(self._segment, bundle))
            yield [(bundle, result)]
