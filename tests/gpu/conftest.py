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
