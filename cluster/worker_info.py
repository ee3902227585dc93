"""A process that holds models, as a run records it."""

import functools
import platform
import re
import socket
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from core.provenance import Software, software
from core.types import ROWS_DEPEND


@dataclass(frozen=True, slots=True, order=True)
class WorkerInfo:
    """A worker: the name of its machine, the model of its CPU or GPU, and how that multiplies.

    Workers of one `arithmetic` and `software` give the same numbers, so far as is known; the first is empty where
    nothing needed torch.
    """

    device: str
    node: str
    arithmetic: str = ""
    software: Software = ()

    def __str__(self) -> str:
        return f"{self.device} on {self.node}"


def rows_warning(ways: Iterable[str]) -> str:
    """What it means for a run's numbers where a way to multiply does not keep rows apart; empty if all of them do.

    It advises only what may help: MKL's own mode where that is not set.

    Args:
        ways: the `arithmetic` of the run's workers.
    """
    depending = [way for way in ways if ROWS_DEPEND in way]
    if not depending:
        return ""
    may_help = any("MKL" in way and "MKL AUTO,STRICT" not in way and "without MKL" not in way for way in depending)
    return (
        f"{ROWS_DEPEND}: scores agree to about 1e-6 only with those of another batch, and a training with another "
        f"number of workers becomes another one.{' Unset MKL_CBWR to keep rows apart.' if may_help else ''}"
    )


def this_worker() -> WorkerInfo:
    """This process, once its models are loaded."""
    # Not imported for this: where nothing needed torch, no model is on a GPU. The first one initialises CUDA.
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        from core.arithmetic import describe_gpu_arithmetic

        return WorkerInfo(torch.cuda.get_device_name(), socket.gethostname(), describe_gpu_arithmetic(), software())
    arithmetic = sys.modules.get("core.arithmetic")
    described = "" if arithmetic is None else arithmetic.describe_arithmetic()
    return WorkerInfo(_cpu(), socket.gethostname(), described, software())


@functools.cache
def _cpu() -> str:
    try:
        match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        match = None
    return match[1].strip() if match else platform.processor() or "CPU"
