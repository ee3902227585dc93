"""What runs in Ray's worker processes: the segmenting task and the actor. Like `encoders`, it imports ray."""

import functools
import socket
from collections.abc import Callable, Sequence

from ray import cloudpickle

from cluster.pool import SegmentedBundle, Segmenter, Sweeper, segment_bundle, sweep_bundle
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

    def __init__(self, make_sweeper: Callable[[], Sweeper]) -> None:
        self._make_sweeper = make_sweeper

    def build(self) -> str:
        """Load the models; the name of the machine.

        Not in `__init__`: Ray hands on what a method raises, but of what a constructor raises only the text.
        """
        self._sweep = self._make_sweeper()
        return socket.gethostname()

    def sweep(self, segmented: SegmentedBundle) -> BundleResult:
        """One bundle, summarised and scored."""
        return sweep_bundle(self._sweep, segmented)
