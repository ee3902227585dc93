from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from core.models.batching import TOKEN_BUDGET, equal_length_batches, padded, to_device, token_batches
from core.models.tokens import Tokens, tokenized

CPU = torch.device("cpu")


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


def test_padding_may_be_allowed() -> None:
    lengths = [100] * 30 + [400] * 5
    assert [len(batch) for batch in token_batches(lengths)] == [20, 10, 5]
    assert [len(batch) for batch in token_batches(lengths, 16_384)] == [30, 5]
    assert [len(batch) for batch in token_batches(lengths, 16_384, max_padding=1)] == [35]


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
    assert [ids.tolist() for ids in tokens.ids] == rows


@pytest.mark.parametrize("architecture", ["bert", "xlnet", "roberta", "gpt2"])
def test_tokens_are_those_of_the_tokenizer(tiny_models: dict[str, Path], architecture: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_models[architecture])
    texts = ["the cat said", "a", "in the city of the cat there is news, and more of it", "the cat said"]
    tokens = tokenized(tokenizer, texts, 9)
    inputs = padded(tokens, range(len(texts)), tokenizer, CPU)
    for i, text in enumerate(texts):
        alone = tokenizer(text, truncation=True, max_length=9)
        assert alone.keys() == inputs.keys()
        for name, values in alone.items():
            assert inputs[name][i, : tokens.lengths[i]].tolist() == values
    assert tokenized(tokenizer, [], 9).lengths.tolist() == []


def test_a_gpu_is_sent_pinned_memory_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned: list[torch.Tensor] = []
    sent: list[tuple[torch.Tensor, torch.device, bool]] = []

    def pin(tensor: torch.Tensor) -> torch.Tensor:
        pinned.append(tensor.clone())
        return pinned[-1]

    def to(tensor: torch.Tensor, device: torch.device, non_blocking: bool) -> torch.Tensor:
        sent.append((tensor, device, non_blocking))
        return tensor

    monkeypatch.setattr(torch.Tensor, "pin_memory", pin)
    monkeypatch.setattr(torch.Tensor, "to", to)
    assert to_device(np.arange(3), CPU).tolist() == [0, 1, 2]
    assert (pinned, sent) == ([], [])
    assert to_device(np.arange(3), torch.device("cuda")).tolist() == [0, 1, 2]
    ((tensor, device, non_blocking),) = sent
    assert tensor is pinned[0]
    assert (device.type, non_blocking) == ("cuda", True)
