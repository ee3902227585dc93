from pathlib import Path

import pytest
import yaml

from nws.core.errors import RecipeError
from nws.core.learning.training_config import Decoding, OptimizerConfig, PolicyConfig, ReinforceConfig, TrainingConfig
from nws.core.text.dataset import BUNDLED
from nws.jobs.recipes.load import load_recipe, parse_recipe, parse_settings
from nws.jobs.recipes.phase2 import MethodRecipe, Phase2Recipe


def test_defaults_are_those_of_the_science() -> None:
    (training,) = MethodRecipe(name="mine").trainings(3, (7, 9, 11, 13))
    assert training == TrainingConfig("mine|seed=3", 3)


def test_a_method_may_have_a_pair_for_each_n() -> None:
    trainings = MethodRecipe(name="mine", scope="per-n").trainings(3, (7, 9))
    assert [(t.name, t.lengths, t.seed) for t in trainings] == [(f"mine|seed=3|n={n}", (n,), 3) for n in (7, 9)]


def test_the_paper_recipe_is_the_study_with_its_own_method_beside() -> None:
    paper = load_recipe(Phase2Recipe, "paper", {})
    assert isinstance(paper, Phase2Recipe)
    assert [(d.name, d.split, d.limit) for d in paper.train_datasets] == [("cnn_dailymail", "train", 200)]
    assert [(d.name, d.split, d.limit) for d in paper.datasets] == [("cnn_dailymail", "test", 200)]
    assert (paper.encoder, paper.n, paper.accelerator) == ("all-MiniLM-L6-v2", (7, 9, 11, 13), "T4")
    assert (paper.bertscore.model, paper.bertscore.num_layers) == ("bert-base-uncased", 9)
    assert [method.name for method in paper.methods] == ["reinforce", "as-written"]
    as_written = load_recipe(Phase2Recipe, "as-written", {}).methods[0]
    assert paper.methods[1].model_copy(update={"passes": as_written.passes}) == as_written
    (training,) = as_written.trainings(0, (7,))
    assert training.policies == PolicyConfig("embeddings", 128, residual=False, mask_repeats=False)
    assert training.reinforce == ReinforceConfig(1, "none", False, 0.0, "softmax-sum")
    assert training.optimizer == OptimizerConfig(1e-3, 0.0, None)


def test_study_cpu_is_the_paper_s_with_a_small_model_and_the_default_training() -> None:
    paper, small = (load_recipe(Phase2Recipe, name, {}) for name in ("paper", "study-cpu"))
    for key in ("train_datasets", "datasets", "seeds", "systems", "n", "encoder", "reward", "decodings"):
        assert getattr(small, key) == getattr(paper, key), key
    assert small.methods == paper.methods[:1]
    assert (small.accelerator, small.bertscore.model, small.bertscore.num_layers) == ("cpu", "all-MiniLM-L6-v2", 6)
    own = {"train_datasets": [{"name": "a.jsonl"}], "datasets": [{"name": "b.jsonl"}]}
    files = load_recipe(Phase2Recipe, "study-cpu", own)
    found = [(d.name, d.limit) for d in (*files.train_datasets, *files.datasets)]
    assert found == [("a.jsonl", None), ("b.jsonl", None)]


def test_limits_of_training_and_test_articles_are_two() -> None:
    asked = {"train_datasets.limit": 3, "datasets.limit": 2, "datasets.key_field": "id"}
    recipe = load_recipe(Phase2Recipe, "sample", asked)
    assert [(d.skip, d.limit, d.key_field) for d in recipe.train_datasets] == [(0, 3, None)]
    assert [(d.skip, d.limit, d.key_field) for d in recipe.datasets] == [(16, 2, "id")]
    own = {"train_datasets": [{"name": "a.jsonl"}], "train_datasets.split": "train"}
    replaced = load_recipe(Phase2Recipe, "sample", own)
    assert [(d.name, d.split) for d in replaced.train_datasets] == [("a.jsonl", "train")]


