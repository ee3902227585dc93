"""The parameters of checkpoints, counted without loading them: as many as the loaded models have."""

from pathlib import Path

import pytest
import torch
from transformers import AutoModel

from core.models import parameters


@pytest.mark.parametrize("name", ["bert", "xlnet", "electra"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_counted_as_loaded(name: str, dtype: torch.dtype, tiny_models: dict[str, Path], tmp_path: Path) -> None:
    model = AutoModel.from_pretrained(tiny_models[name]).to(dtype)
    model.save_pretrained(tmp_path / "as-safetensors")
    expected = sum(parameter.numel() for parameter in model.parameters())
    assert parameters(tmp_path / "as-safetensors") == pytest.approx(expected, rel=0.01)
    old = tmp_path / "as-bin"
    old.mkdir()
    torch.save(model.float().state_dict(), old / "pytorch_model.bin")
    assert parameters(old) == pytest.approx(expected, rel=0.5), "and what else torch saves, much of a tiny model"


def test_a_folder_without_weights_has_none(tmp_path: Path) -> None:
    assert parameters(tmp_path) == 0
