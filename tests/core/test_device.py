"""Devices by name, and the GPU that stands in for one: it must refuse what torch refuses."""

import re
from pathlib import Path

import pytest
import torch
from fake_cuda import FakeCuda

from core.arithmetic import find_device

ROOT = Path(__file__).parents[2]


def test_a_gpu_has_the_index_of_the_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeCuda(count=2, current=1).install(monkeypatch)
    assert find_device("cuda") == torch.device("cuda", 1)
    assert find_device("cpu") == torch.device("cpu")


def test_devices_are_made_in_one_place() -> None:
    files = [file for room in ("core", "cluster", "jobs", "bench") for file in (ROOT / room).rglob("*.py")]
    makers = [file.name for file in files if re.search(r"torch\.device\(", file.read_text())]
    assert makers == ["arithmetic.py"]


def test_the_fake_refuses_what_torch_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeCuda().install(monkeypatch)
    assert not torch.cuda.is_initialized()
    assert torch.cuda.current_device() == 0
    assert torch.cuda.is_initialized()
    with pytest.raises(ValueError, match="with a specified index or an integer"):
        torch.cuda.set_per_process_memory_fraction(0.5, torch.device("cuda"))
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.set_per_process_memory_fraction(0.5, 1)
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.get_device_name(1)


def test_without_a_gpu_the_fake_says_what_torch_says(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeCuda(count=0).install(monkeypatch)
    assert not torch.cuda.is_available()
    with pytest.raises(RuntimeError, match="No CUDA GPUs are available"):
        find_device("cuda")
