"""Batches for a transformer: texts of like length together, a bounded number of tokens in each."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from core.model_tokens import Tokens

# Padded tokens in one forward pass on a CPU. What costs time there is padding, not the number of passes.
TOKEN_BUDGET = 2048
# The part of a larger batch that may be padding.
MAX_PADDING = 1 / 8
# For models that state no maximum (XLNet has none; a tokenizer without one reports 10^30).
FALLBACK_MAX_TOKENS = 512


def token_batches(
    lengths: Sequence[int], budget: int = TOKEN_BUDGET, max_padding: float = MAX_PADDING
) -> Iterator[list[int]]:
    """Indices of texts, shortest first, in batches of at most `budget` padded tokens (a longer text goes alone).

    A batch beyond an eighth of the budget is no more than `max_padding` padding, in [0, 1]: it keeps its device busy
    already, and a token of padding costs what a token costs.
    """
    batch: list[int] = []
    tokens = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        size = lengths[index] * (len(batch) + 1)
        padding = size - tokens - lengths[index]
        if batch and (size > budget or (size > budget // 8 and padding > max_padding * size)):
            yield batch
            batch, tokens = [], 0
        batch.append(index)
        tokens += lengths[index]
    if batch:
        yield batch


def equal_length_batches(lengths: Sequence[int], budget: int = TOKEN_BUDGET) -> Iterator[list[int]]:
    """Indices of texts in batches of one length each. Nothing is padded, so vectors do not depend on the batch."""
    for _, group in itertools.groupby(sorted(range(len(lengths)), key=lengths.__getitem__), key=lengths.__getitem__):
        indices = list(group)
        size = max(1, budget // max(1, lengths[indices[0]]))
        yield from (indices[start : start + size] for start in range(0, len(indices), size))


def max_tokens(tokenizer: Any, model: torch.nn.Module, limit: int | None = None) -> int:
    """The longest input, in tokens, that the tokenizer, the model's position embeddings and `limit` allow."""
    stated = (tokenizer.model_max_length, _positions(model), limit)
    return min((n for n in stated if n is not None and 0 < n <= 1_000_000), default=FALLBACK_MAX_TOKENS)


def _positions(model: torch.nn.Module) -> int | None:
    """How many tokens the model has learnt positions for; None where positions are relative."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            # RoBERTa counts positions from the one after its padding index.
            unused = 0 if module.padding_idx is None else module.padding_idx + 1
            return module.num_embeddings - unused
    positions: int | None = getattr(getattr(model, "config", None), "max_position_embeddings", None)
    return positions


def padded(tokens: Tokens, batch: Sequence[int], tokenizer: Any, device: torch.device) -> dict[str, torch.Tensor]:
    """One tensor (texts, longest) int64 for each input of the model, of the texts `batch`, and the `attention_mask`.

    Padded on the right, whatever side the tokenizer prefers (XLNet's: left): the attention mask hides the padding
    there from every kind of model, and the tokens keep their positions.
    """
    fill = {"input_ids": tokenizer.pad_token_id or 0, "token_type_ids": tokenizer.pad_token_type_id}
    lengths = tokens.lengths[batch]
    mask = np.arange(lengths.max()) < lengths[:, None]
    positions = tokens.positions(batch)
    inputs = {"attention_mask": to_device(mask.astype(np.int64), device)}
    for name, values in tokens.inputs.items():
        rows = np.full(mask.shape, fill[name])
        rows[mask] = values[positions]
        inputs[name] = to_device(rows, device)
    return inputs


def to_device(values: npt.NDArray[Any], device: torch.device) -> torch.Tensor:
    """The values as a tensor on `device`; to a GPU from pinned memory, so that the copy does not block."""
    tensor = torch.from_numpy(values)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor
