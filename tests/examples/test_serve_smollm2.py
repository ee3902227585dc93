"""Runs on a real language model behind an endpoint of this machine."""

import io
import runpy
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from openai_server import serving
from rich.console import Console

from core.errors import ModelError
from core.models import smollm2_gguf
from jobs.drive import driver
from jobs.recipes.job import plan_job
from jobs.recipes.plan import Plan
from jobs.store import Store, open_store

pytestmark = pytest.mark.slow

QUIET = Console(file=io.StringIO())
PROMPT = "Write a headline of {n} words for this article: {article}"


@pytest.fixture(scope="module")
def example() -> SimpleNamespace:
    try:
        smollm2_gguf()
    except ModelError as error:
        pytest.skip(str(error))
    pytest.importorskip("gguf")
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "examples" / "serve_smollm2.py")))


@pytest.fixture
def server(example: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving(example.ChatServer(example.ChatModel())) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as opened:
        yield opened


@pytest.fixture
def dataset(tmp_path: Path) -> str:
    file = tmp_path / "articles.jsonl"
    rows = (
        ("ferry", "The ferry to Harwick was cancelled on Monday after a storm damaged its engine, the harbour said."),
        ("snow", "Snow fell on Dover all night and closed every school of the town, and the trains stood still."),
    )
    file.write_text(
        "\n".join(f'{{"id": "{key}", "article": "{text}", "summary": "{text[:30]}"}}' for key, text in rows), "utf-8"
    )
    return str(file)


def planned(tiny_models: dict[str, Path], dataset: str) -> Plan:
    bert = str(tiny_models["bert"])
    asked = {
        **{"bertscore": {"model": bert, "num_layers": 2}, "encoder": bert, "datasets": [{"name": dataset}]},
        **{"n": [3], "systems": ["openai:smollm2"], "prompt": PROMPT, "bundle_size": 1},
    }
    return plan_job("baselines", "sample", asked)


def test_a_run_is_stored_and_paid_once(store: Store, server: Any, tiny_models: dict[str, Path], dataset: str) -> None:
    first = driver.start(store, planned(tiny_models, dataset), "inline", QUIET, reuse=True)
    assert (first.state, first.articles, first.failures, server.asked) == ("done", 2, 0, 3), "a greeting, two answers"
    with store.query("select text, words, extra ->> 'completion_tokens' from summaries") as answer:
        for text, words, tokens in answer.rows:
            assert text
            assert int(str(words)) <= 3
            assert int(str(tokens)) > 0
    again = driver.start(store, planned(tiny_models, dataset), "inline", QUIET, reuse=True)
    assert (again.state, again.reused, server.asked) == ("done", 2, 3), "the second run has asked for nothing"
