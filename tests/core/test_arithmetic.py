"""What multiplies. Switches of precision are PyTorch's own; the GPUs are fakes below it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from fake_cuda import T4, FakeCuda

from nws.core import arithmetic
from nws.core.arithmetic import (
    CPUINFO,
    PackedLinear,
    describe_arithmetic,
    describe_gpu_arithmetic,
    find_device,
    keeps_rows,
    multiply_rows,
    put_on,
    require_precision,
    rows_are_independent,
)
from nws.core.errors import ModelError
from nws.core.metrics.bertscore import BertScorer
from nws.core.metrics.config import BertScoreConfig
from nws.core.models import parse_model, resolve_model
from nws.core.models.encoders import load_encoder
from nws.core.sweep import configure_worker_process
from nws.core.types import Precision

ROOT = Path(__file__).parents[2]
CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)
SHAPES = [(384, 384), (384, 1536), (1536, 384), (768, 3072), (3072, 768), (32, 64)]
A100, H100 = ("NVIDIA A100-SXM4-40GB", (8, 0)), ("NVIDIA H100 80GB HBM3", (9, 0))
on_mkl = pytest.mark.skipif(not torch.backends.mkl.is_available(), reason="this PyTorch multiplies without MKL")


@pytest.fixture(autouse=True)
def _no_switch_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """As some machines set one for all that runs there, such as OPENBLAS_CORETYPE."""
    for switch in arithmetic._SWITCHES:
        monkeypatch.delenv(switch, raising=False)


def printed(code: str, **environment: str) -> str:
    """By a new process, without the mode of MKL that this one has set."""
    inherited = {name: value for name, value in os.environ.items() if name != "MKL_CBWR"}
    return subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, env=inherited | environment, text=True)


@pytest.mark.parametrize(("width", "height"), SHAPES)
def test_a_row_is_the_same_in_any_company(multiplied_by: str, width: int, height: int) -> None:
    if multiplied_by == "MKL" and not rows_are_independent() and "GenuineIntel" not in CPUINFO.read_text():
        pytest.skip(f"MKL promises nothing on this CPU, and a run says so: {describe_arithmetic()}")
    generator = torch.Generator().manual_seed(0)
    weight, bias = torch.randn(height, width, generator=generator), torch.randn(height, generator=generator)
    rows = torch.randn(200, width, generator=generator)
    layer = PackedLinear(weight, bias) if multiplied_by == "oneDNN" else torch.nn.Linear(width, height)
    if isinstance(layer, torch.nn.Linear):
        layer.load_state_dict({"weight": weight, "bias": bias})
    with torch.inference_mode():
        together = layer(rows)
        for count in [*range(1, 70), *range(70, 200, 7)]:
            for first in (0, 3) if count < 197 else (0,):
                assert torch.equal(layer(rows[first : first + count]), together[first : first + count]), count


@on_mkl
@pytest.mark.parametrize("columns", [3, 17, 60, 130])
@pytest.mark.parametrize("width", [32, 384, 768])
def test_tokens_match_the_same_in_any_company(width: int, columns: int) -> None:
    """On an AMD CPU MKL multiplies one to three rows in another way than more of them."""
    configure_worker_process("cpu", None)
    generator = torch.Generator().manual_seed(0)
    reference, rows = torch.randn(columns, width, generator=generator), torch.randn(200, width, generator=generator)
    together = multiply_rows(rows, reference)
    torch.testing.assert_close(together, rows @ reference.T)
    for count in [*range(1, 70), *range(70, 200, 7)]:
        assert torch.equal(multiply_rows(rows[:count], reference), together[:count]), count
        assert torch.equal(multiply_rows(rows[-count:], reference), together[-count:]), count


@on_mkl
@pytest.mark.parametrize(("environment", "mode"), [({}, "AUTO,STRICT"), ({"MKL_CBWR": "AVX2"}, "AVX2")])
def test_the_mode_that_keeps_rows_is_set_unless_there_is_one_and_told(environment: dict[str, str], mode: str) -> None:
    code = "import torch, nws\nfrom nws.core.arithmetic import describe_arithmetic\nprint(describe_arithmetic())"
    assert f"MKL {mode}," in printed(code, **environment)


def test_rows_that_depend_on_their_company_are_noticed_and_described(monkeypatch: pytest.MonkeyPatch) -> None:
    assert keeps_rows(lambda rows: rows + 1, 3)
    assert not keeps_rows(lambda rows: rows * (1 + 1e-7 * len(rows)), 3)
    monkeypatch.setattr(arithmetic, "rows_are_independent", lambda: False)
    assert "rows depend on their batch" in describe_arithmetic.__wrapped__()


def test_trying_leaves_the_random_numbers_of_others_alone() -> None:
    state = torch.get_rng_state()
    rows_are_independent.__wrapped__()
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("switch", ["OPENBLAS_CORETYPE=Haswell", "NVIDIA_TF32_OVERRIDE=0"])
def test_a_switch_of_the_environment_is_another_arithmetic(switch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = describe_arithmetic.__wrapped__()
    monkeypatch.setenv(*switch.split("="))
    assert describe_arithmetic.__wrapped__() == f"{before}, {switch}"
    FakeCuda(kind=H100).install(monkeypatch)
    assert describe_gpu_arithmetic() == f"NVIDIA H100 80GB HBM3, {switch}"


def test_a_device_has_the_index_of_the_current_gpu_and_is_made_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeCuda(count=2, current=1).install(monkeypatch)
    assert (find_device("cuda"), find_device("cpu")) == (torch.device("cuda", 1), CPU)
    files = [file for room in ("core", "cluster", "jobs", "bench") for file in (ROOT / room).rglob("*.py")]
    assert [file.name for file in files if "torch.device(" in file.read_text()] == ["arithmetic.py"]


@pytest.mark.parametrize(
    ("precision", "kind", "refused"),
    [
        *(("float32", T4, False), ("float16", T4, False), ("bfloat16", T4, True), ("tf32", T4, True)),
        *(("bfloat16", A100, False), ("tf32", A100, False), ("tf32", H100, False)),
    ],
)
def test_what_a_gpu_has_not_is_refused_with_what_to_use(
    precision: Precision, kind: tuple[str, tuple[int, int]], refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    FakeCuda(kind).install(monkeypatch)
    if not refused:
        require_precision(precision, GPU)
        return
    with pytest.raises(ModelError, match=rf"Tesla T4 has no {precision}: .*7\.5.*`precision: float32`.*`float16`"):
        require_precision(precision, GPU)


def test_a_cpu_has_no_tf32_which_is_part_of_the_signature(tiny_models: dict[str, Path]) -> None:
    ref = resolve_model(parse_model(str(tiny_models["bert"])))
    rounded = BertScoreConfig(ref, 1, precision="tf32")
    for load in (lambda: load_encoder(ref, CPU, "tf32"), lambda: BertScorer(rounded, CPU)):
        with pytest.raises(ModelError, match=r"needs an NVIDIA GPU.*Use `float32`"):
            load()
    require_precision("bfloat16", CPU)
    assert rounded.signature.endswith("|precision:tf32")


@pytest.fixture
def switch() -> Iterator[Callable[[], str]]:
    """How this process multiplies on GPUs: rounded, as its environment may have it, until that is changed."""
    before = torch.backends.cuda.matmul.fp32_precision
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    yield lambda: torch.backends.cuda.matmul.fp32_precision
    torch.backends.cuda.matmul.fp32_precision = before


class Noting(torch.nn.Module):
    """A model that notes how its process multiplies while it is at work."""

    def __init__(self, switch: Callable[[], str]) -> None:
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


def test_each_pass_has_its_own_precision(switch: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    FakeCuda(H100).install(monkeypatch)
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


def test_the_environment_does_not_turn_tf32_on() -> None:
    """In a process of its own, since the switches are the process's."""
    code = (
        "import torch; b = torch.backends; first = b.cuda.matmul.fp32_precision\n"
        "from nws.core.arithmetic import multiply_exactly\n"
        "multiply_exactly(); print(first, b.cuda.matmul.fp32_precision, b.cudnn.conv.fp32_precision, "
        "b.cudnn.rnn.fp32_precision)"
    )
    assert printed(code, TORCH_ALLOW_TF32_CUBLAS_OVERRIDE="1").split() == ["tf32", "ieee", "ieee", "ieee"]


@pytest.mark.parametrize(
    ("device", "fraction", "expected"),
    [("cuda", 0.5, ("ieee", [False], [0.5])), ("cuda", None, ("ieee", [False], [])), ("cpu", 0.5, ("tf32", [], []))],
)
def test_a_worker_on_a_gpu_multiplies_exactly_and_takes_its_part_of_the_memory(
    device: str,
    fraction: float | None,
    expected: tuple[str, list[bool], list[float]],
    switch: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake, cudnn_attention = FakeCuda().install(monkeypatch), []
    monkeypatch.setattr(torch.backends.cuda, "enable_cudnn_sdp", cudnn_attention.append)
    configure_worker_process(device, fraction)
    assert (switch(), cudnn_attention, list(fake.fractions.values())) == expected
