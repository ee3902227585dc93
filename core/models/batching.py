"""Batches of texts for a transformer: texts of similar length, with enough tokens to keep the device busy.

If the memory of a GPU runs out, batches become smaller.
"""

import itertools
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nws.core.errors import device_errors_in_words, is_memory_error
from nws.core.models.tokens import Tokens

logger = logging.getLogger(__name__)

# The padded tokens in one forward pass on a CPU, where padding costs time but the number of passes does not.
TOKEN_BUDGET = 2048
# The largest share of padding in a large batch.
MAX_PADDING = 1 / 8
# For models that do not state a maximum (XLNet has none; a tokenizer without one reports 10^30).
FALLBACK_MAX_TOKENS = 512
# The padded tokens in one pass on a GPU. With BERT-base they are 2.8 TFLOP, 4 ms of the fastest GPU, so more would not
# keep any GPU busier.
GPU_TOKEN_BUDGET = 16_384

# From the lengths of texts and a budget, both in tokens, to batches of the indices of the texts.
Batches = Callable[[Sequence[int], int], Iterator[list[int]]]


def token_batches(
    lengths: Sequence[int], budget: int = TOKEN_BUDGET, max_padding: float = MAX_PADDING
) -> Iterator[list[int]]:
    """Yield indices of texts, shortest first, in batches of at most `budget` padded tokens (a longer text is alone).

    In a batch beyond an eighth of the budget, at most the share `max_padding`, in [0, 1], is padding: such a batch
    keeps its device busy already, and a token of padding costs as much as any other.
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
    """Yield indices of texts in batches of equal length, without padding: so vectors do not depend on the batch."""
    for _, group in itertools.groupby(sorted(range(len(lengths)), key=lengths.__getitem__), key=lengths.__getitem__):
        indices = list(group)
        size = max(1, budget // max(1, lengths[indices[0]]))
        yield from (indices[start : start + size] for start in range(0, len(indices), size))


def max_tokens(tokenizer: Any, model: torch.nn.Module, limit: int | None = None) -> int:
    """Return the longest input, in tokens, that the tokenizer, the model's position embeddings and `limit` allow."""
    stated = (tokenizer.model_max_length, _positions(model), limit)
    return min((n for n in stated if n is not None and 0 < n <= 1_000_000), default=FALLBACK_MAX_TOKENS)


def _positions(model: torch.nn.Module) -> int | None:
    """Return the number of positions that the model has learnt; None if positions are relative."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            # RoBERTa counts positions from the one after its padding index.
            unused = 0 if module.padding_idx is None else module.padding_idx + 1
            return module.num_embeddings - unused
    return getattr(getattr(model, "config", None), "max_position_embeddings", None)


def padded(tokens: Tokens, batch: Sequence[int], tokenizer: Any, device: torch.device) -> dict[str, torch.Tensor]:
    """Return the padded model inputs of the texts `batch` and their `attention_mask`, each (texts, longest) int64.

    The padding is on the right, even for a tokenizer that prefers the left (XLNet's). There the attention mask hides it
    from every kind of model, and the tokens keep their positions.
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
    """Return the values as a tensor on `device`. A copy to a GPU uses pinned memory, so that it does not block."""
    tensor = torch.from_numpy(values)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor


class TokenBudget:
    """The number of padded tokens that one forward pass of a model may have.

    If a GPU's memory runs out, it is halved for good. It decides which texts share a pass, but never which articles
    share a bundle.

    Attributes:
        device: the device of the model.
        tokens: the budget of the next pass.
    """

    def __init__(self, name: str, device: torch.device, tokens: int) -> None:
        self.device = device
        self.tokens = tokens
        self._name = name  # the name of the model, for the log

    def run(
        self, lengths: Sequence[int], forward: Callable[[list[int]], None], batches: Batches = token_batches
    ) -> None:
        """Call `forward` with batch after batch, without gradients, until every text is done.

        If memory runs out, that batch and all remaining ones are split into smaller ones.

        Args:
            lengths: the lengths of the texts, in tokens.
            forward: a function that runs the model on the texts of these indices.
            batches: the function that decides which texts go through the model together.

        Raises:
            DeviceError: there is no memory even for a single text, or the device failed otherwise.
        """
        remaining = deque(batches(lengths, self.tokens))
        while remaining:
            with device_errors_in_words(), torch.inference_mode():
                had_memory = _had_memory(forward, remaining[0])
            if had_memory:
                remaining.popleft()
                continue
            self._halve(max(lengths[i] for i in remaining[0]) * len(remaining[0]))
            indices = [i for batch in remaining for i in batch]
            smaller = batches([lengths[i] for i in indices], self.tokens)
            remaining = deque([indices[i] for i in batch] for batch in smaller)

    def _halve(self, failed: int) -> None:
        """Lower the budget to the power of two below the `failed` padded tokens, and free PyTorch's cached memory."""
        self.tokens = 1 << max(min(self.tokens, failed) - 1, 1).bit_length() - 1
        torch.cuda.empty_cache()
        told = "%s: GPU memory ran out in a pass of %d tokens. From now on, a pass has at most %d."
        logger.warning(told, self._name, failed, self.tokens)


def _had_memory(forward: Callable[[list[int]], None], batch: list[int]) -> bool:
    # A separate function, so that the traceback with the tensors of this attempt is gone before the next one.
    try:
        forward(batch)
    except RuntimeError as error:
        if len(batch) == 1 or not is_memory_error(error):
            raise
        return False
    return True


def encoder_budget(name: str, device: torch.device) -> TokenBudget:
    """Return the budget of a model without a head: 2,048 tokens on a CPU, 16,384 on a GPU."""
    return TokenBudget(name, device, GPU_TOKEN_BUDGET if device.type == "cuda" else TOKEN_BUDGET)
