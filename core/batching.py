"""Batches for a transformer: texts of like length together, a bounded number of tokens in each."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch

# Padded tokens in one forward pass. Speed is flat from 512 to 4096 on a CPU core; memory is not.
TOKEN_BUDGET = 2048
# For models that state no maximum (XLNet has none; a tokenizer without one reports 10^30).
FALLBACK_MAX_TOKENS = 512


def token_batches(lengths: Sequence[int], budget: int = TOKEN_BUDGET) -> Iterator[list[int]]:
    """Indices of texts, shortest first, in batches of at most `budget` padded tokens (a longer text goes alone)."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[index] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def equal_length_batches(lengths: Sequence[int], budget: int = TOKEN_BUDGET) -> Iterator[list[int]]:
    """Indices of texts in batches of one length each: nothing is padded, so a text's vectors do not tell its batch."""
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


def padded(rows: Sequence[dict[str, list[int]]], tokenizer: Any, device: torch.device) -> dict[str, torch.Tensor]:
    """One tensor (batch, longest) int64 for each input of the model.

    Padded on the right, whatever side the tokenizer prefers (XLNet's: left): the attention mask hides the padding
    there from every kind of model, and the tokens keep their positions.
    """
    fill = {
        "input_ids": tokenizer.pad_token_id or 0,
        "token_type_ids": tokenizer.pad_token_type_id,
        "attention_mask": 0,
    }
    longest = max(len(row["input_ids"]) for row in rows)
    return {
        name: torch.tensor([row[name] + [fill[name]] * (longest - len(row[name])) for row in rows], device=device)
        for name in rows[0]
    }


def tokenized(tokenizer: Any, texts: Sequence[str], max_length: int, **options: bool) -> list[dict[str, list[int]]]:
    """Each text's model inputs (`input_ids`, `attention_mask`, …), special tokens included, cut to `max_length`."""
    encoded = tokenizer(list(texts), truncation=True, max_length=max_length, **options)
    return [{name: encoded[name][i] for name in encoded} for i in range(len(texts))]
