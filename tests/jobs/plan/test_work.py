"""What is another work: everything that may make another number. What is the same: where the articles lie, and n."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.analysis.points import POLICY
from core.metrics.config import RougeConfig
from core.models import ModelRef
from core.summarizers.chunk_systems import ChunkSystem
from core.summarizers.predictions import PredictionsSpec
from core.sweep_plan import SweepPlan
from jobs.plan import sweep
from jobs.plan.job import find_job, with_own
from jobs.plan.panels import draw_panels, with_panels
from jobs.plan.pinned import Pinned, PlannedStage
from jobs.plan.work import obstacles, works
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep import BaselinesRecipe, Phase1Recipe

CHUNKS = "all-MiniLM-L6-v2|position|chunks"


@pytest.fixture(scope="module")
def pinned() -> Pinned:
    return sweep.pin(load_recipe(Phase1Recipe, "sample", {"datasets.limit": 2, "n": [1, 7]}))


def with_plan(pinned: Pinned, change: Callable[[SweepPlan], SweepPlan]) -> Pinned:
    (planned,) = pinned.stages
    return replace(pinned, stages=(PlannedStage(planned.stage, change(planned.plan)),))


def with_revision(pinned: Pinned, **changes: object) -> Pinned:
    return replace(pinned, revisions={**pinned.revisions, **changes})


def with_bertscore(pinned: Pinned, **changes: object) -> Pinned:
    def change(plan: SweepPlan) -> SweepPlan:
        return replace(plan, metrics=replace(plan.metrics, bertscore=replace(plan.metrics.bertscore, **changes)))

    return with_plan(pinned, change)


def with_libraries(pinned: Pinned, **changes: str) -> Pinned:
    return with_revision(pinned, libraries={**pinned.revisions["libraries"], **changes})


EVERYTHING: dict[str, Callable[[Pinned], Pinned]] = {
    "segmentation": lambda pinned: with_revision(pinned, segmentation="en_core_web_sm-3.7.1"),
    "libraries": lambda pinned: with_libraries(pinned, torch="9.9"),
    "language": lambda pinned: with_plan(pinned, lambda plan: replace(plan, language="ko")),
    "layer of BERTScore": lambda pinned: with_bertscore(pinned, num_layers=5),
    "language data": lambda pinned: with_revision(pinned, language_data={"en_core_web_sm": "sha256:0"}),
    "backbone of BERTScore": lambda pinned: with_bertscore(
        pinned, model=ModelRef("all-MiniLM-L6-v2", "org/m", "0" * 40)
    ),
    "ROUGE": lambda pinned: with_plan(
        pinned, lambda plan: replace(plan, metrics=replace(plan.metrics, rouge=RougeConfig(stemmer=True)))
    ),
}


@pytest.mark.parametrize("change", EVERYTHING.values(), ids=EVERYTHING.keys())
def test_what_decides_every_number_makes_another_work_of_every_system(
    pinned: Pinned, change: Callable[[Pinned], Pinned]
) -> None:
    old, new = works(pinned), works(change(pinned))
    assert old.keys() == new.keys() == pinned.systems.keys()
    assert not set(old.values()) & set(new.values())


def test_other_code_is_another_work(pinned: Pinned, monkeypatch: pytest.MonkeyPatch) -> None:
    old = works(pinned)
    monkeypatch.setattr("jobs.plan.work.code_as_imported", lambda: "123456789abc")
    assert not set(old.values()) & set(works(pinned).values())
    assert len(set(old.values())) == len(pinned.systems)


IN_HALF = "a row depends on what else is in its batch"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda pinned: with_libraries(pinned, **{"rouge-score": "editable"}),
            "no version tells the code of rouge-score",
        ),
        (lambda pinned: with_libraries(pinned, torch="no version"), "no version tells the code of torch"),
        (lambda pinned: with_revision(pinned, plugins={"mine.py": "mine.py@sha256:0"}), "the run has plugins"),
        (lambda pinned: with_plan(pinned, lambda plan: replace(plan, precision="float16")), f"in float16 {IN_HALF}"),
        (lambda pinned: with_plan(pinned, lambda plan: replace(plan, precision="tf32")), f"in tf32 {IN_HALF}"),
        (lambda pinned: with_bertscore(pinned, precision="bfloat16"), f"in bfloat16 {IN_HALF}"),
    ],
)
def test_where_rows_cannot_be_known_there_is_no_work_and_it_is_said_why(
    pinned: Pinned, change: Callable[[Pinned], Pinned], told: str
) -> None:
    changed = change(pinned)
    assert works(changed) == {}
    ((obstacle, systems),) = obstacles(changed).items()
    assert obstacle.startswith(told)
    assert systems == list(pinned.systems)
    assert obstacles(pinned) == {}


def test_edited_sources_have_no_work(pinned: Pinned, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.plan.work.are_as_imported", lambda: False)
    assert works(pinned) == {}
    assert [*obstacles(pinned)] == ["NWS's sources were edited after this process had begun"]


def test_predictions_have_no_work_beside_systems_that_have(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("id,prediction\n1,Some words.\n")
    spec = PredictionsSpec("mine", str(tmp_path / "mine.csv"))
    asked = {"datasets.limit": 2, "n": [1], "systems": ["lead"]}
    recipe = load_recipe(BaselinesRecipe, "sample", asked).model_copy(update={"predictions": (spec,)})
    pinned = with_own(sweep.pin(recipe))
    assert works(pinned).keys() == {"lead"}
    assert obstacles(pinned) == {"predictions are scored in each run": ["mine"]}


@pytest.mark.parametrize(
    ("change", "others"),
    [
        ({"seed": 1}, {"random"}),
        ({"n": [1, 7, 9]}, set()),
        ({"datasets.limit": 3, "bundle_size": 4, "actors": 2}, set()),
        ({"importance": ["position"]}, set()),
    ],
)
def test_of_the_recipe_only_what_a_system_is_made_of_counts(
    pinned: Pinned, change: dict[str, object], others: set[str]
) -> None:
    asked = {"datasets.limit": 2, "n": [1, 7], **change}
    old, new = works(pinned), works(sweep.pin(load_recipe(Phase1Recipe, "sample", asked)))
    assert {name for name in new if new[name] != old[name]} == others


def test_an_encoder_counts_for_those_that_ask_for_it(pinned: Pinned) -> None:
    def other(plan: SweepPlan) -> SweepPlan:
        return replace(plan, encoders=tuple(replace(encoder, revision="0" * 40) for encoder in plan.encoders))

    def added(plan: SweepPlan) -> SweepPlan:
        bert = ModelRef("bert", "org/bert", "1" * 40)
        return replace(plan, encoders=(*plan.encoders, bert), systems=(*plan.systems, ChunkSystem("bert", "position")))

    old = works(pinned)
    changed = works(with_plan(pinned, other))
    assert {name for name in old if old[name] == changed[name]} == {
        "lead",
        "random",
        "reference-words",
        "other-article",
    }
    assert works(with_plan(pinned, added)).items() > old.items()


@pytest.mark.parametrize("name", ["tiny\\bert", "tiny\u00a0bert", "tiny'\"bert", "e", "(", "tiny\tbert"])
def test_the_weights_of_an_encoder_count_whatever_its_folder_is_called(
    tiny_models: dict[str, Path], tmp_path: Path, name: str
) -> None:
    shutil.copytree(tiny_models["bert"], tmp_path / name)

    def of() -> dict[str, str]:
        asked = {"datasets.limit": 2, "n": [1], "systems": ["lead", "textrank", "lead2+chunks", "oracle", "random"]}
        asked |= {"encoder": str(tmp_path / name)}
        return works(sweep.pin(load_recipe(BaselinesRecipe, "sample", asked)))

    old = of()
    weights = tmp_path / name / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    new = of()
    assert {system for system in old if old[system] == new[system]} == {"lead", "random"}


def test_the_oracle_is_made_of_the_seed_and_the_encoder_of_those_it_is_held_against() -> None:
    def of(**change: object) -> dict[str, str]:
        asked = {"datasets.limit": 2, "n": [1], "systems": ["oracle", "lead", "textrank"], **change}
        return works(sweep.pin(load_recipe(BaselinesRecipe, "sample", asked)))

    old, new = of(), of(seed=1)
    assert {name for name in old if old[name] != new[name]} == {"oracle"}


def test_policies_have_no_work() -> None:
    """They are their run's own, and so is what they were rewarded with."""
    pinned = find_job("phase2").plan("sample", {})
    assert {name for name in pinned.systems if not name.startswith(POLICY)} == works(pinned).keys()
    assert any(name.startswith(POLICY) for name in pinned.systems)


