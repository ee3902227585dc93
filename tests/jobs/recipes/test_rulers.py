"""Which rulers are in a run: what is named, and another person where every article has two references."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from nws.core.errors import RecipeError
from nws.core.text.dataset import Dataset, open_rows
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.sweep_plan import with_rulers

TEXT = "The council met on Monday. It approved a new bridge, and nobody spoke against it."


def dataset(path: Path, *references: Sequence[str]) -> str:
    rows = [{"article": f"{TEXT} {i}", "references": list(texts), "id": str(i)} for i, texts in enumerate(references)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def systems(job: str, *datasets: str, **changes: object) -> list[str]:
    asked = {"datasets": [{"name": name} for name in datasets], "n": [3]}
    return list(plan_job(job, "sample", asked | changes).systems)


@pytest.mark.parametrize("job", ["phase1", "baselines"])
def test_another_person_is_there_if_every_article_of_every_dataset_has_two_references(job: str, tmp_path: Path) -> None:
    two = dataset(tmp_path / "two.jsonl", ("A bridge.", "The bridge."), ("A", "B", "C"), ())  # the last one fails
    one = dataset(tmp_path / "one.jsonl", ("A bridge.", "The bridge."), ("Alone.",))
    assert systems(job, two)[-4:] == ["random", "reference-words", "person", "other-article"]
    assert systems(job, one)[-3:] == ["random", "reference-words", "other-article"]
    assert systems(job, two, one)[-3:] == ["random", "reference-words", "other-article"]


def test_systems_that_are_named_are_alone(tmp_path: Path) -> None:
    two = dataset(tmp_path / "two.jsonl", ("A bridge.", "The bridge."))
    assert systems("baselines", two)[-2:] == ["reference-words", "person"]  # one article has no other
    assert systems("baselines", two, systems=["lead"]) == ["lead"]
    assert systems("phase1", two, importance=["position"], rulers=[])[1:] == ["lead", "random"]


def test_a_person_who_is_not_there_cannot_be_asked_for(tmp_path: Path) -> None:
    one = dataset(tmp_path / "one.jsonl", ("A bridge.",))
    with pytest.raises(RecipeError, match=r"'person' is an article's second reference, .* article of one\.jsonl"):
        systems("baselines", one, systems=["lead", "person"])


def test_of_a_stream_nobody_knows() -> None:
    rows = [{"article": f"{TEXT} {i}", "references": ["A", "B"]} for i in range(3)]
    streamed, read = (
        open_rows(rows, "d", "d@1", "1", Dataset("d", streaming=streaming)) for streaming in (True, False)
    )
    assert with_rulers(["reference-words"], [read]) == ("reference-words", "person", "other-article")
    assert with_rulers(["reference-words"], [read, streamed]) == ("reference-words", "other-article")
