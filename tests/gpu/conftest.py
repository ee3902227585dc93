"""The GPU, or with NWS_TEST_DEVICE=cpu a CPU in its place, which shows that the tests themselves work."""

import os

import pytest
import torch


@pytest.fixture(scope="session")
def device() -> torch.device:
    """What the tests compute on; skips where it is not there."""
    asked = torch.device(os.environ.get("NWS_TEST_DEVICE", "cuda"))
    if asked.type == "cuda" and not torch.cuda.is_available():
        pytest.skip("PyTorch sees no NVIDIA GPU here (NWS_TEST_DEVICE=cpu tries these tests out on a CPU)")
    return asked


@pytest.fixture
def only_on_gpu(device: torch.device) -> None:
    """For what a CPU has not: memory that a process may take a part of."""
    if device.type != "cuda":
        pytest.skip("this needs memory of a GPU")