def test_a_generator_is_its_files_its_settings_and_the_seed(tiny_models: dict[str, Path]) -> None:
    def of(model: str, **change: object) -> tuple[str, ...]:
        asked = {"datasets.limit": 2, "n": [1], "systems": [str(tiny_models[model])], **change}
        return tuple(works(sweep.pin(load_recipe(BaselinesRecipe, "sample", asked))).values())

    assert of("bart") == of("bart", n=[3])
    assert len({of("bart"), of("t5"), of("bart", seed=1)}) == 3


def test_what_is_written_of_another_article_hangs_on_which_others_there_are(pinned: Pinned) -> None:
    others = draw_panels(pinned)
    more = tuple(replace(panel, articles=panel.articles[:1]) for panel in others)
    of_others, of_more = (works(with_panels(pinned, panels)) for panels in (others, more))
    assert {name for name in of_others if of_others[name] != of_more[name]} == {"other-article"}


def test_labels_make_no_other_work(pinned: Pinned) -> None:
    labelled = load_recipe(Phase1Recipe, "sample", {"datasets.limit": 2, "n": [1, 7], "labels": {"lexrank": "LexRank"}})
    assert works(sweep.pin(labelled)) == works(pinned)


def test_characters_are_another_work_of_every_system() -> None:
    words, characters = (
        sweep.pin(load_recipe(Phase1Recipe, "sample", {"datasets.limit": 2, **given}))
        for given in ({"n": [50]}, {"max_chars": [50]})
    )
    old, new = works(words), works(characters)
    assert old.keys() == new.keys()
    assert not set(old.values()) & set(new.values())
