"""Masks that are prepared give the same numbers, and nothing is read back from a device to make them."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from nws.core.models.loading import load_model, prepare_masks

MADE_BY_TRANSFORMERS = ["bert", "electra", "roberta", "multilingual"]


class NothingReadBack(TorchDispatchMode):
    """Refuses what would wait for a GPU: a value of a tensor that Python asks for."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.name()
        assert name not in ("aten::_local_scalar_dense", "aten::nonzero", "aten::is_nonzero"), f"{name} reads back"
        return func(*args, **(kwargs or {}))


def inputs(model: Any) -> dict[str, torch.Tensor]:
    ids = torch.randint(5, model.config.vocab_size, (3, 7), generator=torch.Generator().manual_seed(0))
    return {"input_ids": ids, "attention_mask": (torch.arange(7) < torch.tensor([[7], [4], [1]])).long()}


@pytest.mark.parametrize("architecture", MADE_BY_TRANSFORMERS)
def test_a_prepared_mask_gives_the_same_numbers_and_nothing_is_read_back(
    tiny_models: dict[str, Path], architecture: str
) -> None:
    _, model = load_model(tiny_models[architecture])
    given = inputs(model)
    with torch.inference_mode():
        expected = model(**given).last_hidden_state
        with pytest.raises(AssertionError, match="reads back"), NothingReadBack():
            model(**given)
        prepare_masks(model)
        with NothingReadBack():
            found = model(**given).last_hidden_state
    assert torch.equal(found, expected)


def test_models_that_make_their_masks_otherwise_are_left_alone(tiny_models: dict[str, Path]) -> None:
    _, model = load_model(tiny_models["xlnet"])
    prepare_masks(model)
    assert not any(part._forward_pre_hooks for part in model.modules())
