"""Files of predictions as systems of a run: planned, driven in this process, reused, and resumed."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console
from stored_rows import rows
from undisturbed import QUIET

from nws.core.errors import RecipeError
from nws.core.provenance import file_sha256
from nws.core.text.length import first_words
from nws.jobs.drive import driver
from nws.jobs.drive.reuse import reuse_keys
from nws.jobs.recipes import outside
from nws.jobs.recipes.job import plan_again, plan_job
from nws.jobs.recipes.outside import misfits
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import Store

LENGTHS = [2, 5]


def predicted(path: Path, keys: Sequence[str], text: str = "A prediction has {} and eight words.") -> Path:
    path.write_text("".join(json.dumps({"id": key, "prediction": text.format(key)}) + "\n" for key in keys))
    return path


def keys_of(sample_rows: list[dict[str, str]], count: int = 3) -> list[str]:
    return [row["id"] for row in sample_rows[:count]]


def planned(tiny_models: dict[str, Path], *files: Path, job: str = "baselines", **changes: object) -> Plan:
    tiny = {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}, "datasets.limit": 3, "bundle_size": 2}
    systems = {"encoder": str(tiny_models["bert"]), "systems": ["lead"]} if job == "baselines" else {}
    named = [{"name": file.stem, "file": str(file)} for file in files]
    return plan_job(job, "sample", {**tiny, **systems, "n": LENGTHS, "predictions": named, **changes})


def texts(store: Store, system: str) -> dict[tuple[str, int], str]:
    joined = "summaries join articles on articles.id = article_id"
    found = rows(store, f"select key, n, summaries.text from {joined} where system = '{system}'")
    return {(key, n): text for key, n, text in found}


def test_predictions_are_stored_uncut_and_cut_and_scored(
    store: Store, tiny_models: dict[str, Path], sample_rows: list[dict[str, str]], tmp_path: Path
) -> None:
    keys = keys_of(sample_rows)
    plan = planned(tiny_models, predicted(tmp_path / "mine.jsonl", keys), predicted(tmp_path / "other.jsonl", keys))
    assert plan.systems == {"lead": "control", "mine": "system", "other": "system"}
    assert [stage.name for stage in plan.stages] == ["extractive", "predictions mine", "predictions other"]
    assert misfits(plan) == []
    outcome = driver.start(store, plan, "inline", QUIET)
    assert (outcome.state, outcome.articles, outcome.summaries, outcome.failures) == ("done", 3, 6 + 9 + 9, 0)
    found = texts(store, "mine")
    for key in keys:
        text = f"A prediction has {key} and eight words."
        assert [found[key, n] for n in (0, 2, 5)] == [text, first_words(text, 2), first_words(text, 5)]
    assert rows(store, "select 1 from leaderboard where system = 'mine' and bertscore_f1 <> 0")


def test_another_content_is_another_system(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    file = predicted(tmp_path / "mine.jsonl", ["x"])
    one = planned(tiny_models, file)
    predicted(file, ["x"], "Another text.")
    other = planned(tiny_models, file)
    assert one.recipe.hash != other.recipe.hash
    assert one.revisions["predictions"]["mine"].startswith("mine.jsonl@sha256:")
    again = plan_again("baselines", other.recipe.model_dump(mode="json"))
    assert (again.recipe, again.stages, again.revisions) == (other.recipe, other.stages, other.revisions)
    with pytest.raises(RecipeError, match=r"mine\.jsonl was changed: its SHA-256 was .*Restore it"):
        plan_again("baselines", one.recipe.model_dump(mode="json"))


def test_a_line_of_a_text_belongs_to_the_article_in_that_row(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    given = [{"id": f"k{i}", "article": f"Article {i} has words.", "summary": "Words."} for i in (0, 1, 1, 2)]
    (tmp_path / "news.jsonl").write_text("\n".join(map(json.dumps, given)))
    hypo = tmp_path / "test.hypo"
    hypo.write_text("Zero.\nOne.\nOne again.\nTwo.\n")
    news = {"name": str(tmp_path / "news.jsonl"), "skip": 1, "limit": None}
    plan = planned(tiny_models, hypo, **{"datasets.limit": None}, datasets=[news])
    assert plan.stages[-1].systems[0].texts == {"k1": "One.", "k2": "Two."}
    assert plan_again("baselines", plan.recipe.model_dump(mode="json")).recipe == plan.recipe
    hypo.write_text("Zero.\nOne.\n")
    with pytest.raises(RecipeError, match=r"test\.hypo has 2 lines, but news\.jsonl has 4 rows"):
        planned(tiny_models, hypo, **{"datasets.limit": None}, datasets=[news])
    with pytest.raises(RecipeError, match=r"test\.hypo: lines without ids need a single dataset"):
        planned(tiny_models, hypo, datasets=["sample", news])


def test_named_fields_are_part_of_the_recipe(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps({"id": "a", "prediction": "One.", "other": "Two."}))
    usual = {"name": "mine", "file": str(file)}
    plans = [planned(tiny_models, predictions=[usual | more]) for more in ({}, {"prediction_field": "other"})]
    assert [plan.stages[-1].systems[0].texts["a"] for plan in plans] == ["One.", "Two."]
    assert plans[0].recipe.hash != plans[1].recipe.hash
    assert plans[0].recipe.model_dump()["predictions"][0].keys() == {"name", "file", "sha256"}  # as before


def test_a_recipe_chooses_systems_of_a_file(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    file.write_text(
        "\n".join(json.dumps({"id": "x", "prediction": name, "system": name}) for name in ("A", "B", "C D"))
    )
    named = {"name": "all", "file": str(file)}
    plan = planned(tiny_models, predictions=[named | {"systems": ["B"]}])
    assert list(plan.systems) == ["lead", "B"]
    with pytest.raises(RecipeError, match=r"all\.jsonl has no system 'E'\. Its systems are A, B, C D\."):
        planned(tiny_models, predictions=[named | {"systems": ["E"]}])
    with pytest.raises(RecipeError, match="a system cannot be called 'C D'"):
        planned(tiny_models, predictions=[named])


def test_what_does_not_match_is_named_and_counted_and_fails_alone(
    store: Store, tiny_models: dict[str, Path], sample_rows: list[dict[str, str]], tmp_path: Path
) -> None:
    keys = keys_of(sample_rows)
    plan = planned(tiny_models, predicted(tmp_path / "mine.jsonl", [*keys[:2], *"abcdef"]))
    assert misfits(plan) == [
        "6 of the 8 predictions of mine belong to no article and are left out. Their ids: 'a', 'b', 'c', 'd', 'e', ….",
        f"mine has no prediction for 1 of 3 articles, which will fail for it (keys {keys[2]!r}). Other systems "
        "are compared with it on the other articles.",
    ]
    said = io.StringIO()
    outcome = driver.start(store, plan, "inline", Console(file=said, width=500))
    assert (outcome.state, outcome.articles, outcome.failures) == ("done", 2, 1)
    (failure,) = store.failures(outcome.run_id)
    assert (failure.stage, failure.key, failure.error_class) == ("predictions mine", keys[2], "CorpusError")
    assert len(texts(store, "lead")) == 6  # also of the article that has no prediction
    again = driver.resume(store, outcome.run_id, "inline", None, None, QUIET)
    assert (again.state, again.summaries, again.failures) == ("done", outcome.summaries, 1)


def test_a_key_of_two_articles_is_refused(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("news.jsonl", "more.jsonl")]
    for file in files:
        file.write_text(json.dumps({"id": "k", "article": f"{file.stem} has some words.", "summary": "Some words."}))
    datasets = [{"name": str(file)} for file in files]
    plan = planned(tiny_models, predicted(tmp_path / "mine.jsonl", ["k"]), datasets=datasets)
    with pytest.raises(
        RecipeError, match="Of the ids in the predictions of mine, 1 may stand for several articles: 'k'"
    ):
        misfits(plan)


def news(folder: Path, **articles: str) -> dict[str, object]:
    """A dataset of these articles, by their keys."""
    folder.mkdir()
    given = [{"id": key, "article": text, "summary": "A summary."} for key, text in articles.items()]
    (folder / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    return {"datasets": [{"name": str(folder / "news.jsonl")}]}


def test_predictions_are_scored_in_each_run_also_where_keys_are_swapped(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    one, two = "Snow fell on Dover and closed its schools.", "The council of Hull wants a new bridge."
    file = predicted(tmp_path / "mine.jsonl", ["a1", "a2"])
    first, second = news(tmp_path / "first", a1=one, a2=two), news(tmp_path / "second", a1=two, a2=one)
    said, reused = io.StringIO(), []
    sql = "select a.key, s.text from summaries s join articles a on a.id = article_id where s.run_id = '{}' and n = 0"
    for dataset in (first, first, second):
        console = Console(file=said, width=500)
        run = driver.start(store, planned(tiny_models, file, **dataset), "inline", console, reuse=True)
        reused.append(run.reused)
        assert dict(rows(store, sql.format(run.run_id))) == {
            key: f"A prediction has {key} and eight words." for key in ("a1", "a2")
        }
    assert reused == [0, 4, 0], "of lead alone, and of the very article"
    assert said.getvalue().count("Nothing of mine is copied from other runs: predictions are scored in each run.") == 3


def test_what_travels_with_each_bundle_has_no_predictions(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    from ray import cloudpickle

    from nws.jobs.drive.pools import stage_work

    plan = planned(tiny_models, predicted(tmp_path / "mine.jsonl", ["a"], "unmistakable"))
    work = stage_work(plan.stages[-1], "cpu", None)
    assert b"unmistakable" in cloudpickle.dumps(work.make_sweeper)
    assert b"unmistakable" not in cloudpickle.dumps(work.make_segmenter)


def test_a_file_is_shipped_by_its_content_and_found_where_it_was_shipped(
    tiny_models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = predicted(tmp_path / "mine.jsonl", ["a"])
    recipe = planned(tiny_models, file).recipe.model_dump(mode="json")
    ((name, path),) = outside.files_to_ship(recipe).items()
    assert (name, path) == (f"{file_sha256(file)}.jsonl", file)
    assert outside.files_to_ship({}) == {}

    monkeypatch.setattr(outside, "SHIPPED", tmp_path / ".nws_files")
    outside.SHIPPED.mkdir()
    file.rename(outside.SHIPPED / name)
    on_the_head = plan_again("baselines", recipe)
    assert on_the_head.recipe.model_dump(mode="json") == recipe
    assert on_the_head.stages[-1].systems[0].texts.keys() == {"a"}

    predicted(file, ["b"])
    outside.SHIPPED.joinpath(name).unlink()
    with pytest.raises(RecipeError, match="was changed"):
        outside.files_to_ship(recipe)


def test_predictions_are_cleaned_as_articles_are_and_are_no_others_then(
    tiny_models: dict[str, Path], sample_rows: list[dict[str, str]], tmp_path: Path
) -> None:
    file = predicted(tmp_path / "mine.jsonl", keys_of(sample_rows), "One <q> two {}.")
    plain, cleaned = planned(tiny_models, file), planned(tiny_models, file, **{"datasets.clean_texts": "marks,html"})
    assert {*cleaned.stages[1].systems[0].texts.values()} == {f"One two {key}." for key in keys_of(sample_rows)}
    assert [article.id for article in plain.corpora[0]] == [article.id for article in cleaned.corpora[0]]
    assert reuse_keys(plain) == reuse_keys(cleaned)
    assert cleaned.revisions["predictions"]["mine"] == f"{plain.revisions['predictions']['mine']}|clean:html+marks"
    assert plain.recipe.hash != cleaned.recipe.hash
    assert not {"clean_texts", "join_references"} & plain.recipe.model_dump(mode="json")["datasets"][0].keys()
    again = plan_again("baselines", cleaned.recipe.model_dump(mode="json"))
    assert (again.recipe, again.stages) == (cleaned.recipe, cleaned.stages)
