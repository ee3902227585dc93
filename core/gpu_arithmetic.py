"""The device that computes, and which numbers a GPU multiplies.

Exact float32 everywhere, and TF32 within the passes of models that ask for it.
"""

from typing import Any, Literal, TypeVar

import torch

from core.arithmetic import set_switches
from core.errors import ModelError
from core.precision import AMPERE, Precision

Model = TypeVar("Model", bound=torch.nn.Module)
_DTYPES = {"float32": torch.float32, "tf32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


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
        model.register_forward_pre_hook(_allow_tf32)
        model.register_forward_hook(_forbid_tf32, always_call=True)
    return model


def multiply_exactly() -> None:
    """Turn TF32 off in this process, whatever its environment says (TORCH_ALLOW_TF32_CUBLAS_OVERRIDE).

    cuDNN's convolutions and recurrent layers have it on from the start.
    """
    set_float32_products("ieee")
    cudnn: Any = torch.backends.cudnn
    if _has_new_switch():
        cudnn.conv.fp32_precision = cudnn.rnn.fp32_precision = "ieee"
    else:
        cudnn.allow_tf32 = False


def _allow_tf32(*_: Any) -> None:
    set_float32_products("tf32")


def _forbid_tf32(*_: Any) -> None:
    set_float32_products("ieee")


def set_float32_products(precision: Literal["ieee", "tf32"]) -> None:
    """Multiply float32 matrices on GPUs exactly or in TF32, in this process from now on."""
    if _has_new_switch():
        torch.backends.cuda.matmul.fp32_precision = precision
    else:
        torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"


def _has_new_switch() -> bool:
    # Since torch 2.9. Who sets both the new and the old one gets errors when the old one is read.
    return hasattr(torch.backends.cuda.matmul, "fp32_precision")
