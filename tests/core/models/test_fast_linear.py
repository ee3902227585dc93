from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch
from torch import nn

from nws.core import arithmetic
from nws.core.arithmetic import PackedLinear, onednn_is_faster, onednn_works, speed_up_linear_layers
from nws.core.models import parse_model, resolve_model
from nws.core.models.encoders import load_encoder
from nws.core.systems.importance import unit_rows

CPU = torch.device("cpu")
TEXTS = ["the cat", "news of the city, said the cat", "a"]

needs_onednn = pytest.mark.skipif(not onednn_works(), reason="this PyTorch has no prepacked oneDNN layers")


@needs_onednn
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("features", [384, 1536])
def test_equals_nn_linear_for_any_number_of_rows(features: int, bias: bool) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(features, 96, bias=bias)
    fast = PackedLinear(layer.weight, layer.bias)
    with torch.inference_mode():
        for rows in range(1, 71):
            inputs = torch.randn(rows, features)
            expected = layer(inputs)
            # Some units in the last place of the largest: sums of float32 in another order.
            torch.testing.assert_close(fast(inputs), expected, rtol=0, atol=2e-6 * expected.abs().max().item())


@needs_onednn
@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "bert", "xlnet"])  # the first of sentence-transformers
def test_encoders_use_it(tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    ref = resolve_model(parse_model(str(tiny_models.get(name, name))))
    vectors = []
    for faster in (False, True):
        monkeypatch.setattr(arithmetic, "onednn_is_faster", lambda answer=faster: answer)
        encoder = load_encoder(ref, CPU)
        with mock.patch.object(PackedLinear, "forward", autospec=True, side_effect=PackedLinear.forward) as calls:
            vectors.append(encoder.encode(TEXTS))
        assert calls.called == faster
    np.testing.assert_allclose(unit_rows(vectors[1]), unit_rows(vectors[0]), rtol=0, atol=1e-6)


@needs_onednn
@pytest.mark.parametrize(
    ("maker", "instructions", "is_faster"),
    [
        ("AuthenticAMD", "AVX512", True),
        ("AuthenticAMD", "AVX2", True),  # where MKL's rows depend on their batch
        ("AuthenticAMD", "DEFAULT", False),
        ("GenuineIntel", "AVX512", False),
    ],
)
def test_it_multiplies_on_amd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, maker: str, instructions: str, is_faster: bool
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"vendor_id : {maker}\n", encoding="utf-8")
    monkeypatch.setattr(arithmetic, "CPUINFO", cpuinfo)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: instructions)
    assert onednn_is_faster.__wrapped__() == is_faster


@needs_onednn
def test_other_types_and_subclasses_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic, "onednn_is_faster", lambda: True)

    class Special(nn.Linear):
        pass

    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4).double(), nn.Linear(4, 4, device="meta"), Special(4, 4))
    speed_up_linear_layers(model)
    assert [type(layer) for layer in model] == [PackedLinear, nn.Linear, nn.Linear, Special]


@pytest.mark.parametrize("error", [AttributeError, RuntimeError, NotImplementedError, TypeError])
def test_a_pytorch_without_the_operations_is_noticed(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def missing(*arguments: object) -> torch.Tensor:
        raise error

    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", missing)
    assert not onednn_works()
