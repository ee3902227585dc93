"""Which errors are a device's and no text's fault, and which of them say that its memory ran out.

It imports no torch: processes that only segment have no use for it. Where torch was never imported, no error is its.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import DeviceError, PluginError

# What CUDA and its libraries are called in the errors of torch, and their status codes.
_DEVICE = re.compile(
    r"\b(CUDA|cuDNN|cuBLAS|cuBLASLt|cuSPARSE|cuSOLVER|cuFFT|cuRAND|NVRTC|NCCL|HIP)( driver| runtime| frontend)? error\b"
    r"|\b(CUDA|CUBLAS|CUDNN|CUSPARSE|CUSOLVER|CUFFT|CURAND|NVRTC|NVML)_(STATUS|ERROR|SUCCESS|ALLOC|INTERNAL|EXEC)\w*"
    r"|\bCUDA (out of memory|unknown error|call failed)|\bcudaError\w*|\bNo CUDA GPUs are available"
    r"|\bunable to find an engine to execute this computation|\bUnable to find a valid cuDNN algorithm",
    re.IGNORECASE,
)
_MEMORY = re.compile(
    r"\bCUDA (driver |runtime )?error: out of memory|\bCUDA out of memory|\bcudaErrorMemoryAllocation"
    r"|\b(CUBLAS|CUDNN|CUSPARSE|CUSOLVER|CURAND)_STATUS_\w*ALLOC\w*|\bCUFFT_ALLOC_FAILED|\bCUDA_ERROR_OUT_OF_MEMORY",
    re.IGNORECASE,
)


def is_device_error(error: BaseException) -> bool:
    """Whether it is an error of CUDA or of a library on it, also where a plugin's error was caused by one."""
    return isinstance(error, DeviceError) or _origin(error) is not None


def is_memory_error(error: BaseException) -> bool:
    """Whether a device's memory ran out: fewer texts at once, or fewer processes, may help."""
    origin = _origin(error)
    if origin is None:
        return False
    return type(origin).__name__ == "OutOfMemoryError" or _MEMORY.search(str(origin)) is not None


def as_device_error(error: BaseException) -> DeviceError:
    """The same in words, for an error that `is_device_error`."""
    if isinstance(error, DeviceError):
        return error
    origin = _origin(error) or error
    # The lines after the first are advice for who debugs kernels.
    said = str(origin).partition("\n")[0] or type(origin).__name__
    if is_memory_error(error):
        return DeviceError(
            f"The GPU has no memory left, not even for one text: {said}. `nvidia-smi` says which processes have it. "
            "End those that are not needed, or ask for fewer actors on a GPU (`--actors`)."
        )
    return DeviceError(
        f"The GPU failed: {said}. If this comes again, look for its cause with `nvidia-smi` and in the system's log "
        "(`dmesg`, lines with Xid)."
    )


@contextmanager
def device_errors_in_words() -> Iterator[None]:
    """What a device raises in the block becomes a `DeviceError`; all else passes as it is."""
    try:
        yield
    except (RuntimeError, PluginError) as error:
        if not is_device_error(error):
            raise
        raise as_device_error(error) from error


def _origin(error: BaseException) -> BaseException | None:
    """The error of torch that this one is, or was caused by."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    cause: BaseException | None = error
    while cause is not None:
        is_of_torch = isinstance(cause, torch.OutOfMemoryError | torch.AcceleratorError)
        if is_of_torch or (isinstance(cause, RuntimeError) and _DEVICE.search(str(cause))):
            return cause
        cause = cause.__cause__
    return None
