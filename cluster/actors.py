"""What runs in Ray's worker processes: the segmenting task and the actors. Only what needs Ray imports it."""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cluster.article_work import (
    RunsEpisodes,
    SegmentedBundle,
    Segmenter,
    Sweeper,
    prepare_article,
    segment_bundle,
    sweep_bundle,
)
from cluster.worker_info import WorkerInfo, this_worker
from core.device_errors import device_errors_in_words
from core.types import Article, BundleResult, Failure

if TYPE_CHECKING:
    from core.learning.exchange import ArticleGradient, Decoded, Request


@functools.cache
def _segmenter(pickled_factory: bytes) -> Segmenter:
    """Once per worker process. The key is bytes because unpickled factories need not compare equal."""
    from ray import cloudpickle

    factory: Callable[[], Segmenter] = cloudpickle.loads(pickled_factory)
    return factory()


def segment(pickled_factory: bytes, bundle: Sequence[Article]) -> SegmentedBundle:
    """The Ray task: a bundle cut into sentences and chunks."""
    return segment_bundle(_segmenter(pickled_factory), bundle)


def segmenting(make_segmenter: Callable[[], Segmenter], num_cpus: int) -> Callable[[Sequence[Article]], Any]:
    """The function with which the driver sends a bundle to be segmented. It returns the ObjectRef of the result."""
    import ray

    # Retries are counted by the pool, so Ray makes none. Task events would cost the driver 2 KB a task.
    task = ray.remote(segment).options(
        name="segment",
        num_cpus=num_cpus,
        max_retries=0,
        scheduling_strategy="SPREAD",
        enable_task_events=False,
    )
    return functools.partial(task.remote, ray.cloudpickle.dumps(make_segmenter))  # type: ignore[no-untyped-call]


class SweepActor:
    """The Ray actor of Phase 1: holds the models. `build` comes first."""

    def __init__(self, make_sweeper: Callable[[], Sweeper]) -> None:
        self._make_sweeper = make_sweeper

    def build(self) -> WorkerInfo:
        """Load the models. Returns the worker that holds them.

        Not in `__init__`: Ray hands on what a method raises, but of what a constructor raises only the text.
        """
        from cluster.progress_metrics import token_rate

        with device_errors_in_words():
            self._sweep = self._make_sweeper()
        self._token_rate = token_rate()
        return this_worker()

    def sweep(self, segmented: SegmentedBundle) -> BundleResult:
        """One bundle, summarised and scored."""
        before = self._tokens()
        result = sweep_bundle(self._sweep, segmented)
        self._token_rate.add(self._tokens() - before)
        return result

    def _tokens(self) -> int:
        # Not every sweeper counts them.
        return getattr(self._sweep, "tokens", 0)


class EpisodeActor:
    """The Ray actor of Phase 2: holds a runner of episodes with its models. `build` comes first. It needs no Ray."""

    def __init__(self, make_runner: Callable[[], RunsEpisodes]) -> None:
        self._make_runner = make_runner

    def build(self) -> WorkerInfo:
        """See `SweepActor.build`."""
        with device_errors_in_words():
            self._runner = self._make_runner()
        return this_worker()

    def prepare(self, article: Article) -> Failure | None:
        """Make an article ready; its failure if that cannot be."""
        return prepare_article(self._runner.prepare, article)

    def learn(self, requests: "Sequence[Request]") -> "list[list[ArticleGradient]]":
        """See `RunsEpisodes.learn`."""
        with device_errors_in_words():
            return self._runner.learn(requests)

    def decode(self, requests: "Sequence[Request]") -> "list[list[Decoded]]":
        """See `RunsEpisodes.decode`."""
        with device_errors_in_words():
            return self._runner.decode(requests)
