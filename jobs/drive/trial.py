"""A few articles of a run, timed in this process as one of its actors would work on them."""

import functools
import itertools
import resource
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from cluster.article_work import Segmenter, Work
from cluster.episode_pool import inline_episodes
from cluster.sweep_pool import inline_sweeps
from core.errors import NwsError
from core.summarizers.endpoint import Endpoint
from core.sweep_plan import SweepPlan
from core.text.corpus import Corpus
from core.types import Article, Failure, SegmentedArticle
from core.worker_factories import make_episode_runner
from jobs.drive.gpu_busy import GpuWatch
from jobs.drive.pools import sweep_work
from jobs.drive.stages import with_policies
from jobs.plan.pinned import Pinned, PlannedTraining

if TYPE_CHECKING:  # a sweep has no use for policies
    from core.learning.policy_system import PolicySystem

ENOUGH_SECONDS = 8.0
"""No further bundle of a stage is begun after so many seconds."""
_MOST_ARTICLES = 32
_TRAINING_ARTICLES = 4

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class StageTime:
    """What a stage takes where one process does everything.

    Attributes:
        actor: seconds of the actor, tokenizing and waiting for its GPU included.
        segmenting: seconds of the tasks that segment for it, on a core of their own.
        busy: the part of the actor's seconds that its GPU computes, in [0, 1]; None where that is not known.
    """

    actor: float
    segmenting: float = 0.0
    busy: float | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """What was measured on one actor.

    Attributes:
        loading: seconds to load all models.
        stages: of each stage what the whole run would take, models loaded.
        articles: how many were timed, at most over the stages.
        memory: the most bytes that this process ever held.
        gpu_memory: the most bytes on the GPU; None on a CPU.
        failures: of articles that a stage could not finish.
        left_out: stages that were not tried, each with the reason.
    """

    loading: float
    stages: Mapping[str, "StageTime"]
    articles: int
    memory: int
    gpu_memory: int | None
    failures: tuple[Failure, ...]
    left_out: tuple[str, ...]


def try_run(pinned: Pinned, articles: int, device: str) -> Trial:
    """Load the models of each stage, and time some articles that are spread over the datasets.

    Args:
        pinned: what the run would run.
        articles: how many it has.
        device: `cpu` or `cuda`.

    Raises:
        NwsError: a model cannot be loaded, or none of the training articles that were tried can be trained on.
    """
    measured = _Measured()
    policies = {} if pinned.training is None else _try_training(pinned, pinned.training, device, measured)
    sample = _spread(pinned.corpora, _MOST_ARTICLES)
    for planned in pinned.stages:
        name = planned.stage.name
        if isinstance(planned.plan.generator, Endpoint):
            measured.left_out.append(f"{name} (each request to its endpoint may cost money)")
            continue
        each = _try_stage(pinned, with_policies(planned.plan, policies), sample, device, measured)
        measured.stages[name] = StageTime(each.actor * articles, each.segmenting * articles, each.busy)
    return Trial(
        measured.loading,
        measured.stages,
        measured.articles,
        _peak_memory(),
        _peak_gpu_memory() if device == "cuda" else None,
        tuple(measured.failures),
        tuple(measured.left_out),
    )


class _Measured:
    """What has been measured so far, see `Trial`."""

    def __init__(self) -> None:
        self.loading = 0.0
        self.stages: dict[str, StageTime] = {}
        self.articles = 0
        self.failures: list[Failure] = []
        self.left_out: list[str] = []


class _TimedSegmenter:
    """Notes the seconds of each article that it segments."""

    def __init__(self, make_segmenter: Callable[[], Segmenter]) -> None:
        self._segment = make_segmenter()
        self._seconds: list[float] = []

    def __call__(self, article: Article) -> SegmentedArticle:
        started = time.perf_counter()
        try:
            return self._segment(article)
        finally:
            self._seconds.append(time.perf_counter() - started)

    @property
    def each(self) -> float:
        """Seconds for an article; the first one warms up."""
        return fmean(self._seconds[1:] or self._seconds or [0.0])


