"""Batches for a transformer: texts of like length together, as many tokens as keep its device busy and fit.

After memory ran out there are fewer tokens in a batch.
"""

import itertools
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from core.device_errors import device_errors_in_words, is_memory_error
from core.models.tokens import Tokens

logger = logging.getLogger(__name__)

# Padded tokens in one forward pass on a CPU. What costs time there is padding, not the number of passes.
TOKEN_BUDGET = 2048
# The part of a larger batch that may be padding.
MAX_PADDING = 1 / 8
# For models that state no maximum (XLNet has none; a tokenizer without one reports 10^30).
FALLBACK_MAX_TOKENS = 512
# More keeps no GPU busier: with a model of BERT-base's size they are 2.8 TFLOP, 4 ms of the fastest. One number for
# nearly every GPU also means the same batches on nearly every GPU.
_MOST_TOKENS = 16_384
# Of the memory that is free. The rest is for what else is computed, and for what the estimate below forgets.
_SHARE_OF_FREE = 0.5

# From the lengths of texts, in tokens, and a budget to batches of their indices.
Batches = Callable[[Sequence[int], int], Iterator[list[int]]]


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


class TokenBudget:
    """How many padded tokens one forward pass of a model may have.

    It is chosen before the first pass, when all models of the process are loaded. When a GPU's memory runs out, it is
    halved, and stays so. It decides which texts share a pass, never which articles share a bundle.

    Args:
        name: of the model, for the log.
        device: where it is.
        choose: says how many tokens the first passes have.
    """

    def __init__(self, name: str, device: torch.device, choose: Callable[[], int]) -> None:
        self.device = device
        self._name = name
        self._choose = choose
        self._tokens: int | None = None

    @property
    def tokens(self) -> int:
        """The budget of the next pass."""
        if self._tokens is None:
            self._tokens = self._choose()
            if self.device.type == "cuda":
                logger.info("%s: up to %d tokens in a pass", self._name, self._tokens)
        return self._tokens

    def run(
        self,
        lengths: Sequence[int],
        forward: Callable[[list[int]], None],
        batches: Batches = token_batches,
    ) -> None:
        """Call `forward` with batch after batch until every text has been through.

        A batch that memory ran out for comes again in smaller ones, and so does all that is left.

        Args:
            lengths: of the texts, in tokens.
            forward: runs the model on the texts of these indices.
            batches: which texts go through the model together.

        Raises:
            DeviceError: there is no memory even for a single text, or the device failed otherwise.
        """
        remaining = deque(batches(lengths, self.tokens))
        while remaining:
            with device_errors_in_words():
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
        self._tokens = _power_of_two_up_to(min(self.tokens, failed) - 1)
        torch.cuda.empty_cache()
        logger.warning(
            "%s: GPU memory ran out in a pass of %d tokens. From now on a pass has %d at most.",
            self._name,
            failed,
            self._tokens,
        )


def _had_memory(forward: Callable[[list[int]], None], batch: list[int]) -> bool:
    # A function of its own: the traceback, which holds the tensors of the attempt, must be gone before the next one.
    try:
        forward(batch)
    except RuntimeError as error:
        if len(batch) == 1 or not is_memory_error(error):
            raise
        return False
    return True


def _power_of_two_up_to(tokens: int) -> int:
    return 1 << max(tokens, 1).bit_length() - 1


def encoder_budget(name: str, model: torch.nn.Module, max_length: int, device: torch.device) -> TokenBudget:
    """2,048 tokens on a CPU; on a GPU a power of two, from the free memory of the process's share.

    Args:
        name: of the model.
        model: a transformer without a head.
        max_length: of a text, in tokens.
        device: where the model is.
    """
    token_bytes = bytes_per_token(model, max_length)

    def choose() -> int:
        return tokens_for(available_bytes(device), token_bytes) if device.type == "cuda" else TOKEN_BUDGET

    return TokenBudget(name, device, choose)


def tokens_for(available: int, bytes_per_token: int, most: int = _MOST_TOKENS) -> int:
    """How many tokens a pass has on a GPU: a power of two, from the bytes per token and the bytes available."""
    return _power_of_two_up_to(min(most, int(_SHARE_OF_FREE * available / bytes_per_token)))


def available_bytes(device: torch.device) -> int:
    """The bytes of a GPU that this process may still use, within its share: free memory, and PyTorch's unused cache."""
    free, total = torch.cuda.mem_get_info(device)
    used = torch.cuda.memory_allocated(device)
    unused = torch.cuda.memory_reserved(device) - used
    share = int(torch.cuda.get_per_process_memory_fraction(device) * total)
    return max(0, min(free + unused, share - used))


def bytes_per_token(model: torch.nn.Module, max_length: int) -> int:
    """About what a pass of a transformer needs for a padded token beside its weights, at most.

    Of one layer at a time: 16 vectors of the hidden size (input, queries, keys, values, output, and two of the four
    times wider inner layer), and for each head 4 rows of scores against `max_length` tokens, twice in XLNet.
    """
    config: Any = next(m.config for m in model.modules() if hasattr(getattr(m, "config", None), "num_attention_heads"))
    numbers = 16 * config.hidden_size + 8 * config.num_attention_heads * max_length
    return int(numbers * next(model.parameters()).element_size())
