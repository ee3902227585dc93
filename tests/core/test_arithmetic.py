import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from core import arithmetic
from core.arithmetic import (
    CPUINFO,
    describe_arithmetic,
    describe_gpu_arithmetic,
    keeps_rows,
    multiply_rows,
    rows_are_independent,
    warn_if_rows_depend,
)
from core.models.fast_linear import PackedLinear, onednn_works
from core.sweep import take_share

ROOT = Path(__file__).parents[2]
SHAPES = [(384, 384), (384, 1536), (1536, 384), (768, 3072), (3072, 768), (32, 64)]
on_mkl = pytest.mark.skipif(not torch.backends.mkl.is_available(), reason="this PyTorch multiplies without MKL")


@pytest.fixture(autouse=True)
def _no_switch_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """As some machines set one for all that runs there, such as OPENBLAS_CORETYPE."""
    for switch in arithmetic._SWITCHES:
        monkeypatch.delenv(switch, raising=False)


def described(code: str, **environment: str) -> str:
    """What a new process says of its products after `code`."""
    return subprocess.run(
        [
            sys.executable,
            "-c",
            f"{code}\nfrom core.arithmetic import CPUINFO, describe_arithmetic\nprint(describe_arithmetic())",
        ],
        cwd=ROOT,
        env={**{k: v for k, v in os.environ.items() if k != "MKL_CBWR"}, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


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
    take_share("cpu", None)
    generator = torch.Generator().manual_seed(0)
    reference, rows = torch.randn(columns, width, generator=generator), torch.randn(200, width, generator=generator)
    together = multiply_rows(rows, reference)
    assert together.shape == (200, columns)
    torch.testing.assert_close(together, rows @ reference.T)
    for count in [*range(1, 70), *range(70, 200, 7)]:
        assert torch.equal(multiply_rows(rows[:count], reference), together[:count]), count
        assert torch.equal(multiply_rows(rows[-count:], reference), together[-count:]), count


@pytest.mark.skipif(not onednn_works(), reason="this PyTorch has no prepacked oneDNN layers")
def test_a_single_row_of_any_shape_is_multiplied_by_onednn_as_among_others() -> None:
    layer = PackedLinear(torch.randn(8, 3072), None)
    row = torch.randn(3072)
    with torch.inference_mode():
        among_others = layer(row.expand(5, -1))[0]
        for shape in ((3072,), (1, 3072), (1, 1, 3072)):
            found = layer(row.reshape(shape))
            assert found.shape == (*shape[:-1], 8)
            assert torch.equal(found.flatten(), among_others)


@on_mkl
def test_importing_nws_sets_the_mode_that_keeps_rows() -> None:
    assert "MKL AUTO,STRICT" in described("import torch, core")


@on_mkl
@pytest.mark.parametrize("mode", ["AVX2", "COMPATIBLE"])
def test_a_mode_of_ones_own_stays_and_is_told(mode: str) -> None:
    assert f"MKL {mode}," in described("", MKL_CBWR=mode)


def test_rows_that_depend_on_their_company_are_noticed() -> None:
    def by_shape(rows: torch.Tensor) -> torch.Tensor:
        return rows * (1 + 1e-7 * len(rows))

    assert keeps_rows(lambda rows: rows + 1, 3)
    assert not keeps_rows(by_shape, 3)


def test_a_worker_says_so_where_rows_depend(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    take_share("cpu", None)
    caplog.clear()  # it may have said so for this machine
    monkeypatch.setattr(arithmetic, "rows_are_independent", lambda: False)
    describe_arithmetic.cache_clear()
    with caplog.at_level(logging.WARNING):
        warn_if_rows_depend()
        assert describe_arithmetic().endswith("rows depend on their batch")
    describe_arithmetic.cache_clear()
    (record,) = caplog.records
    assert "agree to about 1e-6 only" in record.getMessage()


def test_trying_leaves_the_random_numbers_of_others_alone() -> None:
    state = torch.get_rng_state()
    rows_are_independent.__wrapped__()
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(
    "switch",
    [
        "ONEDNN_DEFAULT_FPMATH_MODE=BF16",
        "OPENBLAS_CORETYPE=Haswell",
        "NVIDIA_TF32_OVERRIDE=0",
        "CUBLAS_EMULATE_SINGLE_PRECISION=1",
    ],
)
def test_a_switch_of_the_environment_is_another_arithmetic(switch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = describe_arithmetic.__wrapped__()
    monkeypatch.setenv(*switch.split("="))
    assert describe_arithmetic.__wrapped__() == f"{before}, {switch}"
    monkeypatch.setattr("torch.cuda.get_device_name", lambda: "NVIDIA H100")
    assert describe_gpu_arithmetic() == f"NVIDIA H100, {switch}"
