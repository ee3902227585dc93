"""Trials of real runs with tiny models: every stage is run, and the untrained policies write."""

import dataclasses
import json
from pathlib import Path

import pytest

from core.errors import NwsError
from jobs.drive import trial
from jobs.drive.trial import try_run
from jobs.plan import phase2, sweep
from jobs.recipes.load import load_recipe
from jobs.recipes.phase2 import Phase2Recipe
from jobs.recipes.sweep import BaselinesRecipe, Phase1Recipe


@pytest.fixture
def tiny(tiny_models: dict[str, Path]) -> dict[str, object]:
    return {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "ENOUGH_SECONDS", 0.0)


def test_a_sweep(tiny: dict[str, object], tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    pinned = sweep.pin(load_recipe(Phase1Recipe, "sample", {**tiny, "encoders": [str(tiny_models["bert"])], "n": [3]}))
    short = try_run(pinned, 100, "cpu")
    assert (short.articles, short.failures, short.left_out, short.gpu_memory) == (1, (), (), None)
    assert list(short.stages) == ["sweep"]
    assert short.stages["sweep"].actor > 0
    assert short.stages["sweep"].segmenting > 0
    assert short.stages["sweep"].busy is None
    assert short.loading > 0
    assert short.memory > 10_000_000
    monkeypatch.setattr(trial, "ENOUGH_SECONDS", 600.0)
    assert try_run(pinned, 100, "cpu").articles == 23, "all of the sample, but for the one that warms up"


def test_stages_that_cost_money_are_left_out(
    tiny: dict[str, object], tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")  # nothing listens there
    systems = ["lead", "openai:some-model"]
    changes = {**tiny, "systems": systems, "encoder": str(tiny_models["bert"]), "n": [3], "limit": 2}
    found = try_run(sweep.pin(load_recipe(BaselinesRecipe, "sample", changes)), 2, "cpu")
    (left_out,) = found.left_out
    assert "openai:some-model" in left_out
    assert len(found.stages) == 1


def test_a_training_and_what_its_policies_write(tiny: dict[str, object], tiny_models: dict[str, Path]) -> None:
    methods = [{"name": "quick", "passes": 3, "articles_per_update": 3, "reinforce": {"samples": 2}}]
    few = {"train_limit": 6, "limit": 2, "n": [3, 5], "seeds": [0, 5], "systems": ["lead"], "methods": methods}
    pinned = phase2.pin(load_recipe(Phase2Recipe, "sample", {**tiny, **few, "encoder": str(tiny_models["bert"])}))
    found = try_run(pinned, 2, "cpu")
    assert list(found.stages) == ["training", "evaluation"]
    assert min(stage.actor for stage in found.stages.values()) > 0


def test_articles_that_fail_are_told(tiny: dict[str, object], tiny_models: dict[str, Path], tmp_path: Path) -> None:
    rows = [
        {"text": "The bridge was repaired.", "summary": "A bridge.", "id": "a"},
        {"text": "The end.", "summary": "", "id": "b"},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    files = {"datasets": [{"name": str(tmp_path / "a.jsonl")}], "encoders": [str(tiny_models["bert"])], "n": [3]}
    found = try_run(sweep.pin(load_recipe(Phase1Recipe, "sample", {**tiny, **files})), 2, "cpu")
    assert [failure.error_class for failure in found.failures] == ["EmptyArticleError"]
    training = {"train_datasets": [{"name": str(tmp_path / "b.jsonl")}], "datasets": files["datasets"]}
    (tmp_path / "b.jsonl").write_text(json.dumps({"text": "No reference here.", "summary": "", "id": "c"}))
    pinned = phase2.pin(load_recipe(Phase2Recipe, "sample", {**tiny, **training, "encoder": str(tiny_models["bert"])}))
    with pytest.raises(NwsError, match=r"None of 1 training articles can be used: .*no reference"):
        try_run(pinned, 2, "cpu")


def test_articles_are_spread_over_the_datasets(tmp_path: Path) -> None:
    for name, count in (("a", 30), ("b", 10)):
        rows = [{"text": f"Text {name}{i}.", "summary": "A text.", "id": f"{name}{i}"} for i in range(count)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    datasets = [{"name": str(tmp_path / f"{name}.jsonl")} for name in "ab"]
    corpora = sweep.pin(load_recipe(Phase1Recipe, "sample", {"datasets": datasets})).corpora
    assert [article.key for article in trial._spread(corpora, 4)] == ["a0", "a13", "a26", "b9"]
    assert len(trial._spread(corpora, 100)) == 40
    streamed = [dataclasses.replace(corpus, known=None) for corpus in corpora]
    assert [article.key for article in trial._spread(streamed, 3)] == ["a0", "a1", "a2"]
