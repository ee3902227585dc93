"""How a generator's articles are padded on a GPU, which is simulated."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from core.models import resolve_model
from core.models.generation import LoadedGenerator, load_generator
from core.models.generators import parse_generator

ARTICLES = ["the cat sat on the mat . " * 3, "a dog ran . ", "the dog sat . " * 4]


def load(folder: Path) -> LoadedGenerator:
    generator = parse_generator(str(folder))
    return load_generator(replace(generator, model=resolve_model(generator.model)), torch.device("cpu"), 0)


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
