from collections.abc import Callable
from typing import Any

import pytest
import torch

from bench.parts import counted_tokens
from nws.core.metrics import bertscore
from nws.core.metrics.config import BertScoreConfig, RougeConfig
from nws.core.models import encoders, parse_model, resolve_model
from nws.core.stage import MetricsConfig, Stage
from nws.core.systems.chunk_systems import ChunkSystem
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.worker_factories import make_segmenter, make_sweeper


def test_tokens_of_encoder_and_metric_are_those_that_attention_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {"encoder": 0, "metric": 0}

    def counting(name: str, padded: Callable[..., dict[str, torch.Tensor]]) -> Callable[..., dict[str, torch.Tensor]]:
        def counted(*arguments: Any) -> dict[str, torch.Tensor]:
            inputs = padded(*arguments)
            seen[name] += int(inputs["attention_mask"].sum())
            return inputs

        return counted

    monkeypatch.setattr(encoders, "padded", counting("encoder", encoders.padded))
    monkeypatch.setattr(bertscore, "padded", counting("metric", bertscore.padded))
    minilm = resolve_model(parse_model("all-MiniLM-L6-v2"))
    metrics = MetricsConfig(BertScoreConfig(minilm, 6), RougeConfig())
    stage = Stage("en", "blank", (minilm,), (ChunkSystem(minilm.name, "textrank"),), (7, 21), metrics, seed=0)
    segment, sweeper = make_segmenter(stage), make_sweeper(stage, "cpu")
    bundle = [segment(article) for article in open_dataset(Dataset("sample", limit=2))]
    with counted_tokens() as read:
        sweeper(bundle)
    assert min(seen.values()) > 100
    assert sum(read) == sum(seen.values())
