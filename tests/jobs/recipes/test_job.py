"""What every job has, and which models it refuses for Korean articles."""

import json
from pathlib import Path
from typing import Any

import pytest

from nws.core.errors import RecipeError
from nws.jobs import cli
from nws.jobs.recipes.job import make_plan, plan_again, plan_job
from nws.jobs.recipes.load import BUNDLED, RECIPES, recipe_class
from nws.jobs.recipes.sweep_recipe import Phase1Recipe


def test_every_job_has_what_contributing_asks_for() -> None:
    for name in RECIPES:
        assert recipe_class(name).job == name
        assert (BUNDLED / name / "sample.yaml").is_file()
    assert {command.name for command in cli.submit_app.registered_commands} == set(RECIPES)


def test_a_stored_recipe_plans_the_same_run_again() -> None:
    for job in RECIPES:
        planned = plan_job(job, "sample", {"datasets.limit": 2})
        again = plan_again(job, planned.recipe.model_dump(mode="json"))
        assert again.recipe == planned.recipe
        assert again.run_spec() == planned.run_spec()


KOREAN = {"datasets": [{"name": "sample-ko"}]}
OF_JOB = {
    "phase1": {},
    "baselines": {},
    "phase2": {"train_datasets": [{"name": "sample-ko", "limit": 3}], "datasets": [{"name": "sample-ko", "skip": 3}]},
}


@pytest.mark.parametrize("job", RECIPES)
def test_models_that_read_no_korean_are_refused_for_korean_articles(tiny_models: dict[str, Path], job: str) -> None:
    with pytest.raises(RecipeError, match=r"encoder all-MiniLM-L6-v2, BERTScore backbone all-MiniLM-L6-v2.* --encoder"):
        plan_job(job, "sample", KOREAN | OF_JOB[job])
    multilingual = str(tiny_models["multilingual"])
    encoder = {"encoders": [multilingual]} if job == "phase1" else {"encoder": multilingual}
    bertscore = {"bertscore.model": multilingual, "bertscore.num_layers": 2}
    plan = plan_job(job, "sample", KOREAN | OF_JOB[job] | encoder | bertscore)
    assert plan.revisions["bertscore"].startswith(multilingual)
    with pytest.raises(RecipeError, match=r"read them: BERTScore backbone all-MiniLM-L6-v2\."):
        plan_job(job, "sample", KOREAN | OF_JOB[job] | encoder)


@pytest.mark.parametrize("name", ["bart", "t5"])
def test_an_english_generator_is_refused_for_korean_articles(tiny_models: dict[str, Path], name: str) -> None:
    bertscore = {"bertscore.model": str(tiny_models["multilingual"]), "bertscore.num_layers": 2}
    systems = {"systems": [str(tiny_models[name])]}  # it needs no encoder, so that one is not asked
    with pytest.raises(RecipeError, match=rf"read them: generator tiny-{name}\. .*--system with a checkpoint"):
        plan_job("baselines", "sample", KOREAN | bertscore | systems)


def test_a_korean_run_that_has_begun_may_end() -> None:
    plan = make_plan(
        Phase1Recipe(**KOREAN, encoders=["all-MiniLM-L6-v2"], pipeline="auto", bertscore={"model": "all-MiniLM-L6-v2"})
    )
    assert plan_again("phase1", plan.recipe.model_dump(mode="json")).recipe == plan.recipe


@pytest.mark.parametrize(
    ("lengths", "longest"),
    [
        ({"n": [9, 100_000]}, "n = 100000 is too long: the longest of the 2 articles has 30 words"),
        ({"n": [31]}, "n = 31 is too long: the longest of the 2 articles has 30 words"),
        ({"max_chars": [150]}, "n = 150 is too long: the longest of the 2 articles has 149 characters"),
        *(({"n": [21, 30]}, None), ({"max_chars": [149]}, None), ({}, None)),
    ],
)
def test_lengths_that_no_article_has_are_refused(tmp_path: Path, lengths: dict[str, Any], longest: str | None) -> None:
    rows = [{"article": " ".join(["word"] * size), "summary": "One."} for size in (10, 30)]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = {"datasets": [{"name": str(tmp_path / "news.jsonl")}], "systems": ["lead"], **lengths}
    if longest is None:
        assert plan_job("baselines", "sample", settings).articles == 2
        return
    with pytest.raises(RecipeError, match=longest) as refused:
        plan_job("baselines", "sample", settings)
    assert refused.value.settings == tuple(lengths)
