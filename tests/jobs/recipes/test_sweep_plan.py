"""Phase 1 and the baselines through the driver, on the in-process pool with tiny models."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from stored_rows import rows
from undisturbed import QUIET

from nws.core.errors import RecipeError
from nws.core.systems.extractive_baselines import BASELINES
from nws.jobs.drive import driver
from nws.jobs.recipes.job import make_plan
from nws.jobs.recipes.load import load_recipe, parse_recipe
from nws.jobs.recipes.sweep_recipe import BaselinesRecipe
from nws.jobs.store import Store

LENGTHS = [1, 5]


def recipe(tiny_models: dict[str, Path], *systems: str, **changes: object) -> dict[str, object]:
    tiny = {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}, "encoder": str(tiny_models["bert"])}
    return {**tiny, "datasets.limit": 3, "bundle_size": 2, "n": LENGTHS, "systems": list(systems), **changes}


def counts(store: Store) -> dict[str, int]:
    return dict(rows(store, "select system, count(*) from summaries group by system"))


def test_generators_are_stages_of_their_own_and_pinned_by_their_files(tiny_models: dict[str, Path]) -> None:
    bart, t5 = str(tiny_models["bart"]), str(tiny_models["t5"])
    plan = make_plan(load_recipe(BaselinesRecipe, "sample", recipe(tiny_models, "lead", bart, "oracle", t5)))
    assert [stage.name for stage in plan.stages] == ["extractive", "tiny-bart", "tiny-t5"]
    assert tuple(plan.systems) == ("lead", "oracle", "tiny-bart", "tiny-t5")
    assert plan.revisions["generators"]["tiny-t5"].startswith(f"{t5}@sha256:")
    assert "prefix='summarize: '" in plan.revisions["generators"]["tiny-t5"]
    again = make_plan(parse_recipe(BaselinesRecipe, plan.recipe.model_dump(mode="json"), "stored"))
    assert (again.recipe, again.stages, again.revisions) == (plan.recipe, plan.stages, plan.revisions)
    assert all(stage.encoders == () for stage in plan.stages[1:])  # a GPU holds one generator at a time


@pytest.mark.slow
def test_every_system_at_every_length(store: Store, tiny_models: dict[str, Path]) -> None:
    names = [name for name in BASELINES if name != "person"]  # these articles have one reference each
    systems = (*names, *(str(tiny_models[name]) for name in ("bart", "t5", "pegasus", "gpt2-lm")))
    plan = make_plan(load_recipe(BaselinesRecipe, "sample", recipe(tiny_models, *systems)))
    outcome = driver.start(store, plan, "inline", QUIET)
    assert (outcome.state, outcome.articles, outcome.failures) == ("done", 3, 0)
    generated = {f"tiny-{name}": 9 for name in ("bart", "t5", "pegasus", "gpt2-lm")}
    assert counts(store) == {**dict.fromkeys(names, 6), "lead3": 9, **generated}
    extractive = "', '".join(names)
    assert rows(store, f"select 1 from summaries where n > 0 and words <> n and system in ('{extractive}')") == []
    assert rows(store, "select distinct kind, system from leaderboard where kind <> 'system' order by 1, 2") == [
        *(("control", name) for name in ("lead", "other-article", "random")),
        *(("oracle", name) for name in ("oracle", "reference-words")),
    ]


def test_no_encoder_is_loaded_where_no_system_asks_for_one(
    store: Store, tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are those of a run in which it embeds every sentence and chunk."""
    plan = make_plan(load_recipe(BaselinesRecipe, "sample", recipe(tiny_models, "lead", "random", "reference-words")))
    (stage,) = plan.stages
    encoders = make_plan(load_recipe(BaselinesRecipe, "sample", recipe(tiny_models, "textrank"))).stages[0].encoders
    assert len(encoders) == 1
    for stages in ((replace(stage, encoders=encoders),), plan.stages):
        assert driver.start(store, replace(plan, stages=stages), "inline", QUIET).failures == 0
        monkeypatch.setattr("nws.core.sweep.load_encoder", None)
    query = (
        "select run_id, article_id, system, n, text, words, bertscore_precision, bertscore_recall, bertscore_f1, "
        "rouge1_f1, rouge2_f1, rougel_f1, density, kept, kept_words from summaries order by 1, 2, 3, 4"
    )
    found = [row[1:] for row in rows(store, query)]
    assert found[: len(found) // 2] == found[len(found) // 2 :]


def test_changed_weights_are_refused_on_resume(store: Store, tiny_models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(tiny_models["bart"], folder)
    plan = make_plan(load_recipe(BaselinesRecipe, "sample", recipe(tiny_models, str(folder))))
    outcome = driver.start(store, plan, "inline", QUIET)
    (folder / "generation_config.json").write_text('{"num_beams": 1}')
    with pytest.raises(RecipeError, match=r"its generators changed from .*mine@sha256"):
        driver.resume(store, outcome.run_id, "inline", None, None, QUIET)


@pytest.mark.slow
@pytest.mark.parametrize(("length", "mark"), [("exactly", "|exact"), ("at_most", "|at_most"), ("free", "")])
def test_an_instruct_checkpoint_is_asked_once_for_each_n(
    store: Store, tiny_models: dict[str, Path], length: str, mark: str
) -> None:
    """With `length: free` it writes as many words as it likes, and is cut."""
    asked = {"prompt": "In {n} words: {article}", "length": length}
    plan = make_plan(load_recipe(BaselinesRecipe, "sample", recipe(tiny_models, str(tiny_models["llama"]), **asked)))
    (system,) = plan.systems
    assert system.startswith("tiny-llama|prompt=")
    assert system.count("|") == 1 + bool(mark)
    assert system.endswith(mark)
    is_usual = length == "exactly"
    assert ("length" in plan.recipe.model_dump(mode="json")) is not is_usual, "the hash of an exact one is what it was"
    assert f"|prompt={asked['prompt']!r}|" in plan.revisions["generators"][system]
    outcome = driver.start(store, plan, "inline", QUIET)
    assert (outcome.state, outcome.failures, counts(store)) == ("done", 0, {system: 6})
    query = "select n, words, extra ->> 'words_written' from summaries"
    found = [(n, words, int(written)) for n, words, written in rows(store, query)]
    assert all(words == min(n, written) for n, words, written in found)
    assert all(n == written for n, _, written in found) is (length == "exactly")
    assert all(n >= written for n, _, written in found) is (length != "free")


def test_a_checkpoint_of_the_hub_is_known_from_its_configuration(
    tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No weights are downloaded for it."""
    asked: list[bool] = []

    def download(repository: str, commit: str, with_weights: bool = True) -> Path:
        asked.append(with_weights)
        return tiny_models["llama"]

    monkeypatch.setattr("nws.core.models.download_model", download)
    plan = make_plan(load_recipe(BaselinesRecipe, "sample", recipe(tiny_models, f"org/model@{'a' * 40}")))
    generator = plan.stages[0].generator
    assert generator is not None
    assert (generator.architecture, generator.chat, generator.has_uncut, asked) == ("llama", True, False, [False])
