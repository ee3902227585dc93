"""Korean articles need models with a Korean vocabulary, in every job."""

import re
from pathlib import Path

import pytest

from core.errors import RecipeError
from jobs.recipes.job import make_plan, plan_again, plan_job
from jobs.recipes.load import RECIPES
from jobs.recipes.sweep_recipe import Phase1Recipe

KOREAN = {"datasets": [{"name": "sample-ko"}]}
OF_JOB = {
    "phase1": {},
    "baselines": {},
    "phase2": {"train_datasets": [{"name": "sample-ko", "limit": 3}], "datasets": [{"name": "sample-ko", "skip": 3}]},
}


@pytest.mark.parametrize("job", RECIPES)
def test_english_models_are_refused_for_korean_articles(job: str) -> None:
    with pytest.raises(RecipeError) as refused:
        plan_job(job, "sample", KOREAN | OF_JOB[job])
    message = str(refused.value)
    assert message.startswith("The articles of sample-ko are Korean, and these models cannot read them: encoder all-")
    share = r"\((99|100)%\)"
    assert re.search(rf"encoder all-MiniLM-L6-v2 {share}, BERTScore backbone all-MiniLM-L6-v2 {share}\.", message)
    assert message.endswith(
        "--encoder sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2 "
        "--bertscore-model google-bert/bert-base-multilingual-cased"
    )


@pytest.mark.parametrize("job", RECIPES)
def test_a_multilingual_encoder_and_backbone_pass(tiny_models: dict[str, Path], job: str) -> None:
    multilingual = str(tiny_models["multilingual"])
    encoder = {"encoders": [multilingual]} if job == "phase1" else {"encoder": multilingual}
    bertscore = {"bertscore.model": multilingual, "bertscore.num_layers": 2}
    plan = plan_job(job, "sample", KOREAN | OF_JOB[job] | encoder | bertscore)
    assert plan.revisions["bertscore"].startswith(multilingual)
    with pytest.raises(RecipeError, match=r"read them: BERTScore backbone all-MiniLM-L6-v2 \((99|100)%\)"):
        plan_job(job, "sample", KOREAN | OF_JOB[job] | encoder)
    with pytest.raises(RecipeError, match=r"read them: encoder all-MiniLM-L6-v2 \((99|100)%\)"):
        plan_job(job, "sample", KOREAN | OF_JOB[job] | bertscore)


@pytest.mark.parametrize("name", ["bart", "gpt2-lm", "pegasus", "t5"])
def test_an_english_generator_is_refused_for_korean_articles(tiny_models: dict[str, Path], name: str) -> None:
    bertscore = {"bertscore.model": str(tiny_models["multilingual"]), "bertscore.num_layers": 2}
    systems = {"systems": [str(tiny_models[name])]}  # it needs no encoder, so that one is not asked
    with pytest.raises(RecipeError, match=rf"read them: generator tiny-{name} \(.*--system with a checkpoint"):
        plan_job("baselines", "sample", KOREAN | bertscore | systems)


def test_a_run_that_has_begun_may_end() -> None:
    plan = make_plan(
        Phase1Recipe(**KOREAN, encoders=["all-MiniLM-L6-v2"], pipeline="auto", bertscore={"model": "all-MiniLM-L6-v2"})
    )
    assert plan_again("phase1", plan.recipe.model_dump(mode="json")).recipe == plan.recipe
