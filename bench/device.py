"""What a device does and can do: how busy it is, and how fast it multiplies."""

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import get_args

import torch
from torch import nn

from nws.core.arithmetic import PackedLinear, find_device, onednn_is_faster, set_float32_products
from nws.core.types import AMPERE, Precision

_SAMPLE_MS = 100


def precisions(device: torch.device) -> list[Precision]:
    """Those that a device computes fast in."""
    if device.type == "cpu":
        return ["float32"]
    is_ampere = torch.cuda.get_device_capability(device) >= AMPERE
    return [one for one in get_args(Precision) if is_ampere or one in ("float32", "float16")]


def synchronize(device: torch.device) -> None:
    """Wait until a GPU has done what it was told to do."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


@contextlib.contextmanager
def utilisation(device: torch.device) -> Iterator[list[float]]:
    """Filled, when the block ends, with the GPU's utilisation in percent, every 100 ms; empty without nvidia-smi."""
    samples: list[float] = []
    if device.type != "cuda":
        yield samples
        return
    gpu = f"GPU-{torch.cuda.get_device_properties(device).uuid}"
    command = ["nvidia-smi", "-i", gpu, "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
    try:
        process = subprocess.Popen([*command, f"-lms={_SAMPLE_MS}"], stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        yield samples
        return
    try:
        yield samples
    finally:
        process.terminate()
        samples.extend(float(line) for line in process.communicate()[0].splitlines() if line.strip().isdecimal())


def peak_of(device: torch.device, precision: Precision) -> float:
    """What a large matrix product of a precision reaches, in TFLOP/s."""
    if precision != "tf32":
        return peak_tflops(device, getattr(torch, precision))
    set_float32_products("tf32")
    try:
        return peak_tflops(device, torch.float32)
    finally:
        set_float32_products("ieee")


def peak_tflops(device: torch.device, dtype: torch.dtype) -> float:
    """What the best of ten large matrix products reaches."""
    size = 8192 if device.type == "cuda" else 512
    matrix = torch.randn(size, size, device=device).to(dtype)
    return 2 * size**3 / _best_seconds(lambda: matrix @ matrix, device, time.perf_counter) / 1e12


def linear_gflops() -> dict[str, float]:
    """The rate at which one thread of the CPU multiplies, by what multiplies: the best of ten float32 layers."""
    size, device = 1024, find_device("cpu")
    layer, inputs = nn.Linear(size, size), torch.randn(size, size)
    layers: dict[str, nn.Module] = {"nn.Linear": layer}
    if onednn_is_faster():
        layers["oneDNN"] = PackedLinear(layer.weight, layer.bias)
    with torch.inference_mode():
        seconds = {name: _best_seconds(partial(one, inputs), device, time.process_time) for name, one in layers.items()}
    return {name: 2 * size**3 / spent / 1e9 for name, spent in seconds.items()}


def _best_seconds(multiply: Callable[[], object], device: torch.device, clock: Callable[[], float]) -> float:
    times = []
    for _ in range(10):
        synchronize(device)
        started = clock()
        multiply()
        synchronize(device)
        times.append(clock() - started)
    return min(times)
