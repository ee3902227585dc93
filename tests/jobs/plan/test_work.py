"""What is another work: everything that may make another number. What is the same: where the articles lie, and n."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.analysis.points import POLICY
from core.metrics.config import RougeConfig
from core.models import ModelRef
from core.plugins.load import PluginSpec
from core.summarizers.chunk_systems import ChunkSystem
from core.sweep_plan import SweepPlan
from jobs.plan import sweep
from jobs.plan.job import find_job
from jobs.plan.panels import draw_panels, with_panels
from jobs.plan.pinned import Pinned, PlannedStage
from jobs.plan.work import works
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep import BaselinesRecipe, Phase1Recipe

CODE = "0123456789ab"
CHUNKS = "all-MiniLM-L6-v2|position|chunks"


@pytest.fixture(scope="module")
def pinned() -> Pinned:
    return sweep.pin(load_recipe(Phase1Recipe, "sample", {"limit": 2, "n": [1, 7]}))


def with_plan(pinned: Pinned, change: Callable[[SweepPlan], SweepPlan]) -> Pinned:
    (planned,) = pinned.stages
    return replace(pinned, stages=(PlannedStage(planned.stage, change(planned.plan)),))


def with_revision(pinned: Pinned, **changes: object) -> Pinned:
    return replace(pinned, revisions={**pinned.revisions, **changes})


def with_bertscore(pinned: Pinned, **changes: object) -> Pinned:
    def change(plan: SweepPlan) -> SweepPlan:
        return replace(plan, metrics=replace(plan.metrics, bertscore=replace(plan.metrics.bertscore, **changes)))

    return with_plan(pinned, change)


def with_plugin(pinned: Pinned, sha256: str) -> Pinned:
    return replace(pinned, recipe=pinned.recipe.model_copy(update={"plugins": (PluginSpec("mine.py", sha256),)}))


EVERYTHING: dict[str, Callable[[Pinned], Pinned]] = {
    "segmentation": lambda pinned: with_revision(pinned, segmentation="en_core_web_sm-3.7.1"),
    "libraries": lambda pinned: with_revision(pinned, libraries={**pinned.revisions["libraries"], "torch": "9.9"}),
    "language": lambda pinned: with_plan(pinned, lambda plan: replace(plan, language="ko")),
    "layer of BERTScore": lambda pinned: with_bertscore(pinned, num_layers=5),
    "language data": lambda pinned: with_revision(pinned, language_data={"en_core_web_sm": "sha256:0"}),
    "a digit of a plugin's hash": lambda pinned: with_plugin(pinned, "0" * 63 + "1"),
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
    pinned = with_plugin(pinned, "0" * 64)
    old, new = works(pinned, CODE), works(change(pinned), CODE)
    assert old.keys() == new.keys() == pinned.systems.keys()
    assert not set(old.values()) & set(new.values())


def test_other_code_is_another_work_and_an_editable_library_leaves_none(pinned: Pinned) -> None:
    assert not set(works(pinned, CODE).values()) & set(works(pinned, "123456789abc").values())
    assert len(set(works(pinned, CODE).values())) == len(pinned.systems)
    edited = pinned.revisions["libraries"] | {"rouge-score": "editable"}
    assert works(replace(pinned, revisions=pinned.revisions | {"libraries": edited}), CODE) == {}


def test_what_is_computed_in_less_than_float32_is_no_work(pinned: Pinned) -> None:
    """There a row depends on what else is in a pass."""
    for change in (
        lambda pinned: with_plan(pinned, lambda plan: replace(plan, precision="float16")),
        lambda pinned: with_plan(pinned, lambda plan: replace(plan, precision="tf32")),
        lambda pinned: with_bertscore(pinned, precision="bfloat16"),
    ):
        assert works(change(pinned), CODE) == {}


@pytest.mark.parametrize(
    ("change", "others"),
    [
        ({"seed": 1}, {"random"}),
        ({"n": [1, 7, 9]}, set()),
        ({"limit": 3, "bundle_size": 4, "actors": 2}, set()),
        ({"importance": ["position"]}, set()),
    ],
)
def test_of_the_recipe_only_what_a_system_is_made_of_counts(
    pinned: Pinned, change: dict[str, object], others: set[str]
) -> None:
    asked = {"limit": 2, "n": [1, 7], **change}
    old, new = works(pinned, CODE), works(sweep.pin(load_recipe(Phase1Recipe, "sample", asked)), CODE)
    assert {name for name in new if new[name] != old[name]} == others


def test_an_encoder_counts_for_those_that_ask_for_it(pinned: Pinned) -> None:
    def other(plan: SweepPlan) -> SweepPlan:
        return replace(plan, encoders=tuple(replace(encoder, revision="0" * 40) for encoder in plan.encoders))

    def added(plan: SweepPlan) -> SweepPlan:
        bert = ModelRef("bert", "org/bert", "1" * 40)
        return replace(plan, encoders=(*plan.encoders, bert), systems=(*plan.systems, ChunkSystem("bert", "position")))

    old = works(pinned, CODE)
    changed = works(with_plan(pinned, other), CODE)
    assert {name for name in old if old[name] == changed[name]} == {
        "lead",
        "random",
        "reference-words",
        "other-article",
    }
    assert works(with_plan(pinned, added), CODE).items() > old.items()


@pytest.mark.parametrize("name", ["tiny\\bert", "tiny\u00a0bert", "tiny'\"bert", "e", "(", "tiny\tbert"])
def test_the_weights_of_an_encoder_count_whatever_its_folder_is_called(
    tiny_models: dict[str, Path], tmp_path: Path, name: str
) -> None:
    shutil.copytree(tiny_models["bert"], tmp_path / name)

    def of() -> dict[str, str]:
        asked = {"limit": 2, "n": [1], "systems": ["lead", "textrank", "lead2+chunks", "oracle", "random"]}
        asked |= {"encoder": str(tmp_path / name)}
        return works(sweep.pin(load_recipe(BaselinesRecipe, "sample", asked)), CODE)

    old = of()
    weights = tmp_path / name / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    new = of()
    assert {system for system in old if old[system] == new[system]} == {"lead", "random"}


def test_the_oracle_is_made_of_the_seed_and_the_encoder_of_those_it_is_held_against() -> None:
    def of(**change: object) -> dict[str, str]:
        asked = {"limit": 2, "n": [1], "systems": ["oracle", "lead", "textrank"], **change}
        return works(sweep.pin(load_recipe(BaselinesRecipe, "sample", asked)), CODE)

    old, new = of(), of(seed=1)
    assert {name for name in old if old[name] != new[name]} == {"oracle"}


def test_policies_have_no_work() -> None:
    """They are their run's own, and so is what they were rewarded with."""
    pinned = find_job("phase2").plan("sample", {})
    assert {name for name in pinned.systems if not name.startswith(POLICY)} == works(pinned, CODE).keys()
    assert any(name.startswith(POLICY) for name in pinned.systems)


