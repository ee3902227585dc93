"""A process that holds models, as a run records it."""

import functools
import platform
import re
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path

from core.provenance import Software, software


@dataclass(frozen=True, slots=True, order=True)
class WorkerInfo:
    """The name of its machine, the model of what it computes on, and how that multiplies.

    `ray_node` is Ray's id of its node, empty where there is no Ray; it tells no workers apart.

    Workers of one `arithmetic` and `software` give the same numbers, so far as is known; the first is empty where
    nothing needed torch.
    """

    device: str
    node: str
    arithmetic: str = ""
    software: Software = ()
    ray_node: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.device} on {self.node}"


@dataclass(frozen=True, slots=True)
class Busy:
    """For how many seconds, since its models were loaded, the actor of a number has had work.

    Work that waits for its articles to be segmented counts, too: the driver sees no difference.
    """

    number: int
    worker: WorkerInfo
    seconds: float


def this_worker() -> WorkerInfo:
    """This process, once its models are loaded."""
    gpu = _gpu()
    arithmetic = _gpu_arithmetic() if gpu else _cpu_arithmetic()
    return WorkerInfo(gpu or _cpu(), socket.gethostname(), arithmetic, software(), _ray_node())


def _ray_node() -> str:
    # Not imported for this: where nobody has, there is no Ray.
    ray = sys.modules.get("ray")
    return "" if ray is None or not ray.is_initialized() else str(ray.get_runtime_context().get_node_id())


def _gpu() -> str | None:
    # Not imported for this: where nothing needed torch, no model is on a GPU. The first one initialises CUDA.
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    return str(torch.cuda.get_device_name())


def _gpu_arithmetic() -> str:
    from core.arithmetic import describe_gpu_arithmetic  # and with it torch, which is imported by now

    return describe_gpu_arithmetic()


@functools.cache
def _cpu() -> str:
    try:
        match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        match = None
    return match[1].strip() if match else platform.processor() or "CPU"


def _cpu_arithmetic() -> str:
    # As above: not imported for this.
    arithmetic = sys.modules.get("core.arithmetic")
    return "" if arithmetic is None else str(arithmetic.describe_arithmetic())
