"""What the benchmark ran on."""

import platform
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from core.models.fast_linear import PackedLinear, onednn_is_faster


def cpu_model() -> str:
    """The CPU's name, e.g. `AMD EPYC`."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def linear_gflops() -> dict[str, float]:
    """The rate at which one thread multiplies, in GFLOP/s, by what multiplies: the best of 20 float32 layers."""
    size = 1024
    layer, inputs = nn.Linear(size, size), torch.randn(size, size)
    rates = {"nn.Linear": _best_seconds(layer, inputs)}
    if onednn_is_faster():
        rates["oneDNN"] = _best_seconds(PackedLinear(layer.weight, layer.bias), inputs)
    return {name: 2 * size**3 / seconds / 1e9 for name, seconds in rates.items()}


def _best_seconds(layer: Callable[[torch.Tensor], torch.Tensor], inputs: torch.Tensor) -> float:
    times = []
    with torch.inference_mode():
        for _ in range(20):
            started = time.process_time()
            layer(inputs)
            times.append(time.process_time() - started)
    return min(times)
