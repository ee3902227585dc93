"""How fast a run goes, for Prometheus: Ray exports it from every machine. It imports ray: see `actor_pool`.

Ray puts `ray_` before these names, and `_total` behind those of counters. A stage counts its own articles.
"""

import statistics
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import ray
from ray.util.metrics import Counter, Gauge

from core.types import Landed

if TYPE_CHECKING:
    # It brings torch along, which not every process has a use for.
    from core.learning.exchange import ArticleGradient, Request

_WINDOW_SECONDS = 30.0


class Rate:
    """A gauge of a rate per second, over the last half minute."""

    def __init__(self, gauge: Gauge) -> None:
        self._gauge = gauge
        self._total = 0
        self._marks = deque([(time.monotonic(), 0)])

    def add(self, count: int) -> None:
        """Count this many more, which may be 0."""
        now = time.monotonic()
        self._total += count
        self._marks.append((now, self._total))
        while now - self._marks[1][0] >= _WINDOW_SECONDS:
            self._marks.popleft()
        started, before = self._marks[0]
        if now > started:
            self._gauge.set((self._total - before) / (now - started))


class SweepMetrics:
    """What the driver counts: articles and summaries. The tag `run` is the namespace of the session."""

    def __init__(self) -> None:
        run = {"run": ray.get_runtime_context().namespace}
        self._done = Counter("nws_articles_done", "Articles that got their summaries.", tuple(run))
        self._failed = Counter("nws_articles_failed", "Articles that were given up.", tuple(run))
        self._summaries = Counter("nws_summaries", "Summaries written and scored.", tuple(run))
        gauge = Gauge("nws_summaries_per_second", "Summaries written and scored, of late.", tuple(run))
        for metric in (self._done, self._failed, self._summaries, gauge):
            metric.set_default_tags(run)
        self._rate = Rate(gauge)

    def count(self, landed: Sequence[Landed]) -> None:
        """Count what landed, if anything did."""
        failed = sum(len(result.failures) for _, result in landed)
        summaries = sum(len(result.summaries) for _, result in landed)
        done = sum(len(bundle) for bundle, _ in landed) - failed
        for counter, count in ((self._done, done), (self._failed, failed), (self._summaries, summaries)):
            if count:  # Ray refuses 0
                counter.inc(count)
        self._rate.add(summaries)


class TrainingMetrics:
    """What the driver of a training counts: episodes, and how good they were. `run` is as for `SweepMetrics`."""

    def __init__(self) -> None:
        run = {"run": ray.get_runtime_context().namespace}
        self._episodes = Counter("nws_episodes", "Episodes that policies were trained on.", tuple(run))
        self._reward = Gauge("nws_reward", "Mean reward of a policy's episodes in its last update.", ("run", "policy"))
        for metric in (self._episodes, self._reward):
            metric.set_default_tags(run)

    def count(self, requests: "Sequence[Request]", answers: "Sequence[Sequence[ArticleGradient]]") -> None:
        """Count one update of each policy that was asked for."""
        for (broadcast, _), gradients in zip(requests, answers, strict=True):
            rewards = [sample.reward for gradient in gradients for sample in gradient.samples]
            if rewards:
                self._episodes.inc(len(rewards))
                self._reward.set(statistics.fmean(rewards), {"policy": broadcast.training.name})


def token_rate() -> Rate:
    """What an actor counts: the tokens that its models read and write, without padding."""
    context = ray.get_runtime_context()
    tags = {"run": context.namespace, "actor": context.get_actor_name()}
    gauge = Gauge("nws_tokens_per_second", "Tokens that the models of an actor worked on, of late.", tuple(tags))
    gauge.set_default_tags(tags)
    return Rate(gauge)