def test_a_generator_is_its_files_its_settings_and_the_seed(tiny_models: dict[str, Path]) -> None:
    def of(model: str, **change: object) -> tuple[str, ...]:
        asked = {"limit": 2, "n": [1], "systems": [str(tiny_models[model])], **change}
        return tuple(works(sweep.pin(load_recipe(BaselinesRecipe, "sample", asked)), CODE).values())

    assert of("bart") == of("bart", n=[3])
    assert len({of("bart"), of("t5"), of("bart", seed=1)}) == 3


def test_what_is_written_of_another_article_hangs_on_which_others_there_are(pinned: Pinned) -> None:
    others = draw_panels(pinned)
    more = tuple(replace(panel, articles=panel.articles[:1]) for panel in others)
    of_others, of_more = (works(with_panels(pinned, panels), CODE) for panels in (others, more))
    assert {name for name in of_others if of_others[name] != of_more[name]} == {"other-article"}


def test_labels_make_no_other_work(pinned: Pinned) -> None:
    labelled = load_recipe(Phase1Recipe, "sample", {"limit": 2, "n": [1, 7], "labels": {"lexrank": "LexRank"}})
    assert works(sweep.pin(labelled), CODE) == works(pinned, CODE)


def test_characters_are_another_work_of_every_system() -> None:
    words, characters = (
        sweep.pin(load_recipe(Phase1Recipe, "sample", {"limit": 2, **given}))
        for given in ({"n": [50]}, {"max_chars": [50]})
    )
    old, new = works(words, CODE), works(characters, CODE)
    assert old.keys() == new.keys()
    assert not set(old.values()) & set(new.values())
