"""How many tokens share a pass. The GPU is simulated: its memory is a number, and passes that need more fail."""

import logging
from pathlib import Path

import pytest
import torch
from fake_cuda import FakeCuda
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModel

from core.arithmetic import find_device
from core.errors import DeviceError
from core.models.batching import (
    TOKEN_BUDGET,
    Batches,
    TokenBudget,
    available_bytes,
    bytes_per_token,
    encoder_budget,
    equal_length_batches,
    token_batches,
    tokens_for,
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
    memory, budget = Memory(lengths, room), TokenBudget("model", GPU, lambda: 4096)
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
    memory, budget = Memory([10] * 500, 700), TokenBudget("bert", GPU, lambda: 4096)
    with caplog.at_level(logging.INFO, "core.models.batching"):
        budget.run(memory.lengths, memory.forward)
    assert budget.tokens == 512
    assert [len(batch) for batch in memory.passes] == [51] * 9 + [41]
    assert caplog.messages == [
        "bert: up to 4096 tokens in a pass",
        "bert: GPU memory ran out in a pass of 4090 tokens. From now on a pass has 2048 at most.",
        "bert: GPU memory ran out in a pass of 2040 tokens. From now on a pass has 1024 at most.",
        "bert: GPU memory ran out in a pass of 1020 tokens. From now on a pass has 512 at most.",
    ]


def test_what_was_through_before_memory_ran_out_does_not_come_again() -> None:
    memory, budget = Memory([2] * 100 + [50] * 20, 600), TokenBudget("model", GPU, lambda: 800)
    budget.run(memory.lengths, memory.forward)
    assert sorted(i for batch in memory.passes for i in batch) == list(range(120))


def test_a_text_that_has_no_room_alone_is_refused() -> None:
    memory, budget = Memory([10, 90, 10], 50), TokenBudget("model", GPU, lambda: 4096)
    with pytest.raises(DeviceError, match="no memory left, not even for one text"):
        budget.run(memory.lengths, memory.forward)
    assert memory.passes == [[0, 2]]


def test_a_cpu_has_the_same_budget_everywhere(tiny_models: dict[str, Path]) -> None:
    model = AutoModel.from_pretrained(tiny_models["bert"])
    assert encoder_budget("bert", model, 128, CPU).tokens == TOKEN_BUDGET


GB = 10**9


@pytest.mark.parametrize(
    ("free", "total", "used", "kept", "share", "expected"),
    [
        (14 * GB, 16 * GB, 1 * GB, 1 * GB, 1.0, 14 * GB),  # alone
        (14 * GB, 16 * GB, 1 * GB, 1 * GB, 0.5, 7 * GB),  # its half, less what it uses
        (3 * GB, 16 * GB, 1 * GB, 2 * GB, 0.5, 4 * GB),  # others have taken it; what it keeps unused is its own
        (0, 16 * GB, 9 * GB, 9 * GB, 0.5, 0),
    ],
)
def test_free_memory_is_that_of_the_share(
    free: int, total: int, used: int, kept: int, share: float, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    FakeCuda(total=total, free=free, allocated=used, reserved=kept).install(monkeypatch)
    torch.cuda.set_per_process_memory_fraction(share)
    assert available_bytes(find_device("cuda")) == expected


@pytest.mark.parametrize(
    ("available", "expected"), [(139 * GB, 16_384), (13 * GB, 16_384), (2 * GB, 2048), (100_000, 1), (0, 1)]
)
def test_tokens_of_bert_base_on_gpus_of_any_size(available: int, expected: int) -> None:
    assert tokens_for(available, bytes_per_token=4 * (16 * 768 + 8 * 12 * 512)) == expected


def test_the_budget_of_a_gpu_is_chosen_once_after_all_models_are_loaded(
    tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[torch.device] = []
    monkeypatch.setattr("core.models.batching.available_bytes", lambda device: asked.append(device) or 200_000_000)
    model = AutoModel.from_pretrained(tiny_models["bert"])
    budget = encoder_budget("bert", model, 128, GPU)
    assert asked == []
    assert budget.tokens == budget.tokens == 8192
    assert asked == [GPU]


@pytest.mark.parametrize("architecture", ["bert", "xlnet", "electra", "roberta", "gpt2"])
def test_memory_of_a_token_follows_the_model_and_its_precision(tiny_models: dict[str, Path], architecture: str) -> None:
    model = AutoModel.from_pretrained(tiny_models[architecture])
    assert bytes_per_token(model, 128) == 4 * (16 * 32 + 8 * 2 * 128)
    assert bytes_per_token(model.to(torch.bfloat16), 128) == 2 * (16 * 32 + 8 * 2 * 128)
