"""The work on articles in Ray's worker processes, or in this process: the segmenting task, and the actors.

An exception becomes the failure of its article, and work goes on. Only functions that need Ray import it.
"""

import contextlib
import functools
import logging
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from nws.cluster.dispatcher import WorkerInfo, this_worker
from nws.core.article import Article, SegmentedArticle
from nws.core.errors import DeviceError, as_device_error, device_errors_in_words, is_device_error, is_memory_error
from nws.core.provenance import Software, software_now
from nws.core.types import BundleResult, Failure, Summary

if TYPE_CHECKING:
    # A process that only segments articles does not need it.
    from nws.core.learning.exchange import ArticleGradient, Decoded, Request

Segmenter: TypeAlias = Callable[[Article], SegmentedArticle]
Sweeper: TypeAlias = Callable[[Sequence[SegmentedArticle]], list[Summary]]


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a sweep.

    Both factories are picklable, and are called once in each process that uses them. An error that they raise is not an
    article's fault, and stops the run. An error that their products raise becomes the `Failure` of the article, unless
    it is an error of the device.
    """

    make_segmenter: Callable[[], Segmenter]
    make_sweeper: Callable[[], Sweeper]


@dataclass(frozen=True, slots=True)
class SegmentedBundle:
    """A bundle after segmenting: its articles in order, without those that could not be segmented.

    `software` is the software that segmented them.
    """

    articles: tuple[SegmentedArticle, ...]
    failures: tuple[Failure, ...]
    software: Software = ()


def segment_bundle(segment: Segmenter, bundle: Sequence[Article]) -> SegmentedBundle:
    """Segment each article by itself. One that cannot be segmented becomes a `Failure`."""
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

    Summaries keep the order of the bundle. The result's notes are the warnings that core logs meanwhile, each after the
    name of the machine.

    Raises:
        DeviceError: the device failed, or has no memory even for one article. That is not the article's fault.
    """
    notes: list[str] = []
    with _warnings_of("nws.core", lambda text: notes.append(f"{socket.gethostname()}: {text}")):
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
    # Outside the `except`, whose traceback would hold the tensors of the failed attempt: after "out of memory", the
    # single articles need that memory.
    results = [_swept(sweep, SegmentedBundle((article,), ())) for article in segmented.articles]
    summaries = tuple(summary for result in results for summary in result.summaries)
    failures = tuple(failure for result in results for failure in result.failures)
    return BundleResult(summaries, segmented.failures + failures)


def _failure(article: Article, error: Exception) -> Failure:
    message = str(error) or ("out of memory" if isinstance(error, MemoryError) else repr(error))
    return Failure(article.id, type(error).__name__, message, attempts=1, node=socket.gethostname())


@contextlib.contextmanager
def _warnings_of(package: str, tell: Callable[[str], None]) -> Iterator[None]:
    """Call `tell` with every warning that a package logs while the block runs.

    So warnings get into the log of a run. Code that logs does not know the run, and a worker's log stays on its
    machine.
    """
    handler, logger = logging.Handler(logging.WARNING), logging.getLogger(package)
    handler.emit = lambda record: tell(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def pool_warnings(say: Callable[[str], None]) -> contextlib.AbstractContextManager[None]:
    """Call `say` with every warning that `cluster/` logs while the block runs."""
    return _warnings_of("nws.cluster", lambda text: say(f"Warning: {text}"))


@functools.cache
def _segmenter(pickled_factory: bytes) -> Segmenter:
    """Make the segmenter, once per worker process. The key is bytes, as unpickled factories may not compare equal."""
    from ray import cloudpickle

    factory: Callable[[], Segmenter] = cloudpickle.loads(pickled_factory)
    return factory()


def segment(pickled_factory: bytes, bundle: Sequence[Article]) -> SegmentedBundle:
    """Segment a bundle into sentences and chunks, as a Ray task."""
    return segment_bundle(_segmenter(pickled_factory), bundle)


def segmenting(make_segmenter: Callable[[], Segmenter], num_cpus: int) -> Callable[[Sequence[Article]], Any]:
    """Return the function with which the driver sends a bundle to be segmented. It returns the result's ObjectRef."""
    import ray

    # The pool counts retries, so Ray makes none. Task events would cost the driver 2 KB for each task.
    task = ray.remote(segment).options(
        name="segment", num_cpus=num_cpus, max_retries=0, scheduling_strategy="SPREAD", enable_task_events=False
    )
    return functools.partial(task.remote, ray.cloudpickle.dumps(make_segmenter))  # type: ignore[no-untyped-call]


class _Actor:
    """A process that holds models. Its method `build`, which must be called first, calls `make` once."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def build(self) -> WorkerInfo:
        """Load the models. Returns a description of this worker.

        Not in `__init__`, since Ray passes on the error of a method, but only the text of a constructor's error.
        """
        with device_errors_in_words():
            self._models = self._make()
        return this_worker()


class SweepActor(_Actor):
    """The Ray actor of sweeps, which takes a factory of a `Sweeper`."""

    def sweep(self, segmented: SegmentedBundle) -> BundleResult:
        """Summarise and score a bundle."""
        return sweep_bundle(self._models, segmented)


class EpisodeActor(_Actor):
    """The Ray actor of trainings, which takes a factory of a `nws.core.episodes.EpisodeRunner`.

    It also works without Ray. Its methods are pure functions of the request, so every actor gives the same answers.
    """

    def prepare(self, article: Article) -> Failure | None:
        """Prepare an article, once. Returns its failure if that fails. `learn` and `decode` prepare it if need be.

        Raises:
            DeviceError: the device failed. That is not the article's fault.
        """
        try:
            self._models.prepare(article)
        except Exception as error:
            if is_device_error(error):
                raise as_device_error(error) from error
            return _failure(article, error)
        return None

    def learn(self, requests: "Sequence[Request]") -> "list[list[ArticleGradient]]":
        """Compute gradients, in the order of requests and episodes."""
        with device_errors_in_words():
            return self._models.learn(requests)  # type: ignore[no-any-return]

    def decode(self, requests: "Sequence[Request]") -> "list[list[Decoded]]":
        """Write greedy summaries, in the order of requests and episodes."""
        with device_errors_in_words():
            return self._models.decode(requests)  # type: ignore[no-any-return]
