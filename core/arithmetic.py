"""Matrix products: float32 on a CPU and on a GPU, or on a GPU less, within the passes of models that ask for it.

On a CPU each row of a product comes out the same to the last bit, whatever rows are multiplied with it. Training needs
that: which texts share a product depends on the number of workers, and a reward that differs in its
seventh digit soon leads to other summaries. By default MKL, which multiplies for PyTorch on Intel CPUs, sums in an
order that depends on the shape of the whole matrix. In the mode `MKL_CBWR=AUTO,STRICT` it did not do so for any shape
that was tried, and took up to a tenth more CPU time. Intel promises this only for a change in the number of threads
(oneMKL Developer Guide, "Obtaining Numerically Reproducible Results"). On AMD CPUs oneDNN multiplies the layers
(`PackedLinear`), and MKL all else. There MKL takes another way for one to three rows, so `multiply_rows` never asks it
for so few. `rows_are_independent` tries both, and a run records what it multiplied with.

PyTorch ships both libraries and takes MKL for `nn.Linear`. On an AMD core with AVX-512 (Zen 5) MKL reaches
100 GFLOP/s and oneDNN, with the weight matrix laid out for it once, 230; with AVX2 (Zen 3) 47 and 52, and 19 and 43 in
the last layer of a language model. Linear layers are most of a sweep's time: `python -m bench.sweep` shows it with and
without.

MKL reads the mode once, at its first product. `core/__init__.py` sets it. That is early enough, unless a notebook
multiplies before it imports NWS.
"""

import contextlib
import functools
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeVar

import torch
from threadpoolctl import threadpool_limits
from torch import nn

from nws.core.errors import ModelError
from nws.core.types import AMPERE, ROWS_DEPEND, Precision

Model = TypeVar("Model", bound=nn.Module)
CPUINFO = Path("/proc/cpuinfo")

