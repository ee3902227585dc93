"""`nws push`, with the real client of the Hub and a server on this machine in the Hub's place."""

import re
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
import pytest
from fake_hub import FakeHub, fake_hub
from prepared_articles import parameters_of

from core.learning.checkpoint import Checkpoint, Reading
from core.learning.policies import make_policies
from core.learning.policy_system import policy_system, save_policies
from core.learning.training_config import PolicyConfig
from core.metrics.config import BertScoreConfig
from core.models import ModelRef

TOKEN = "hf_thisIsTheSecretOfThisTest"
CARD = "---\nlanguage: en\n---\n# Mine\n"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with fake_hub() as hub:
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", hub.endpoint)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield hub


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    model = ModelRef("m", "org/m", "a" * 40)
    parameters = parameters_of(make_policies(PolicyConfig(), 384, seed=1))
    reading = Reading("en", "blank", model, BertScoreConfig(model, 2))
    checkpoint = Checkpoint("mine|seed=1", PolicyConfig(), (7, 9), reading, parameters, seed=1)
    folder = tmp_path / "mine"
    save_policies(policy_system([checkpoint]), folder)
    (folder / "README.md").write_text(CARD)
    (folder / "recipe.yaml").write_text("seed: 1\n")
    return folder


def test_what_was_exported_is_uploaded_and_nothing_else(nws_command, hub: FakeHub, exported: Path) -> None:
    (exported / "diary.txt").write_text("mine alone")
    (exported / "LICENSE").write_text("MIT")
    pushed = nws_command("push", str(exported), "ann/mine", "--private", "--json")
    assert pushed.code == 0, pushed.err
    assert pushed.json == {"system": "policy|mine|seed=1", "url": f"{hub.endpoint}/ann/mine"}
    assert hub.private == {"ann/mine": True}
    assert hub.tokens == {f"Bearer {TOKEN}"}
    assert hub.files["ann/mine"] == {
        name: (exported / name).read_bytes()
        for name in ("LICENSE", "README.md", "decoding.json", "policy.json", "policy.safetensors", "recipe.yaml")
    }
    assert TOKEN not in pushed.out + pushed.err
    again = nws_command("push", str(exported), "ann/other")
    assert (again.code, again.out) == (0, f"{hub.endpoint}/ann/other\n")
    assert hub.private["ann/other"] is False


@pytest.mark.parametrize("code", [401, 403, 500])
def test_a_refusal_is_told_without_the_token(nws_command, hub: FakeHub, exported: Path, code: int) -> None:
    hub.refuses = (code, "You don't have the rights")
    pushed = nws_command("push", str(exported), "ann/mine")
    assert (pushed.code, "You don't have the rights" in pushed.err) == (1, True), pushed.err
    assert TOKEN not in pushed.out + pushed.err


def test_a_card_that_the_hub_does_not_read(nws_command, hub: FakeHub, exported: Path) -> None:
    hub.bad_card = '"license" must be one of …'
    pushed = nws_command("push", str(exported), "ann/mine")
    assert (pushed.code, hub.files["ann/mine"]) == (1, {})
    assert re.search('The Hub refuses.*"license" must be one of', pushed.err, re.DOTALL)


@pytest.mark.parametrize(
    ("constant", "value", "said"),
    [
        ("HF_TOKEN_PATH", "none", "`hf auth login` or in HF_TOKEN"),
        ("HF_HUB_OFFLINE", True, "cannot be reached, so nothing was uploaded to ann/mine"),
    ],
)
def test_without_a_token_or_the_hub(nws_command, hub, exported, monkeypatch, constant, value, said) -> None:
    if constant == "HF_TOKEN_PATH":
        monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr(huggingface_hub.constants, constant, value)
    pushed = nws_command("push", str(exported), "ann/mine")
    assert (pushed.code, said in pushed.err) == (1, True), pushed.err
    assert hub.tokens == set()


def test_what_is_no_exported_policy(nws_command, hub: FakeHub, exported: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (exported / "README.md").unlink()
    for folder, repository, code, said in (
        (empty, "ann/mine", 1, "holds no policies (policy.json, policy.safetensors)"),
        (tmp_path / "absent", "ann/mine", 1, "holds no policies"),
        (exported, "ann/mine", 1, "no model card (README.md): export the policies again"),
    ):
        pushed = nws_command("push", str(folder), repository)
        assert (pushed.code, said in pushed.err) == (code, True), pushed.err
    (exported / "README.md").write_text(CARD)
    pushed = nws_command("push", str(exported), "a/b/c")
    assert (pushed.code, "'a/b/c' is no name of a repository" in pushed.err) == (2, True), pushed.err
    assert hub.files == {}
