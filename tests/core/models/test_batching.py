"""Which texts share a pass of a model, and how they are padded; also where memory runs out."""

import logging

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nws.core.models.batching import TOKEN_BUDGET, Batches, TokenBudget, equal_length_batches, padded, token_batches
from nws.core.models.tokens import Tokens

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)


@given(st.lists(st.integers(1, 60)), st.integers(1, 200))
def test_every_text_is_in_one_batch_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(token_batches(lengths, budget))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[i] for i in batch)
        assert len(batch) == 1 or longest * len(batch) <= budget
    longests = [max(lengths[i] for i in batch) for batch in batches]
    assert longests == sorted(longests)


@settings(deadline=None)
@given(st.lists(st.sampled_from([50, 60, 100, 400]), max_size=200), st.sampled_from([TOKEN_BUDGET, 16_384]))
def test_batches_beyond_an_eighth_of_the_budget_have_little_padding(lengths: list[int], budget: int) -> None:
    batches = list(token_batches(lengths, budget))
    for batch in batches:
        size = max(lengths[i] for i in batch) * len(batch)
        assert len(batch) == 1 or size <= budget / 8 or size - sum(lengths[i] for i in batch) <= size / 8
    assert len(batches) <= len(set(lengths)) + 8 * sum(lengths) / budget


@given(st.lists(st.integers(0, 60)), st.integers(1, 200))
def test_texts_of_one_length_are_together_and_alone(lengths: list[int], budget: int) -> None:
    batches = list(equal_length_batches(lengths, budget))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[i] for i in batch}) == 1
        assert len(batch) == 1 or lengths[batch[0]] * len(batch) <= budget


class Padding:
    pad_token_id = 7
    pad_token_type_id = 3


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 30_000), min_size=1, max_size=9), min_size=1, max_size=9), st.data())
def test_tensors_are_the_rows_padded_on_the_right(rows: list[list[int]], data: st.DataObject) -> None:
    batch = data.draw(st.lists(st.sampled_from(range(len(rows))), min_size=1, unique=True))
    flat = np.array([i for row in rows for i in row])
    tokens = Tokens({"input_ids": flat, "token_type_ids": flat + 1}, np.array([len(row) for row in rows]))
    found = padded(tokens, batch, Padding, CPU)
    longest = max(len(rows[i]) for i in batch)
    gaps = [longest - len(rows[i]) for i in batch]
    expected = {
        "input_ids": [rows[i] + [7] * gap for i, gap in zip(batch, gaps, strict=True)],
        "token_type_ids": [[x + 1 for x in rows[i]] + [3] * gap for i, gap in zip(batch, gaps, strict=True)],
        "attention_mask": [[1] * len(rows[i]) + [0] * gap for i, gap in zip(batch, gaps, strict=True)],
    }
    assert {name: tensor.tolist() for name, tensor in found.items()} == expected
    assert {tensor.dtype for tensor in found.values()} == {torch.int64}


class Memory:
    """A simulated GPU that has room for so many padded tokens, and the batches that went through it."""

    def __init__(self, lengths: list[int], room: int) -> None:
        self.lengths = lengths
        self.room = room
        self.passes: list[list[int]] = []

    def forward(self, batch: list[int]) -> None:
        if max(self.lengths[i] for i in batch) * len(batch) > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.passes.append(batch)


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 60), min_size=1),
    st.integers(60, 300),
    st.sampled_from([token_batches, equal_length_batches]),
)
def test_every_text_goes_through_once_whenever_memory_runs_out(lengths: list[int], room: int, batches: Batches) -> None:
    memory, budget = Memory(lengths, room), TokenBudget("model", GPU, 4096)
    budget.run(lengths, memory.forward, batches)
    assert sorted(i for batch in memory.passes for i in batch) == list(range(len(lengths)))
    after = budget.tokens
    settled = Memory(lengths, room)
    budget.run(lengths, settled.forward, batches)
    # Less where what had fitted in the rest of a batch does not fit in a whole one.
    assert budget.tokens < after or settled.passes == list(batches(lengths, after)), "it remembers what fits"


def test_the_budget_is_halved_said_and_kept_when_memory_runs_out(caplog: pytest.LogCaptureFixture) -> None:
    memory, budget = Memory([10] * 500, 700), TokenBudget("bert", GPU, 4096)
    with caplog.at_level(logging.INFO, "nws.core.models.batching"):
        budget.run(memory.lengths, memory.forward)
    assert budget.tokens == 512
    assert [len(batch) for batch in memory.passes] == [51] * 9 + [41]
    assert len(caplog.messages) == 3
    assert (
        caplog.messages[0] == "bert: GPU memory ran out in a pass of 4090 tokens. From now on, a pass has at most 2048."
    )
