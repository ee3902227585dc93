"""TF32 and exact float32. The switches are PyTorch's own; the GPUs are a capability and a name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from core import arithmetic
from core.arithmetic import multiply_exactly, put_on, require_precision
from core.errors import ModelError
from core.metrics.bertscore import BertScorer
from core.metrics.config import BertScoreConfig
from core.models import parse_model, resolve_model
from core.models.encoders import load_encoder
from core.types import Precision

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)


@pytest.fixture
def switch(monkeypatch: pytest.MonkeyPatch) -> object:
    """The matmul switch of torch, which refuses other names and values."""

    class Switch:
        def __init__(self, names: set[str]) -> None:
            self.__dict__["values"] = dict.fromkeys(names, "from the environment")

        def __getattr__(self, name: str) -> object:
            if name not in self.values:
                raise AttributeError("Unknown attribute " + name)
            return self.values[name]

        def __setattr__(self, name: str, value: object) -> None:
            if name not in self.values or value not in ("ieee", "tf32"):
                raise AttributeError(f"Unknown attribute {name} or value {value}")
            self.values[name] = value

    matmul = Switch({"fp32_precision"})
    monkeypatch.setattr(torch.backends.cuda, "matmul", matmul)
    for part in ("conv", "rnn"):
        monkeypatch.setattr(torch.backends.cudnn, part, Switch({"fp32_precision"}))
    return lambda: matmul.fp32_precision


@pytest.fixture
def capability(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"card {device.index}")


def has(monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int]) -> None:
    def of(device: torch.device) -> tuple[int, int]:
        if device.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {device}")
        return capability

    monkeypatch.setattr(torch.cuda, "get_device_capability", of)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"card of {capability}")


@pytest.mark.parametrize(
    ("precision", "capability", "refused"),
    [
        ("float32", (7, 5), False),
        ("float16", (7, 5), False),
        ("bfloat16", (7, 5), True),
        ("tf32", (7, 5), True),
        ("bfloat16", (8, 0), False),
        ("tf32", (8, 0), False),
        ("tf32", (9, 0), False),
    ],
)
def test_what_a_gpu_has_not_is_refused_with_what_to_use(
    precision: Precision, capability: tuple[int, int], refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    has(monkeypatch, capability)
    if not refused:
        require_precision(precision, GPU)
        return
    with pytest.raises(ModelError, match=rf"has no {precision}: .*7\.5.*`precision: float32`.*`float16`"):
        require_precision(precision, GPU)


def test_a_cpu_has_no_tf32(tiny_models: dict[str, Path]) -> None:
    ref = resolve_model(parse_model(str(tiny_models["bert"])))
    with pytest.raises(ModelError, match=r"needs an NVIDIA GPU.*Use `float32`"):
        load_encoder(ref, CPU, "tf32")
    with pytest.raises(ModelError, match=r"needs an NVIDIA GPU.*Use `float32`"):
        BertScorer(BertScoreConfig(ref, 1, precision="tf32"), CPU)
    require_precision("bfloat16", CPU)


class Noting(torch.nn.Module):
    """A model that notes how its process multiplies while it is at work."""

    def __init__(self, switch: object) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))
        self.switch, self.seen = switch, []

    def to(self, **where: object) -> "Noting":
        assert where["device"] == GPU  # which is not here
        return super().to(dtype=where["dtype"])

    def forward(self, fail: bool = False) -> None:
        self.seen.append(self.switch())
        if fail:
            raise torch.OutOfMemoryError


def test_each_pass_has_its_own_precision(switch: object, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, (9, 0))
    exact = put_on(Noting(switch), GPU, "float32")
    assert switch() == "ieee", "whatever the environment says"
    rounded = put_on(Noting(switch), GPU, "tf32")
    assert switch() == "ieee"
    for model in (exact, rounded, exact):
        model()
    with pytest.raises(torch.OutOfMemoryError):
        rounded(fail=True)
    exact()
    assert (exact.seen, rounded.seen) == (["ieee"] * 3, ["tf32"] * 2)
    assert (exact.weight.dtype, rounded.weight.dtype) == (torch.float32, torch.float32)


def test_tf32_is_part_of_the_signature(tiny_models: dict[str, Path]) -> None:
    ref = resolve_model(parse_model(str(tiny_models["bert"])))
    assert BertScoreConfig(ref, 1, precision="tf32").signature.endswith("|precision:tf32")


def test_the_environment_does_not_turn_tf32_on() -> None:
    """In a process of its own, since the switches are the process's, and with PyTorch's own."""
    code = (
        "import torch; b = torch.backends; first = b.cuda.matmul.fp32_precision\n"
        "from core.arithmetic import multiply_exactly\n"
        "multiply_exactly(); print(first, b.cuda.matmul.fp32_precision, b.cudnn.conv.fp32_precision, "
        "b.cudnn.rnn.fp32_precision)"
    )
    root = Path(arithmetic.__file__).parents[1]
    environment = {**os.environ, "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1", "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split() == ["tf32", "ieee", "ieee", "ieee"]


def test_a_worker_on_a_gpu_multiplies_exactly(switch: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.sweep import take_share

    cudnn_attention = []
    monkeypatch.setattr(torch.backends.cuda, "enable_cudnn_sdp", cudnn_attention.append)
    threads = torch.get_num_threads()
    try:
        take_share("cpu", None)
        assert (switch(), cudnn_attention) == ("from the environment", [])
        take_share("cuda", None)
        assert (switch(), cudnn_attention) == ("ieee", [False])
    finally:
        torch.set_num_threads(threads)
    multiply_exactly()
