import json
from pathlib import Path

import numpy as np
import pytest
from prepared_articles import parameters_of

from nws.core.errors import ModelError
from nws.core.learning.checkpoint import (
    Checkpoint,
    Reading,
    load_checkpoint,
    load_decoding,
    save_checkpoint,
    save_decoding,
)
from nws.core.learning.policies import make_policies
from nws.core.learning.training_config import Decoding, PolicyConfig
from nws.core.metrics.config import BertScoreConfig
from nws.core.models import ModelRef

MODEL = ModelRef("enc", "org/enc", "main")
READING = Reading("en", "blank", MODEL, BertScoreConfig(MODEL, 1, precision="bfloat16"))


def checkpoint(inputs: str = "features") -> Checkpoint:
    config = PolicyConfig(inputs, hidden=4, sentences=2)
    parameters = parameters_of(make_policies(config, 16, seed=1))
    return Checkpoint("mine", config, (7, 9), READING, parameters, 3, {"run": "r", "seed": 1})


@pytest.mark.parametrize("inputs", ["features", "embeddings"])
def test_a_checkpoint_comes_back_as_it_was(inputs: str, tmp_path: Path) -> None:
    before = checkpoint(inputs)
    save_checkpoint(before, tmp_path / "policy")
    after = load_checkpoint(tmp_path / "policy")
    assert (after.name, after.config, after.lengths) == (before.name, before.config, before.lengths)
    assert (after.reading, after.seed, after.made_by) == (before.reading, 3, before.made_by)
    assert set(after.parameters) == set(before.parameters)
    for name, value in before.parameters.items():
        np.testing.assert_array_equal(after.parameters[name], value)


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="has no policies"):
        load_checkpoint(tmp_path)
    save_checkpoint(checkpoint(), tmp_path)
    meaning = json.loads((tmp_path / "policy.json").read_text())
    (tmp_path / "policy.json").write_text(json.dumps(meaning | {"format": 0}))
    with pytest.raises(ModelError, match="another version"):
        load_checkpoint(tmp_path)
    (tmp_path / "policy.json").write_text(json.dumps(meaning | {"policies": {**meaning["policies"], "hidden": 5}}))
    with pytest.raises(ModelError, match="not the parameters"):
        load_checkpoint(tmp_path)
    for damage in ({"policies": {"colour": "red"}}, {"reading": {}}, {"lengths": None}):
        (tmp_path / "policy.json").write_text(json.dumps(meaning | damage))
        with pytest.raises(ModelError, match="damaged"):
            load_checkpoint(tmp_path)
    (tmp_path / "policy.safetensors").write_bytes(b"no tensors")
    with pytest.raises(ModelError, match="cannot be read"):
        load_checkpoint(tmp_path)


def test_how_policies_write_comes_back_as_it_was(tmp_path: Path) -> None:
    decoding = Decoding("rerank", k=5, anchor="chosen", anchor_sentences=2, adjacency_weight=0.25)
    save_decoding(decoding, tmp_path)
    assert load_decoding(tmp_path) == decoding
    for damage in ("", "[]", '{"beams": 4}'):
        (tmp_path / "decoding.json").write_text(damage)
        with pytest.raises(ModelError, match="does not say how its policies write"):
            load_decoding(tmp_path)
    with pytest.raises(ModelError, match="does not say"):
        load_decoding(tmp_path / "absent")
