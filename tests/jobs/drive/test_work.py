"""What is another work: everything that may make another number. What is the same: where the articles lie, and n."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nws.core.metrics.config import RougeConfig
from nws.core.models import ModelRef
from nws.core.stage import Stage
from nws.jobs.drive.reuse import obstacles, reuse_keys
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_job("phase1", "sample", {"datasets.limit": 2, "n": [1, 7]})


def with_stage(plan: Plan, change: Callable[[Stage], Stage]) -> Plan:
    (stage,) = plan.stages
    return replace(plan, stages=(change(stage),))


def with_revision(plan: Plan, **changes: object) -> Plan:
    return replace(plan, revisions={**plan.revisions, **changes})


def with_bertscore(plan: Plan, **changes: object) -> Plan:
    def change(stage: Stage) -> Stage:
        return replace(stage, metrics=replace(stage.metrics, bertscore=replace(stage.metrics.bertscore, **changes)))

    return with_stage(plan, change)


def with_libraries(plan: Plan, **changes: str) -> Plan:
    return with_revision(plan, libraries={**plan.revisions["libraries"], **changes})


EVERYTHING: dict[str, Callable[[Plan], Plan]] = {
    "segmentation": lambda plan: with_revision(plan, segmentation="en_core_web_sm-3.7.1"),
    "libraries": lambda plan: with_libraries(plan, torch="9.9"),
    "unit of length": lambda plan: with_stage(plan, lambda stage: replace(stage, length_unit="characters")),
    "language": lambda plan: with_stage(plan, lambda stage: replace(stage, language="ko")),
    "layer of BERTScore": lambda plan: with_bertscore(plan, num_layers=5),
    "language data": lambda plan: with_revision(plan, language_data={"en_core_web_sm": "sha256:0"}),
    "backbone of BERTScore": lambda plan: with_bertscore(plan, model=ModelRef("all-MiniLM-L6-v2", "org/m", "0" * 40)),
    "ROUGE": lambda plan: with_stage(
        plan, lambda stage: replace(stage, metrics=replace(stage.metrics, rouge=RougeConfig(stemmer=True)))
    ),
}


@pytest.mark.parametrize("change", EVERYTHING.values(), ids=EVERYTHING.keys())
def test_what_decides_every_number_makes_another_work_of_every_system(
    plan: Plan, change: Callable[[Plan], Plan]
) -> None:
    old, new = reuse_keys(plan), reuse_keys(change(plan))
    assert old.keys() == new.keys() == plan.systems.keys()
    assert not set(old.values()) & set(new.values())


IN_HALF = "a row depends on the other texts of its batch"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda plan: with_libraries(plan, **{"rouge-score": "editable"}),
            "the version of rouge-score does not identify its code",
        ),
        (lambda plan: with_libraries(plan, torch="no version"), "the version of torch does not identify its code"),
        (lambda plan: with_revision(plan, plugins={"mine.py": "mine.py@sha256:0"}), "the run has plugins"),
        (lambda plan: with_stage(plan, lambda stage: replace(stage, precision="float16")), f"in float16, {IN_HALF}"),
        (lambda plan: with_stage(plan, lambda stage: replace(stage, precision="tf32")), f"in tf32, {IN_HALF}"),
        (lambda plan: with_bertscore(plan, precision="bfloat16"), f"in bfloat16, {IN_HALF}"),
    ],
)
def test_where_rows_cannot_be_known_there_is_no_work_and_it_is_said_why(
    plan: Plan, change: Callable[[Plan], Plan], told: str
) -> None:
    changed = change(plan)
    assert reuse_keys(changed) == {}
    ((obstacle, systems),) = obstacles(changed).items()
    assert obstacle.startswith(told)
    assert systems == list(plan.systems)
    assert obstacles(plan) == {}


@pytest.mark.parametrize(
    ("change", "others"),
    [
        ({"seed": 1}, {"random"}),
        ({"n": [1, 7, 9]}, set()),
        ({"datasets.limit": 3, "bundle_size": 4, "actors": 2}, set()),
        ({"importance": ["position"], "labels": {"lexrank": "LexRank"}}, set()),
    ],
)
def test_of_the_recipe_only_what_a_system_is_made_of_counts(
    plan: Plan, change: dict[str, object], others: set[str]
) -> None:
    asked = {"datasets.limit": 2, "n": [1, 7], **change}
    old, new = reuse_keys(plan), reuse_keys(plan_job("phase1", "sample", asked))
    assert {name for name in new if new[name] != old[name]} == others


@pytest.mark.parametrize("name", ["tiny\\bert", "tiny\u00a0bert", "tiny'\"bert", "e", "(", "tiny\tbert"])
def test_the_weights_of_an_encoder_count_whatever_its_folder_is_called(
    tiny_models: dict[str, Path], tmp_path: Path, name: str
) -> None:
    shutil.copytree(tiny_models["bert"], tmp_path / name)

    def of() -> dict[str, str]:
        asked = {"datasets.limit": 2, "n": [1], "systems": ["lead", "textrank", "lead2+chunks", "oracle", "random"]}
        asked |= {"encoder": str(tmp_path / name)}
        return reuse_keys(plan_job("baselines", "sample", asked))

    old = of()
    weights = tmp_path / name / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    new = of()
    assert {system for system in old if old[system] == new[system]} == {"lead", "random"}


def test_a_generator_is_its_files_its_settings_and_the_seed(tiny_models: dict[str, Path]) -> None:
    def of(model: str, **change: object) -> tuple[str, ...]:
        asked = {"datasets.limit": 2, "n": [1], "systems": [str(tiny_models[model])], **change}
        return tuple(reuse_keys(plan_job("baselines", "sample", asked)).values())

    assert of("bart") == of("bart", n=[3])
    assert len({of("bart"), of("t5"), of("bart", seed=1)}) == 3


def test_what_is_written_of_another_article_hangs_on_which_others_there_are(plan: Plan) -> None:
    others = plan.with_panels().panels
    more = tuple(replace(panel, articles=panel.articles[:1]) for panel in others)
    of_others, of_more = (reuse_keys(replace(plan, panels=panels).with_panels()) for panels in (others, more))
    assert {name for name in of_others if of_others[name] != of_more[name]} == {"other-article"}
