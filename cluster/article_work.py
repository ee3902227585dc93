"""The work on articles, guarded: an exception becomes the failure of the article at hand, and work goes on."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from cluster.log_lines import core_notes
from core.device_errors import as_device_error, is_device_error, is_memory_error
from core.errors import DeviceError
from core.provenance import Software, software_now
from core.types import Article, BundleResult, Failure, SegmentedArticle, Summary

if TYPE_CHECKING:
    # It has no use where articles are only segmented.
    from core.learning.exchange import ArticleGradient, Decoded, Request

Segmenter: TypeAlias = Callable[[Article], SegmentedArticle]
Sweeper: TypeAlias = Callable[[Sequence[SegmentedArticle]], list[Summary]]


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a sweep.

    Both factories are picklable and are called once per process that uses them. What they raise is no article's
    fault: it stops the run. What their products raise becomes the `Failure` of the article at hand, unless it is an
    error of the device.
    """

    make_segmenter: Callable[[], Segmenter]
    make_sweeper: Callable[[], Sweeper]


class RunsEpisodes(Protocol):
    """What runs the episodes: pure functions of the request, so that any of them gives the same answers."""

    def prepare(self, article: Article) -> None:
        """Prepare an article for episodes, once. `learn` and `decode` do it themselves if it was not done.

        Raises:
            Exception: of any kind; it becomes the failure of the article.
        """

    def learn(self, requests: "Sequence[Request]") -> "list[list[ArticleGradient]]":
        """The gradients, in the order of requests and episodes."""

    def decode(self, requests: "Sequence[Request]") -> "list[list[Decoded]]":
        """The greedy summaries, in the order of requests and episodes."""


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
    return SegmentedBundle(tuple(articles), tuple(failures), software_now())


def sweep_bundle(sweep: Sweeper, segmented: SegmentedBundle) -> BundleResult:
    """Sweep the articles together. If that fails, sweep each alone, so that only the faulty ones become failures.

    Summaries keep the order of the bundle. What core logs meanwhile is in the result's notes.

    Raises:
        DeviceError: the device failed, or has no memory for one article alone. That is not the article's fault.
    """
    with core_notes() as notes:
        result = _swept(sweep, segmented)
    return replace(result, notes=tuple(notes), software=tuple({segmented.software, software_now()}))


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
