"""How many tokens share a pass. The GPU is simulated: its memory is a number, and passes that need more fail."""

import logging

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import DeviceError
from core.models.batching import (
    Batches,
    TokenBudget,
    equal_length_batches,
    token_batches,
)

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)


class Memory:
    """A GPU that has room for so many padded tokens, and what went through it."""

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
    again = Memory(lengths, room)
    budget.run(lengths, again.forward, batches)
    assert sorted(i for batch in again.passes for i in batch) == list(range(len(lengths)))
    # Less where what had fitted in the rest of a batch does not fit in a whole one.
    assert budget.tokens <= after
    settled = Memory(lengths, room)
    budget.run(lengths, settled.forward, batches)
    if budget.tokens == after:
        assert settled.passes == list(batches(lengths, after)), "it remembers what fits"


def test_the_budget_is_halved_said_and_kept_when_memory_runs_out(caplog: pytest.LogCaptureFixture) -> None:
    memory, budget = Memory([10] * 500, 700), TokenBudget("bert", GPU, 4096)
    with caplog.at_level(logging.INFO, "core.models.batching"):
        budget.run(memory.lengths, memory.forward)
    assert budget.tokens == 512
    assert [len(batch) for batch in memory.passes] == [51] * 9 + [41]
    assert caplog.messages == [
        "bert: GPU memory ran out in a pass of 4090 tokens. From now on a pass has 2048 at most.",
        "bert: GPU memory ran out in a pass of 2040 tokens. From now on a pass has 1024 at most.",
        "bert: GPU memory ran out in a pass of 1020 tokens. From now on a pass has 512 at most.",
    ]


def test_a_text_that_has_no_room_alone_is_refused() -> None:
    memory, budget = Memory([10, 90, 10], 50), TokenBudget("model", GPU, 4096)
    with pytest.raises(DeviceError, match="no memory left, not even for one text"):
        budget.run(memory.lengths, memory.forward)
    assert memory.passes == [[0, 2]]
