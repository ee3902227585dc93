"""Runs on a real language model behind an endpoint of this machine."""

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openai_server import serving
from undisturbed import QUIET

from nws.core.errors import ModelError
from nws.core.models.smollm2 import smollm2_gguf
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.store import open_store

pytestmark = pytest.mark.slow

PROMPT = "Write a headline of {n} words for this article: {article}"


NEWS = {
    "ferry": "The ferry to Harwick was cancelled on Monday after a storm damaged its engine, the harbour said.",
    "snow": "Snow fell on Dover all night and closed every school of the town, and the trains stood still.",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    try:
        smollm2_gguf()
    except ModelError as error:
        pytest.skip(str(error))
    pytest.importorskip("gguf")
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "serve_smollm2.py"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving(example["ChatServer"](example["ChatModel"]())) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


def test_a_run_is_stored_and_paid_once(server: Any, tiny_models: dict[str, Path], tmp_path: Path) -> None:
    rows = [{"id": key, "article": text, "summary": text[:30]} for key, text in NEWS.items()]
    (tmp_path / "news.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    bert = str(tiny_models["bert"])
    asked = {
        **{"bertscore": {"model": bert, "num_layers": 2}, "encoder": bert, "bundle_size": 1, "n": [3]},
        **{"datasets": [{"name": str(tmp_path / "news.jsonl")}], "systems": ["openai:smollm2"], "prompt": PROMPT},
        "endpoint.drafts": 0,
    }
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        first = driver.start(store, plan_job("baselines", "sample", asked), "inline", QUIET, reuse=True)
        told = first.state, first.articles, first.failures, server.asked
        assert told == ("done", 2, 0, 3), "a greeting, two answers"
        with store.query("select text, words, extra ->> 'completion_tokens' from summaries") as answer:
            for text, words, tokens in answer.rows:
                assert text
                assert int(str(words)) <= 3
                assert int(str(tokens)) > 0
        again = driver.start(store, plan_job("baselines", "sample", asked), "inline", QUIET, reuse=True)
    assert (again.state, again.reused, server.asked) == ("done", 2, 3), "the second run has asked for nothing"
