"""What a Phase 2 recipe means once its names have been looked up."""

import json
from pathlib import Path

import pytest

from nws.core.errors import RecipeError
from nws.core.learning.policy_system import PolicySystem
from nws.jobs.recipes.job import make_plan
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.phase2 import Phase2Recipe


def test_policies_are_systems_beside_the_others() -> None:
    plan = make_plan(load_recipe(Phase2Recipe, "sample", {"seeds": [3, 1]}))
    policies = [
        f"policy|reinforce{how}|seed={seed}" for seed in (3, 1) for how in ("|rerank-160-lead6-adjacent0.05", "")
    ]
    untrained = ("untrained|rerank-160-lead6-adjacent0.05", "untrained|greedy")
    assert tuple(plan.systems) == (*policies, *untrained, "lead2+chunks", "lead3-search", "textrank", "lead", "oracle")
    (stage,) = plan.stages
    assert [s.checkpoints for s in stage.systems if isinstance(s, PolicySystem)] == [{}] * 6
    assert plan.training is not None
    assert list(plan.policies) == ["reinforce|seed=3", "reinforce|seed=1"]  # each is trained once
    assert plan.articles == 8  # of the test
    assert set(plan.revisions["train_datasets"]) == {"sample"}


def test_the_reward_is_the_run_s_bertscore_unless_it_is_told_otherwise() -> None:
    plain = make_plan(load_recipe(Phase2Recipe, "sample", {}))
    assert plain.signatures["reward"] == plain.signatures["bertscore"]
    half = make_plan(load_recipe(Phase2Recipe, "sample", {"reward": {"precision": "bfloat16"}}))
    assert half.signatures["bertscore"] == plain.signatures["bertscore"]
    assert half.signatures["reward"] != plain.signatures["reward"]
    assert "bfloat16" in half.signatures["reward"]
    mixed = make_plan(load_recipe(Phase2Recipe, "sample", {"reward": {"weights": {"bertscore": 3, "rouge1": 1}}}))
    assert mixed.signatures["reward"].startswith(f"3 * {plain.signatures['bertscore']} + 1 * rouge1")


def test_an_article_may_not_be_both_trained_on_and_judged_on(tmp_path: Path) -> None:
    rows = [{"id": str(i), "article": f"Snow fell on  town {i}.", "summary": "Snow."} for i in range(4)]
    for name, part in (("train", rows[:3]), ("test", rows[2:])):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, part)))
    train, test = ([{"name": str(tmp_path / f"{name}.jsonl")}] for name in ("train", "test"))
    datasets = {"train_datasets": train, "datasets": test}
    copied = r"Test article '2' of test\.jsonl is a near copy of training article '2' of train\.jsonl: .* 100 % .* 50 %"
    with pytest.raises(RecipeError, match=copied):
        make_plan(load_recipe(Phase2Recipe, "sample", datasets))
    assert make_plan(load_recipe(Phase2Recipe, "sample", {**datasets, "train_datasets.limit": 2})).articles == 2


def test_training_and_test_are_in_one_language() -> None:
    with pytest.raises(RecipeError, match="'en' and the test articles in 'ko'"):
        make_plan(load_recipe(Phase2Recipe, "sample", {"datasets": [{"name": "sample-ko"}], "pipeline": "auto"}))


def test_a_korean_reward_counts_morphemes() -> None:
    korean = {
        "train_datasets": [{"name": "sample-ko", "limit": 3}],
        "datasets": [{"name": "sample-ko", "skip": 3}],
        "pipeline": "auto",
        "reward": {"weights": {"rouge1": 1}},
    }
    assert "tok:kiwi" in make_plan(load_recipe(Phase2Recipe, "sample", korean)).signatures["reward"]


def test_content_kept_is_rewarded_with_other_training_articles() -> None:
    plain, kept = (make_plan(load_recipe(Phase2Recipe, "sample", of)) for of in ({}, {"reward": "kept"}))
    assert plain.training is not None
    assert kept.training is not None
    assert kept.recipe.reward.weights == {"kept": 1}
    assert kept.signatures["reward"].startswith("kept|ref:first")
    (panel,) = kept.training.panels
    assert {article.id for article in panel.articles} == {article.id for article in kept.train_corpora[0]}
    assert plain.training.panels == ()
