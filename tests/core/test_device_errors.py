"""Errors of devices, with the texts that torch raises them with."""

import pickle
import re

import pytest
import torch

from nws.core.errors import (
    DeviceError,
    PluginError,
    as_device_error,
    device_errors_in_words,
    is_device_error,
    is_memory_error,
)
from nws.core.models.batching import TokenBudget

GPU = torch.device("cuda", 0)
CUBLAS = "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"
MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.18 GiB"),
    RuntimeError(CUBLAS),
    RuntimeError("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"),
    torch.AcceleratorError("CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported"),
    RuntimeError("CUDA driver error: out of memory"),
]
DISTRACTORS = [
    torch.AcceleratorError("CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be"),
    torch.AcceleratorError("CUDA error: device-side assert triggered"),
    RuntimeError("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"),
    RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"),
    RuntimeError("cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling `cusolverDnCreate(handle)`"),
    RuntimeError("cuFFT error: CUFFT_INTERNAL_ERROR"),
    RuntimeError("No CUDA GPUs are available"),
]
NONE = [
    RuntimeError("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0"),
    ValueError(CUBLAS),
    MemoryError(),
    PluginError("a plugin talks of CUDA error: out of memory"),
]


@pytest.mark.parametrize("error", [*MEMORY, *DISTRACTORS, *NONE], ids=str)
def test_which_errors_are_a_devices(error: Exception) -> None:
    assert is_device_error(error) == (error not in NONE)
    assert is_memory_error(error) == (error in MEMORY)


@pytest.mark.parametrize("error", MEMORY, ids=str)
def test_a_pass_is_halved_whatever_says_that_memory_ran_out(error: RuntimeError) -> None:
    passes = []

    def forward(batch: list[int]) -> None:
        if len(batch) > 2:
            raise error
        passes.append(batch)

    TokenBudget("model", GPU, 64).run([8] * 8, forward)
    assert sorted(i for batch in passes for i in batch) == list(range(8))

    def never(batch: list[int]) -> None:
        raise error

    said = f"no memory left, not even for one text.*{re.escape(str(error).splitlines()[0][:30])}"
    with pytest.raises(DeviceError, match=said):
        TokenBudget("model", GPU, 64).run([8] * 8, never)


def test_any_other_error_of_the_device_is_not_tried_again() -> None:
    tried = []

    def forward(batch: list[int]) -> None:
        tried.append(batch)
        raise DISTRACTORS[0]

    with pytest.raises(DeviceError, match=r"^The GPU failed: CUDA error: an illegal memory access was encountered\. "):
        TokenBudget("model", GPU, 64).run([8] * 8, forward)
    assert len(tried) == 1


def test_it_travels_from_a_plugin_too_and_all_else_passes() -> None:
    error = PluginError("the plugin failed")
    error.__cause__ = MEMORY[1]
    assert is_device_error(error)
    again = pickle.loads(pickle.dumps(as_device_error(error)))
    assert isinstance(again, DeviceError)
    assert "no memory left, not even for one text: CUDA error: CUBLAS_STATUS_ALLOC_FAILED" in str(again)
    with pytest.raises(RuntimeError, match="size of tensor"), device_errors_in_words():
        raise NONE[0]
