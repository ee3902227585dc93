"""What Ray's exceptions become. The conftest has imported Ray with the switches of a session."""

import pytest
from ray.exceptions import NodeDiedError, OutOfMemoryError, RayTaskError, WorkerCrashedError

from nws.cluster import monitors
from nws.cluster.dispatcher import LostTask
from nws.core.errors import ClusterError, ModelError


def test_faults_in_our_words() -> None:
    memory = monitors.loss(OutOfMemoryError("node-7 used\n  15.2GB of 16GB"), "node-7", charged=True)
    assert memory == LostTask("OutOfMemoryError", "out of memory: node-7 used 15.2GB of 16GB", "node-7", True)
    assert len(monitors.loss(NodeDiedError("x " * 10_000), "node-7", charged=False).message) == 600
    for fault in (OutOfMemoryError("15GB"), WorkerCrashedError()):
        loss = monitors.segments_loss(RayTaskError("segment", "trace", fault))
        assert (loss.error_class, loss.charged) == (type(fault).__name__, True)
    with pytest.raises(ModelError, match=r"^no$"):
        monitors.segments_loss(RayTaskError("segment", "trace", ModelError("no")))
    with pytest.raises(ClusterError, match=r"^The work failed: KeyError: 'k'$"):
        monitors.segments_loss(RayTaskError("segment", "trace", KeyError("k")))
