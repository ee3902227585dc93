"""What a sweeper counts of its models' work, and how much of an accelerator it may take."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from fake_cuda import FakeCuda

from core import sweep
from core.metrics import bertscore
from core.metrics.config import BertScoreConfig, RougeConfig
from core.models import encoders, parse_model, resolve_model
from core.models.generation import load_generator
from core.models.generators import parse_generator
from core.stage import MetricsConfig, Stage
from core.systems.chunk_systems import ChunkSystem
from core.text.dataset import Dataset, open_dataset
from core.worker_factories import make_segmenter, make_sweeper


@pytest.fixture
def stage() -> Stage:
    minilm = resolve_model(parse_model("all-MiniLM-L6-v2"))
    metrics = MetricsConfig(BertScoreConfig(minilm, 6), RougeConfig())
    return Stage("en", "blank", (minilm,), (ChunkSystem(minilm.name, "centroid"),), (1, 7), metrics, seed=0)


def test_tokens_of_encoder_and_metric_are_those_that_attention_sees(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {"encoder": 0, "metric": 0}

    def counting(name: str, padded: Callable[..., dict[str, torch.Tensor]]) -> Callable[..., dict[str, torch.Tensor]]:
        def counted(*arguments: Any) -> dict[str, torch.Tensor]:
            inputs = padded(*arguments)
            seen[name] += int(inputs["attention_mask"].sum())
            return inputs

        return counted

    monkeypatch.setattr(encoders, "padded", counting("encoder", encoders.padded))
    monkeypatch.setattr(bertscore, "padded", counting("metric", bertscore.padded))
    segment, sweeper = make_segmenter(stage), make_sweeper(stage, "cpu")
    assert sweeper.tokens == 0
    bundle = [segment(article) for article in open_dataset(Dataset("sample", limit=2))]
    sweeper(bundle)
    assert seen["encoder"] > 100
    assert seen["metric"] > 100
    assert sweeper.tokens == seen["encoder"] + seen["metric"]
    sweeper(bundle)
    assert sweeper.tokens == seen["encoder"] + seen["metric"], "they add up"


def test_tokens_of_a_generator_are_the_same_in_any_batch(tiny_models: dict[str, Path]) -> None:
    parsed = parse_generator(str(tiny_models["bart"]))
    generator = replace(parsed, model=resolve_model(parsed.model))
    articles = list(open_dataset(Dataset("sample", limit=3)))
    texts = [articles[0].text, articles[1].text[:40], articles[2].text[:150]]
    together, apart = (load_generator(generator, torch.device("cpu"), 0) for _ in range(2))
    read = sum(output.extra["input_tokens"] - output.extra["truncated_tokens"] for output in together(texts, [0, 1, 2]))
    for text in texts:
        apart([text], [0])
    assert together.tokens == apart.tokens
    # The checkpoint writes 8 to 24 tokens.
    assert read + 3 * 8 - 3 <= together.tokens <= read + 3 * 24


@pytest.mark.parametrize(
    ("device", "fraction", "expected"), [("cuda", 0.5, [0.5]), ("cuda", None, []), ("cpu", 0.5, [])]
)
def test_a_process_takes_no_more_of_an_accelerator_than_its_part(
    stage: Stage, device: str, fraction: float | None, expected: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeCuda().install(monkeypatch)
    monkeypatch.setattr(sweep, "Sweeper", lambda stage, device: list(fake.fractions.values()))
    assert make_sweeper(stage, device, fraction) == expected, "set before the models are loaded"
