"""What runs in Ray's worker processes: the segmenting task and the actor. Like `encoders`, it imports ray."""

import functools
from collections.abc import Callable, Sequence

from ray import cloudpickle

from cluster.pool import SegmentedBundle, Segmenter, Sweeper, segment_bundle, sweep_bundle
from cluster.progress_metrics import token_rate
from cluster.worker import Worker, this_worker
from core.types import Article, BundleResult


@functools.cache
def _segmenter(pickled_factory: bytes) -> Segmenter:
    """Once per worker process. The key is bytes because unpickled factories need not compare equal."""
    factory: Callable[[], Segmenter] = cloudpickle.loads(pickled_factory)
    return factory()


def segment(pickled_factory: bytes, bundle: Sequence[Article]) -> SegmentedBundle:
    """The Ray task: a bundle cut into sentences and chunks."""
    return segment_bundle(_segmenter(pickled_factory), bundle)


class Encoder:
    """The Ray actor: holds the models. `build` comes first."""

    def __init__(self, name: str, make_sweeper: Callable[[], Sweeper]) -> None:
        self._name = name
        self._make_sweeper = make_sweeper

    def build(self) -> Worker:
        """Load the models; where they are now.

        Not in `__init__`: Ray hands on what a method raises, but of what a constructor raises only the text.
        """
        self._sweep = self._make_sweeper()
        self._token_rate = token_rate(self._name)
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