def test_decodings_may_be_named() -> None:
    assert load_recipe(Phase2Recipe, "sample", {}).decodings == (Decoding("rerank"), Decoding("greedy"))
    mine = load_recipe(Phase2Recipe, "sample", {"decodings": ["greedy", {"method": "rerank", "k": 9}]})
    assert mine.decodings == (Decoding("greedy"), Decoding("rerank", k=9))
    assert load_recipe(Phase2Recipe, "as-written", {}).decodings == (Decoding("greedy"),)
    again = parse_recipe(Phase2Recipe, mine.model_dump(mode="json"), "stored")
    assert (again, again.hash) == (mine, mine.hash)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"methods": []}, "methods"),
        ({"methods": [{"name": "a b"}]}, "String should match pattern"),
        ({"methods": [{"name": "a"}, {"name": "a"}]}, "two methods are called 'a'"),
        (
            {"methods": [{"name": "a", "reinforce": {"samples": 1}}]},
            "methods.0.reinforce: 1 samples are too few: use at least 2",
        ),
        ({"methods": [{"name": "a", "reinforce": {"samples": 1, "advantage_baseline": "none"}}]}, "use at least 2"),
        (
            {"methods": [{"name": "a", "reinforce": {"samples": 0, "advantage_baseline": "none", "normalise": False}}]},
            "use at least 1",
        ),
        ({"seeds": []}, "seeds"),
        ({"reward": {"weights": {}}}, "reward.weights"),
        ({"reward": {"weights": {"bertscore": 0}}}, "reward.weights.bertscore"),
        ({"reward": {"weights": {"beauty": 1}}}, "no metric 'beauty'"),
        ({"reward": "kept_words"}, "'kept_words' cannot be a reward"),
        ({"train_datasets": [{"name": "a.jsonl", "limit": 0}]}, r"train_datasets.0: a.jsonl: limit is 0"),
        ({"methods": [{"name": "a", "optimizer": {"learning_rate": ".inf"}}]}, "methods.0.optimizer.learning_rate"),
        ({"decodings": ["beam"]}, "no decoding 'beam'. The known names are rerank and greedy"),
        ({"decodings": [{"method": "rerank", "k": 0}]}, "decodings.0.k"),
        ({"decodings": [{"method": "greedy", "fluency_weight": 0.1}]}, "decodings.0: greedy has no fluency_weight"),
        ({"decodings": ["rerank", {"method": "rerank"}]}, "two decodings are called 'rerank-160-lead6-adjacent0.05'"),
    ],
)
def test_unusable_recipes_are_refused_by_name(wrong: dict[str, object], said: str, tmp_path: Path) -> None:
    recipe = load_recipe(Phase2Recipe, "sample", {}).model_dump(mode="json")
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(recipe | wrong))
    with pytest.raises(RecipeError, match=said):
        load_recipe(Phase2Recipe, str(tmp_path / "x.yaml"), {})


def test_passes_are_those_of_every_method_also_where_none_is_named(tmp_path: Path) -> None:
    asked = load_recipe(Phase2Recipe, "paper", {"methods.passes": 3})
    assert [(method.name, method.passes) for method in asked.methods] == [("reinforce", 3), ("as-written", 3)]
    mine = tmp_path / "mine.yaml"
    mine.write_text("train_datasets: [{name: sample, limit: 4}]\ndatasets: [{name: sample, skip: 4}]\n")
    plain, asked = (load_recipe(Phase2Recipe, str(mine), given) for given in ({}, {"methods.passes": 2}))
    assert asked == plain.model_copy(update={"methods": (plain.methods[0].model_copy(update={"passes": 2}),)})
    with pytest.raises(RecipeError, match="passes: should be greater than or equal to 1, not 0") as refused:
        load_recipe(Phase2Recipe, str(mine), {"methods.passes": 0})
    assert refused.value.settings == ("passes",)


@pytest.mark.parametrize(
    ("train_datasets", "overrides"),
    [
        ("[xsum]", {}),
        ("[{name: xsum, limit: 3}]", {}),
        ("[{name: sample}]", {"train_datasets.name": "xsum"}),
        ("[sample]", {"train_datasets": ["xsum"]}),
        ("[sample]", parse_settings(["train_datasets=[{name: xsum}]", "train_datasets.limit=4"])),
    ],
)
def test_policies_are_trained_on_the_split_for_training(
    train_datasets: str, overrides: dict[str, object], tmp_path: Path
) -> None:
    content = f"train_datasets: {train_datasets}\ndatasets: [xsum]\n"
    (tmp_path / "mine.yaml").write_text(content)
    by_path = load_recipe(Phase2Recipe, str(tmp_path / "mine.yaml"), overrides)
    recipes = [by_path] if overrides else [by_path, parse_recipe(Phase2Recipe, yaml.safe_load(content), "mine")]
    for recipe in recipes:
        assert [(d.name, d.split) for d in recipe.train_datasets] == [("xsum", "train")]
        assert [(d.name, d.split) for d in recipe.datasets] == [("xsum", "test")]
        assert parse_recipe(Phase2Recipe, recipe.model_dump(mode="json"), "stored") == recipe
    named = load_recipe(Phase2Recipe, str(tmp_path / "mine.yaml"), {"train_datasets.split": "validation"})
    assert named.train_datasets[0].split == "validation"


def test_the_test_articles_of_a_recipe_are_used_with_another_training_file(nws, tmp_path: Path) -> None:
    rows = BUNDLED["sample"].read_text(encoding="utf-8").splitlines()
    (tmp_path / "train.jsonl").write_text("\n".join(rows[:6]), encoding="utf-8")
    (tmp_path / "test.jsonl").write_text("\n".join(rows[6:9]), encoding="utf-8")
    (tmp_path / "mine.yaml").write_text("train_datasets: [sample]\ndatasets: [{name: test.jsonl}]\npipeline: blank\n")
    submit = ("submit", "phase2", "--dataset", "train.jsonl", "--bertscore-model", "all-MiniLM-L6-v2", "--dry-run")
    described = nws(*submit, "--recipe", "mine.yaml", "--json").json
    assert [corpus["name"] for corpus in described["datasets"]] == ["test.jsonl"]
    assert [corpus["name"] for corpus in described["training"]["datasets"]] == ["train.jsonl"]
    refused = nws(*submit, "--recipe", "sample")
    assert "train.jsonl has no test split. Name the test articles with --test-dataset." in refused.err
