"""`n: auto`: lengths that end at the median length of the references, and are numbers once a run is planned."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import nws
from nws.core.text.dataset import Dataset, OpenDataset, open_rows
from nws.core.text.length import lengths_up_to
from nws.jobs.recipes.job import new_plan, plan_again, plan_job
from nws.jobs.recipes.load import load_recipe, parse_recipe
from nws.jobs.recipes.plan import STREAMED, Plan
from nws.jobs.recipes.sweep_plan import STUDY_LENGTHS
from nws.jobs.recipes.sweep_recipe import BaselinesRecipe, Phase1Recipe

TEXT = "The council met on Monday. It approved a new bridge, and nobody spoke against it." * 9


def article(number: int, *words: int) -> dict[str, object]:
    """With a reference of so many words each, between which stand marks that are none."""
    return {"id": str(number), "article": f"{TEXT} {number}", "references": [" -- ".join(["a"] * n) for n in words]}


def written(path: Path, *words: Sequence[int]) -> str:
    path.write_text("".join(f"{json.dumps(article(i, *lengths))}\n" for i, lengths in enumerate(words)))
    return str(path)


def planned(job: str, *datasets: str, **changes: object) -> Plan:
    return plan_job(job, "sample", {"datasets": [{"name": name} for name in datasets], **changes})


@pytest.mark.parametrize("job", ["phase1", "baselines"])
def test_lengths_end_at_the_median_of_all_references(job: str, tmp_path: Path) -> None:
    name = written(tmp_path / "news.jsonl", (47,), (10, 99), (), (46, 48))
    plan = planned(job, name)
    assert plan.recipe.n == plan.stages[0].lengths == lengths_up_to(47)
    assert planned(job, name, **{"datasets.limit": 2}).recipe.n[-1] == 47  # of the articles that are read
    assert (
        planned(job, name, **{"datasets.limit": 1}).recipe.n
        == planned(job, name, n="auto", **{"datasets.limit": 1}).recipe.n
    )


def test_a_stored_recipe_has_the_numbers(tmp_path: Path) -> None:
    plan = planned("phase1", written(tmp_path / "news.jsonl", (30,), (31,)))
    stored = plan.run_spec().recipe
    assert stored["n"] == list(lengths_up_to(30))
    again = plan_again("phase1", stored)
    assert (again.recipe, again.recipe.hash, again.lengths_end) == (plan.recipe, plan.run_spec().recipe_hash, "")
    typed = planned("phase1", str(tmp_path / "news.jsonl"), n=",".join(map(str, plan.recipe.n)))
    assert typed.recipe.hash == plan.recipe.hash


@pytest.mark.parametrize("names", [["sample"], ["sample", "sample-ko"]])
def test_of_the_bundled_articles_they_are_those_of_the_study(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nws.jobs.recipes.sweep_plan.language_of", lambda corpora: "en")  # of two languages
    plan = planned("phase1", *names)
    assert (plan.recipe.n, plan.lengths_end) == (STUDY_LENGTHS, "")


def test_lengths_that_are_given_win(tmp_path: Path) -> None:
    name = written(tmp_path / "news.jsonl", (40,), (40,))
    for changes, n in (({"n": "7,9"}, (7, 9)), ({"max_chars": "30-32"}, (30, 31, 32))):
        plan = planned("phase1", name, **changes)
        assert (plan.recipe.n, plan.lengths_end) == (n, "")


def test_a_recipe_that_was_not_planned_can_be_written_and_read() -> None:
    recipe = load_recipe(Phase1Recipe, "sample", {})
    assert (recipe.n, recipe.model_dump(mode="json")["n"]) == ((), "auto")
    assert parse_recipe(Phase1Recipe, recipe.model_dump(mode="json"), "mine") == recipe


def opened(name: str, words: Sequence[int], streaming: bool = False) -> OpenDataset:
    rows = [article(number, *([n] if n else [])) for number, n in enumerate(words)]
    return open_rows(rows, name, f"{name}@1", "1", Dataset(name, streaming=streaming))


def lengths(*corpora: OpenDataset) -> tuple[tuple[int, ...], str]:
    asked = {"datasets": [corpus.name for corpus in corpora]}
    plan = new_plan(load_recipe(BaselinesRecipe, "sample", asked), corpora)
    return plan.recipe.n, plan.lengths_end


def test_of_several_datasets_the_longest_references_decide() -> None:
    end = "the median length of the references of b, which are the longest, 40 words"
    assert lengths(opened("a", [20, 20]), opened("b", [40, 40])) == (lengths_up_to(40), end)


def test_of_a_stream_the_first_articles_tell() -> None:
    words = [30] * STREAMED + [1] * 2 * STREAMED
    end = "the median length of the references, 30 words"
    assert lengths(opened("a", words, streaming=True)) == (lengths_up_to(30), end)
    assert lengths(opened("a", words))[0] == (1,)


@pytest.mark.parametrize("streaming", [True, False])
def test_without_references_they_are_those_of_the_study(streaming: bool) -> None:
    assert lengths(opened("a", [0, 0], streaming)) == (STUDY_LENGTHS, "")


def test_the_lengths_are_said_before_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], nws_command) -> None:
    name = written(tmp_path / "news.jsonl", (14,), (14,))
    line = "n = 1, 3, 5, 7, 9, 11, 13, 14: up to the median length of the references, 14 words;"
    submit = ("submit", "phase1", "--dataset", name, "--dry-run", "--json")
    assert f"{line} --n sets others\n" in nws_command(*submit).err
    assert nws_command(*submit).json["n"] == [1, 3, 5, 7, 9, 11, 13, 14]
    assert "n = " not in nws_command(*submit, "--n", "7,9").err
    assert nws_command(*submit, "--set", "n=auto").json["n"][-1] == 14
    found = nws.sweep(name, systems=[])
    assert sorted(set(found.summaries().n)) == [1, 3, 5, 7, 9, 11, 13, 14]
    assert f"{line} n= sets others\n" in capsys.readouterr().err
