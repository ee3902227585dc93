"""Devices by name, and the GPU that stands in for one: it must refuse what torch refuses."""

import re
from pathlib import Path

import pytest
import torch
from fake_cuda import A100, GB, FakeCuda

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
    fake = FakeCuda(kind=A100, reserved=GB).install(monkeypatch)
    assert not torch.cuda.is_initialized()
    torch.cuda.empty_cache()
    assert (fake.emptied, torch.cuda.memory_reserved()) == (0, 0), "nothing before the first use"
    assert torch.cuda.current_device() == 0
    assert torch.cuda.is_initialized()
    for function in (
        torch.cuda.get_per_process_memory_fraction,
        lambda on: torch.cuda.set_per_process_memory_fraction(0.5, on),
    ):
        with pytest.raises(ValueError, match="with a specified index or an integer"):
            function(torch.device("cuda"))
    with pytest.raises(ValueError, match="Allowed range"):
        torch.cuda.set_per_process_memory_fraction(1.5)
    with pytest.raises(TypeError, match="must be `float`"):
        torch.cuda.set_per_process_memory_fraction(1)
    with pytest.raises(ValueError, match="Expected a cuda device"):
        torch.cuda.mem_get_info(torch.device("cpu"))
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.get_device_name(1)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.mem_get_info(1)


def test_without_a_gpu_the_fake_says_what_torch_says(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeCuda(count=0).install(monkeypatch)
    assert not torch.cuda.is_available()
    with pytest.raises(RuntimeError, match="No CUDA GPUs are available"):
        find_device("cuda")
