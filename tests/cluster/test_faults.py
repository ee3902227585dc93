"""What Ray's exceptions become, in a process of its own: importing them here would import Ray before its session."""

import json
import os
from pathlib import Path

import pytest
from ray_head import run_script

SCRIPT = """
import json
from dataclasses import asdict
from ray.exceptions import NodeDiedError, OutOfMemoryError, RayTaskError, WorkerCrashedError
from cluster import monitors
from core.errors import ModelError

def raised(cause):
    try:
        return asdict(monitors.segments_loss(RayTaskError("segment", "trace", cause)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"

print(json.dumps({
    "memory": asdict(monitors.loss(OutOfMemoryError("node-7 used\\n  15.2GB of 16GB"), "node-7", True)),
    "long": len(monitors.loss(NodeDiedError("x " * 10_000), "node-7", False).message),
    "task": [
        raised(cause) for cause in (OutOfMemoryError("15GB"), WorkerCrashedError(), ModelError("no"), KeyError("k"))
    ],
}))
"""


@pytest.mark.ray
def test_faults_in_our_words(tmp_path: Path) -> None:
    found = json.loads(run_script(SCRIPT, tmp_path, dict(os.environ)))
    memory = found["memory"]
    assert memory == {
        "error_class": "OutOfMemoryError",
        "message": "out of memory: node-7 used 15.2GB of 16GB",
        "node": "node-7",
        "charged": True,
    }
    assert found["long"] == 600
    first, second, *others = found["task"]
    assert (first["error_class"], first["message"], first["charged"]) == (
        "OutOfMemoryError",
        "out of memory: 15GB",
        True,
    )
    assert second["error_class"] == "WorkerCrashedError"
    assert others == ["ModelError: no", "ClusterError: The work cannot be run: KeyError: 'k'"]
