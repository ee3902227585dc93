"""How many tokens a generator's batch has on a GPU, and how its articles are padded there. The GPU is simulated."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import BartConfig, GPT2Config, LlamaConfig, T5Config

from core.models import generation, resolve_model
from core.models.batching import tokens_for
from core.models.generation import MOST_GPU_TOKENS, LoadedGenerator, generator_bytes_per_token, load_generator
from core.summarizers.generators import parse_generator

ARTICLES = ["the cat sat on the mat . " * 3, "a dog ran . ", "the dog sat . " * 4]


def model_of(config: object, dtype: torch.dtype) -> torch.nn.Module:
    model = torch.nn.Linear(1, 1, dtype=dtype)
    model.config = config
    return model


BART = BartConfig()  # BART-large's shape
BART._attn_implementation = "sdpa"
XL = GPT2Config(n_embd=1600, n_layer=48, n_head=25)
XL._attn_implementation = "sdpa"
T5 = T5Config(d_model=1024, num_layers=24, num_heads=16)
T5._attn_implementation = "eager"
LLAMA = LlamaConfig(hidden_size=2048, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8, head_dim=64)
LLAMA._attn_implementation = "sdpa"


@pytest.mark.parametrize(
    ("free", "config", "beams", "expected"),
    [
        (80_000_000_000, BART, 4, 262_144),  # an H100
        (18_000_000_000, BART, 4, 131_072),  # a quarter of one
        (14_000_000_000, BART, 4, 131_072),  # a T4
        (11_000_000_000, XL, 1, 8_192),
        (76_000_000_000, XL, 1, 65_536),
    ],
)
def test_tokens_on_cards(free: int, config: object, beams: int, expected: int) -> None:
    token_bytes = generator_bytes_per_token(model_of(config, torch.float16), beams, 1024)
    assert tokens_for(free, token_bytes, MOST_GPU_TOKENS) == expected


def load(folder: Path) -> LoadedGenerator:
    generator = parse_generator(str(folder))
    return load_generator(replace(generator, model=resolve_model(generator.model)), torch.device("cpu"), 0)


def test_the_budget_is_chosen_from_free_memory(tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load(tiny_models["bart"])
    assert loaded._budget.tokens == generation.CPU_TOKEN_BUDGET
    asked = []
    monkeypatch.setattr(generation, "available_bytes", lambda device: asked.append(device) or 10_000_000)
    on_gpu = LoadedGenerator(loaded.generator, loaded._tokenizer, loaded._model, torch.device("cuda"), 0)
    each = generator_bytes_per_token(loaded._model, loaded.config().num_beams, loaded._window)
    assert asked == [], "not before all models are loaded"
    assert on_gpu._budget.tokens == tokens_for(10_000_000, each, MOST_GPU_TOKENS)
    assert asked == [torch.device("cuda")]


def test_padding_to_a_multiple_changes_no_text(tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What a GPU gets is written on the CPU here, in float32."""
    loaded = load(tiny_models["bart"])
    expected = loaded(ARTICLES, [1, 2, 3])
    widths: list[int] = []
    generate = loaded._model.generate

    def noting(**inputs: torch.Tensor) -> torch.Tensor:
        widths.append(inputs["input_ids"].shape[1])
        return generate(**inputs)

    monkeypatch.setattr(loaded._model, "generate", noting)
    loaded(ARTICLES, [1, 2, 3])
    (exact,) = widths
    loaded._multiple = 16
    assert exact % 16
    assert exact < loaded._window
    assert loaded(ARTICLES, [1, 2, 3]) == expected
    assert widths[1] == min(-(-exact // 16) * 16, loaded._window)


@pytest.mark.parametrize(
    ("name", "device", "multiple"), [("bart", "cuda", 64), ("bart", "cpu", 1), ("gpt2-lm", "cuda", 1)]
)
def test_only_a_gpu_pads_more(name: str, device: str, multiple: int, tiny_models: dict[str, Path]) -> None:
    loaded = load(tiny_models[name])
    there = LoadedGenerator(loaded.generator, loaded._tokenizer, loaded._model, torch.device(device), 0)
    assert there._multiple == multiple
    window = there._window
    assert there._source_length([0] * window) == window, "never more than the model reads"
