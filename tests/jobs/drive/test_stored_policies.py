"""`nws submit phase2` and what is done with its policies, on the command line."""

import json
from pathlib import Path

import pytest
import yaml

from nws.core.learning.writer import load_writer
from nws.core.text.length import count_words
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.phase2 import Phase2Recipe

TEXT = "The mayor of Dover opened a new bridge on Monday. Trains will cross the bridge every hour. Snow may follow."
RERANKED = "joint|rerank-6-lead6-adjacent0.05|seed=4"
QUICK = {"passes": 1, "articles_per_update": 4, "reinforce": {"samples": 2}}


@pytest.fixture
def run(nws, tmp_path: Path) -> str:
    """A finished run of two policies, one of them with a pair for each n."""
    recipe = load_recipe(Phase2Recipe, "sample", {"train_datasets.limit": 3, "datasets.limit": 2}).model_dump(
        mode="json"
    )
    recipe |= {
        "methods": [{"name": "joint", **QUICK}, {"name": "each", "scope": "per-n", **QUICK}],
        "systems": ["textrank", "lead"],
        "decodings": [{"method": "rerank", "k": 6}, "greedy"],
        "n": [5, 3],
    }
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(recipe))
    submitted = nws("submit", "phase2", "--recipe", "mine.yaml", "--seed", "4", "--engine", "inline", "--json")
    assert submitted.code == 0
    assert submitted.json["summaries"] == 2 * 8 * 2
    assert "joint|seed=4: update 2/2, reward" in submitted.err
    return str(submitted.json["run_id"])


def no_room(*args: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.slow
def test_policies_are_looked_at_used_and_exported(
    nws, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = nws("status", run)
    assert "joint|seed=4: 2/2 updates" in status.out
    assert "each|seed=4|n=5: 1/1 updates" in status.out
    assert ", articles 1 to 3\n" in status.out
    assert ", articles 17 to 18\n" in status.out
    assert {p["name"] for p in nws("status", run, "--json").json["policies"]} == {
        "joint|seed=4",
        "each|seed=4|n=3",
        "each|seed=4|n=5",
    }

    report = nws("report", run)
    assert report.code == 0
    assert "joint (trained policy, 1 seed) does not keep " in report.out
    assert (tmp_path / "reports" / run / "learning.png").exists()
    assert nws("report", run, "--json").json["run"]["id"] == run

    with monkeypatch.context() as full:
        full.setattr("nws.core.learning.writer.save_policies", no_room)
        refused = nws("export", run, "--policy", "mine")
    assert (refused.code, "cannot be written to mine: No space left" in refused.err) == (1, True), refused.err
    assert [path.name for path in tmp_path.iterdir() if "mine" in path.name] == ["mine.yaml"]
    exported = nws("export", run, "--policy", "mine")
    assert exported.out.split()[-5:] == [
        *("mine/README.md", "mine/decoding.json", "mine/policy.json", "mine/policy.safetensors", "mine/recipe.yaml")
    ]
    assert f"nws report {run}" in Path("mine/README.md").read_text()
    again = load_recipe(Phase2Recipe, "mine/recipe.yaml", {})
    assert again.hash == nws("status", run, "--json").json["recipe_hash"]
    (written,) = load_writer("mine").write(TEXT, [5])
    assert count_words(written) == 5
    assert nws("export", run, "--policy", "greedy", "--system", "joint|seed=4").code == 0
    (greedy,) = load_writer("greedy").write(TEXT, [5])
    assert (count_words(greedy), greedy != written) == (5, True)
    assert nws("export", run, "--policy", "each", "--system", "each|seed=4", "--json").json["files"] == [
        *("each/README.md", "each/decoding.json"),
        *(f"each/n={n}/policy.{kind}" for n in (3, 5) for kind in ("json", "safetensors")),
        "each/recipe.yaml",
    ]
    (other,) = load_writer("each").write(TEXT, [4])  # by the policies of the nearest length
    assert count_words(other) == 4
    assert json.loads(Path("mine/policy.json").read_text())["made_by"]["training"]["seed"] == 4
    assert json.loads(Path("mine/policy.json").read_text())["made_by"]["train_articles"] == 3

    for wrong, code, said in (
        (("export", run, "--policy", "mine"), 2, "mine is not empty"),
        (
            ("export", run, "--policy", "new", "--system", "none"),
            2,
            f"It has {RERANKED}, joint|seed=4, {RERANKED.replace('joint', 'each')}, each|seed=4",
        ),
        (("export", "absent", "--policy", "new"), 1, run),
    ):
        result = nws(*wrong)
        assert (result.code, said in result.err) == (code, True), result.err


def test_a_run_without_policies(nws) -> None:
    swept = nws("submit", "phase1", "--engine", "inline", "--limit", "1", "--n", "3", "--json").json["run_id"]
    assert "has no policies" in nws("export", swept, "--policy", "new").err


def test_what_would_be_trained(nws, tmp_path: Path) -> None:
    plan = nws("submit", "phase2", "--dry-run", "--json", "--limit", "6", "--seed", "1", "--seed", "2").json
    assert (plan["training"]["articles"], plan["articles"], plan["seed"]) == (6, 8, 1)
    assert plan["training"]["updates"] == {"reinforce|seed=1": 15, "reinforce|seed=2": 15}
    shown = nws("submit", "phase2", "--dry-run").out
    assert "trained on    sample (all): 16 articles" in shown
    assert "oracle (oracle)" in shown


def test_test_articles_have_to_come_from_somewhere(nws, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"article": TEXT, "summary": "A bridge."}))
    result = nws("submit", "phase2", "--dataset", "a.jsonl", "--dry-run")
    assert (result.code, "a.jsonl has no test split" in result.err) == (2, True)
    plan = nws("submit", "phase2", "--dataset", "a.jsonl", "--test-dataset", "sample", "--dry-run", "--json").json
    assert (plan["training"]["articles"], plan["articles"]) == (1, 24)