def _try_stage(
    pinned: Pinned, plan: SweepPlan, articles: Sequence[Article], device: str, measured: _Measured
) -> StageTime:
    """What a stage takes for an article."""
    started = time.perf_counter()
    work = sweep_work(plan, device, pinned.recipe.gpu_memory_fraction)
    segmenter = _TimedSegmenter(work.make_segmenter)
    pool = inline_sweeps(Work(lambda: segmenter, work.make_sweeper))
    measured.loading += time.perf_counter() - started
    gpu: GpuWatch | None = None

    def sweep(bundle: Sequence[Article]) -> None:
        nonlocal gpu
        for landed in pool.map([bundle]):
            measured.failures += [failure for _, result in landed for failure in result.failures]
        if device == "cuda" and gpu is None:  # once it is warm
            gpu = GpuWatch()
            gpu.start()

    # Of 1, 1, 2, 4, 8 and 16 articles. The first one warms up: caches, and kernels that a GPU compiles.
    starts = [0, *(2**power for power in range(len(articles).bit_length()))]
    bundles = [articles[start:end] for start, end in itertools.pairwise([*starts, None]) if articles[start:end]]
    try:
        each, timed = _seconds_each(bundles, sweep)
    finally:
        busy = gpu.stop() if gpu is not None else None
    measured.articles = max(measured.articles, timed)
    # Of the time with segmenting in it: here the GPU waits for that, too.
    actor = max(each - segmenter.each, 0.0)
    return StageTime(actor, segmenter.each, min(busy * each / actor, 1.0) if busy is not None and actor else None)


def _try_training(
    pinned: Pinned, training: PlannedTraining, device: str, measured: _Measured
) -> "dict[str, PolicySystem]":
    """Prepare some articles and make two updates of each kind of policy; the policies as they are then, by system."""
    from core.learning.learner import train
    from jobs.drive.stored_policies import stored_systems
    from jobs.drive.training import checkpoint_of, new_learner

    started = time.perf_counter()
    runner = functools.partial(make_episode_runner, training.plan, device, pinned.recipe.gpu_memory_fraction)
    pool = inline_episodes(runner)
    measured.loading += time.perf_counter() - started

    articles = _spread(training.corpora, _TRAINING_ARTICLES)
    total = sum(1 for corpus in training.corpora for _ in corpus)
    started = time.perf_counter()
    prepared = list(itertools.chain.from_iterable(pool.prepare(articles, _nothing)))
    seconds = (time.perf_counter() - started) / len(articles) * total
    measured.failures += [failure for _, failure in prepared if failure is not None]
    usable = [article for article, failure in prepared if failure is None]
    if not usable:
        raise NwsError(f"None of {len(articles)} training articles can be used: {measured.failures[0].message}")
    measured.articles = len(usable)

    learn = functools.partial(pool.learn, look_around=_nothing)
    episode_seconds: dict[object, float] = {}
    learners = [new_learner(config, training) for config in training.configs]
    checkpoints = [checkpoint_of(learner, training, total) for learner in learners]
    for learner in learners:
        config = learner.training
        kind = replace(config, name="", seed=0)
        if kind not in episode_seconds:
            updates = train([learner], learn, usable)
            each, _ = _seconds_each([(1,), (2,)], lambda _, updates=updates: next(updates))  # type: ignore[misc]
            # An update of few articles has fewer episodes than one of the run.
            episode_seconds[kind] = each / min(config.articles_per_update, len(usable) * len(config.lengths))
        seconds += episode_seconds[kind] * config.passes * total * len(config.lengths)
    measured.stages["training"] = StageTime(seconds)
    return stored_systems("of a trial", checkpoints, pinned.metrics.bertscore, pinned.metrics.fluency)


def _seconds_each(parts: Iterable[Sequence[Item]], work: Callable[[Sequence[Item]], object]) -> tuple[float, int]:
    """Seconds for one item, and how many items were timed: at least those of two parts, without the first of them."""
    began = time.perf_counter()
    first, seconds, items = (0.0, 1), 0.0, 0
    for number, part in enumerate(parts):
        started = time.perf_counter()
        work(part)
        took = time.perf_counter() - started
        if number == 0:
            first = took / len(part), len(part)
        else:
            seconds, items = seconds + took, items + len(part)
            if time.perf_counter() - began >= ENOUGH_SECONDS:
                break
    return (seconds / items, items) if items else first


def _spread(corpora: Sequence[Corpus], most: int) -> list[Article]:
    """At most so many articles: at equal distances, or of a stream the first ones."""
    sizes = [None if corpus.known is None else len(corpus.known.ids) for corpus in corpora]
    if None in sizes:
        return list(itertools.islice(itertools.chain.from_iterable(corpora), most))
    total = sum(size for size in sizes if size is not None)
    wanted = np.zeros(total, dtype=np.bool_)
    wanted[np.linspace(0, total - 1, min(most, total)).astype(np.int64)] = True
    articles: list[Article] = []
    for corpus, last in zip(corpora, np.cumsum([size for size in sizes if size is not None]), strict=True):
        if corpus.known is not None:
            articles += corpus.known.read(wanted[last - len(corpus.known.ids) : last])
    return articles


def _nothing() -> None:
    """An inline pool looks around for who might interrupt it: nobody does."""


def _peak_memory() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # Linux counts in KiB


def _peak_gpu_memory() -> int:
    import torch

    return torch.cuda.max_memory_allocated()