_DTYPES = {"float32": torch.float32, "tf32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
# Environment variables with which the libraries of a run compute other numbers.
# How many threads compute is set by `nws.core.sweep.configure_worker_process`, and MKL_CBWR is named with MKL.
_SWITCHES = (
    *("ATEN_CPU_CAPABILITY", "DNNL_DEFAULT_FPMATH_MODE", "DNNL_MAX_CPU_ISA", "GLIBC_TUNABLES", "KIWI_ARCH_TYPE"),
    *("MKL_DEBUG_CPU_TYPE", "MKL_ENABLE_INSTRUCTIONS", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES"),
    *("BLIS_ARCH_TYPE", "ONEDNN_DEFAULT_FPMATH_MODE", "ONEDNN_MAX_CPU_ISA", "OPENBLAS_CORETYPE", "USE_HUB_KERNELS"),
    *("CUBLASLT_WORKSPACE_SIZE", "CUBLAS_WORKSPACE_CONFIG", "DISABLE_ADDMM_CUDA_LT", "NVIDIA_TF32_OVERRIDE"),
    *("CUBLAS_EMULATE_DOUBLE_PRECISION", "CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATION_STRATEGY"),
    *("DNNL_CPU_ISA_HINTS", "ONEDNN_CPU_ISA_HINTS", "PYTORCH_TUNABLEOP_ENABLED", "TORCH_BLAS_PREFER_CUBLASLT"),
)
# (in features, out features) of layers as encoders have them, and (tokens, dimensions) of a reference.
_LAYERS = ((384, 1536), (1536, 384))
_REFERENCE = (60, 384)
# MKL on an AMD EPYC (Zen 5) gave all rows the same bits in every product of 4 to 600 rows and 2 to 512 columns.
_FEWEST_ROWS = 8
# How many rows are multiplied at a time.
_ROWS = (1, 2, 3, 5, 8, 13, 16, 17, 31, 33, 47, 60, 64, 65, 90, 127, 130)


class PackedLinear(nn.Module):
    """`nn.Linear` for inference on a CPU, with the weight matrix in oneDNN's layout only."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        super().__init__()
        # Opaque, but with a dtype, which some models (T5) read from their layers' `weight`.
        self.weight: torch.Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.detach())
        self.bias = None if bias is None else bias.detach()

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """From (..., in features) to (..., out features)."""
        if inputs.numel() == inputs.shape[-1]:
            # oneDNN sums a single row in another order than the same row among others: see above.
            return self._multiply(inputs.expand(2, *inputs.shape))[0]
        return self._multiply(inputs)

    def _multiply(self, inputs: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = torch.ops.mkldnn._linear_pointwise(inputs, self.weight, self.bias, "none", [], "")
        return output


def speed_up_linear_layers(model: nn.Module) -> None:
    """Replace the float32 `nn.Linear` layers of a model on a CPU, in place, where oneDNN is faster.

    The kind of CPU decides, and no timing, so that every worker of a machine decides alike.
    """
    if not onednn_is_faster():
        return
    for parent in list(model.modules()):
        for name, layer in parent.named_children():
            # Only the exact class, since a model may use a subclass otherwise than by calling it.
            if type(layer) is nn.Linear and layer.weight.device.type == "cpu" and layer.weight.dtype == torch.float32:
                setattr(parent, name, PackedLinear(layer.weight, layer.bias))


@functools.cache
def onednn_is_faster() -> bool:
    """Whether oneDNN is faster than MKL on this kind of CPU (AMD's with AVX2), and PyTorch has these layers."""
    # Linux's description of the CPUs; other systems have no such file.
    is_amd = CPUINFO.is_file() and "AuthenticAMD" in CPUINFO.read_text(encoding="utf-8", errors="replace")
    return is_amd and torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512") and onednn_works()


def onednn_works() -> bool:
    """Whether a packed layer can be computed: PyTorch does not promise these operations."""
    try:
        PackedLinear(torch.eye(4), None)(torch.eye(4))
    except (AttributeError, RuntimeError, TypeError):  # no such operation, not for this CPU, other arguments
        return False
    return True


@functools.cache
def describe_arithmetic() -> str:
    """What multiplies on this machine, as runs record it, e.g. `AVX512, MKL AUTO,STRICT, CPU kind 6-143`.

    Two machines of one description are taken to give the same numbers.
    """
    mode = os.environ.get("MKL_CBWR") or "in its own mode"
    library = f"MKL {mode}" if torch.backends.mkl.is_available() else "without MKL"  # type: ignore[no-untyped-call]
    parts = [torch.backends.cpu.get_cpu_capability(), library, f"CPU kind {_cpu_kind(CPUINFO)}"]
    parts += ["oneDNN for layers"] if onednn_is_faster() else []
    parts += [] if rows_are_independent() else [ROWS_DEPEND]
    parts += set_switches()
    return ", ".join(parts)


def set_switches() -> list[str]:
    """Variables of this process with which libraries compute other numbers, each as `NAME=value`."""
    return [f"{name}={os.environ[name]}" for name in _SWITCHES if os.environ.get(name)]


def multiply_rows(rows: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """The product of each of `rows`, (rows, width), with each of `others`, (columns, width): (rows, columns).

    Where the library keeps to what is tried here, the bits of a row do not depend on the other rows.
    """
    missing = _FEWEST_ROWS - len(rows)
    if missing <= 0:
        return rows @ others.T
    return (nn.functional.pad(rows, (0, 0, 0, missing)) @ others.T)[: len(rows)]


@functools.cache
def rows_are_independent() -> bool:
    """Whether a row came out the same in products of several sizes. A trial of some milliseconds, not a proof."""
    generator = torch.Generator().manual_seed(0)
    for width, height in _LAYERS:
        weight = torch.randn(height, width, generator=generator)
        layer = (
            PackedLinear(weight, None) if onednn_is_faster() else functools.partial(nn.functional.linear, weight=weight)
        )
        if not keeps_rows(layer, width):
            return False
    # As BERTScore compares tokens. Only layers may be multiplied by oneDNN.
    reference = torch.randn(_REFERENCE, generator=generator)
    return keeps_rows(lambda rows: multiply_rows(rows, reference), _REFERENCE[1])


def keeps_rows(multiply: Callable[[torch.Tensor], torch.Tensor], width: int) -> bool:
    """Whether rows of `width` numbers come out bit for bit the same, few or many at a time."""
    rows = torch.randn(max(_ROWS), width, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        together = multiply(rows)
        return all(torch.equal(multiply(rows[:count]), together[:count]) for count in _ROWS)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one CPU thread within the block, as a worker does, and on as many as before after it.

    The products of short texts are so small that several threads wait for each other most of the time, and a sum that
    is split over threads rounds differently.
    """
    threads = torch.get_num_threads()
    try:
        with threadpool_limits(1, user_api="blas"):  # NumPy's
            torch.set_num_threads(1)
            yield
    finally:
        torch.set_num_threads(threads)


def _cpu_kind(cpuinfo: Path) -> str:
    """Family and model of the CPU, as Linux numbers them: virtual machines hide its name. Of ARM, each kind of core."""
    text = cpuinfo.read_text(encoding="utf-8", errors="replace") if cpuinfo.is_file() else ""
    for names in (("cpu family", "model"), ("CPU implementer", "CPU variant", "CPU part", "CPU revision")):
        values = [re.findall(rf"^{name}\s*:\s*(\w+)\s*$", text, re.MULTILINE) for name in names]
        kinds = sorted({"-".join(kind) for kind in zip(*values, strict=False)})
        if kinds:
            return "+".join(kinds)
    return "of unknown kind"


def find_device(name: str) -> torch.device:
    """The device called `cpu`, or `cuda`: the GPU that this process uses, with its index.

    Without an index, some functions of `torch.cuda` take a device and others raise a ValueError.
    """
    return torch.device(name, torch.cuda.current_device()) if name == "cuda" else torch.device(name)


def describe_gpu_arithmetic() -> str:
    """What multiplies on the GPU of this process: its model, and what the environment sets."""
    return ", ".join([torch.cuda.get_device_name(), *set_switches()])


def require_precision(precision: Precision, device: torch.device) -> None:
    """Refuse a precision that the device has not.

    A CPU has no TF32, and what it computed instead would be stored as TF32. bfloat16 on a GPU without it is emulated,
    and slower than float32.

    Raises:
        ModelError: with a precision to use instead.
    """
    if precision == "tf32" and device.type != "cuda":
        raise ModelError("`precision: tf32` needs an NVIDIA GPU, and this process computes on a CPU. Use `float32`.")
    if precision in ("tf32", "bfloat16") and device.type == "cuda":
        capability = torch.cuda.get_device_capability(device)
        if capability < AMPERE:
            raise ModelError(
                f"The GPU {torch.cuda.get_device_name(device)} has no {precision}: its compute capability is "
                f"{capability[0]}.{capability[1]}, and {precision} needs 8.0. Use `precision: float32`, or the faster "
                "`float16`."
            )


def put_on(model: Model, device: torch.device, precision: Precision) -> Model:
    """Move a model to its device, and let each of its passes compute in `precision`, whatever other models do.

    PyTorch's switch for TF32 is one for the whole process. So it is on within the passes of such a model only, and off
    before and after them, also where a pass fails.

    Raises:
        ModelError: the device has no such precision.
    """
    require_precision(precision, device)
    model.to(device=device, dtype=_DTYPES[precision])
    if device.type == "cuda":
        multiply_exactly()
    if precision == "tf32":
        model.register_forward_pre_hook(lambda *_: set_float32_products("tf32"))
        model.register_forward_hook(lambda *_: set_float32_products("ieee"), always_call=True)
    return model


def multiply_exactly() -> None:
    """Turn TF32 off in this process, whatever its environment says (TORCH_ALLOW_TF32_CUBLAS_OVERRIDE).

    cuDNN's convolutions and recurrent layers have it on from the start.
    """
    set_float32_products("ieee")
    cudnn: Any = torch.backends.cudnn
    cudnn.conv.fp32_precision = cudnn.rnn.fp32_precision = "ieee"


def set_float32_products(precision: Literal["ieee", "tf32"]) -> None:
    """Multiply float32 matrices on GPUs exactly or in TF32, in this process from now on."""
    torch.backends.cuda.matmul.fp32_precision = precision
