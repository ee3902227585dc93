import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from nws.core.arithmetic import rows_are_independent
from nws.core.errors import ModelError
from nws.core.metrics.fluency import Fluency
from nws.core.models import parse_model, resolve_model
from nws.core.text.dataset import BUNDLED

pytestmark = pytest.mark.slow  # SmolLM2 reads texts

CPU = torch.device("cpu")
TEXTS = ["the city said news", "cat", "of the news to the city in 1999, said the cat.", "news city the said"]


def of_folder(folder: Path) -> Fluency:
    return Fluency(resolve_model(parse_model(str(folder))))


def scores(fluency: Fluency, texts: list[str]) -> list[float]:
    return fluency.load(CPU).score([("an article", text) for text in texts])


@pytest.mark.parametrize("name", ["gpt2-lm", "llama"])
def test_it_is_slor_as_transformers_gives_it_one_text_at_a_time(tiny_models: dict[str, Path], name: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_models[name])
    model = AutoModelForCausalLM.from_pretrained(tiny_models[name], dtype=torch.float32).eval()

    def distributions(ids: list[int]) -> torch.Tensor:
        with torch.inference_mode():
            return torch.log_softmax(model(torch.tensor([[tokenizer.eos_token_id, *ids]])).logits[0, :-1], dim=-1)

    articles = [json.loads(line)["article"] for line in BUNDLED["sample"].read_text().splitlines()]
    news = [tokenizer(text)["input_ids"][:127] for text in articles]
    unigrams = torch.cat([distributions(ids).exp().double() for ids in news]).mean(dim=0).log()
    expected = []
    for text in TEXTS:
        ids = tokenizer(text)["input_ids"]
        expected.append(float((distributions(ids)[range(len(ids)), ids].double() - unigrams[ids]).mean()))
    np.testing.assert_allclose(scores(of_folder(tiny_models[name]), TEXTS), expected, atol=2e-5)


@pytest.mark.usefixtures("multiplied_by")
def test_it_is_the_same_to_the_last_bit_alone_and_in_any_company(tiny_models: dict[str, Path]) -> None:
    if not rows_are_independent():
        pytest.skip("on this CPU a row of a product depends on the others: a run says so")
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(TEXTS[2].split(), size)) for size in generator.integers(1, 12, 60)]
    scorer = of_folder(tiny_models["llama"]).load(CPU)
    together = scorer.score([("", text) for text in texts])
    assert [scorer.score([("", text)])[0] for text in texts] == together
    assert scorer.score([("", text) for text in texts[::-1]]) == together[::-1]


def test_a_text_without_a_token_has_0(tiny_models: dict[str, Path]) -> None:
    scorer = of_folder(tiny_models["llama"]).load(CPU)
    assert scorer.score([("a", ""), ("a", "  ")]) == [0.0, 0.0]
    assert scorer.score([]) == []


def test_what_goes_beyond_the_window_is_not_read(tiny_models: dict[str, Path]) -> None:
    long = "the city said news " * 200
    first, second = scores(of_folder(tiny_models["gpt2-lm"]), [long, long + "cat"])
    assert first == second


def test_a_model_without_a_head_is_refused(tiny_models: dict[str, Path]) -> None:
    with pytest.raises(ModelError, match=r"lacks .*weights.*Fluency needs a causal language model with its head"):
        of_folder(tiny_models["bert"]).load(CPU)
