"""Which lengths a training takes from the answer of a sweep."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from core.analysis.content_kept import ContentKept, Share, SmallestN
from core.analysis.intervals import Interval
from core.errors import RecipeError
from core.types import SystemKind
from jobs.drive import driver
from jobs.recipes.job import plan_again, plan_job
from jobs.recipes.phase2_plan import lengths_from, named_lengths
from jobs.store import Store

GRID = (3, 7, 11, 15, 21)


def kept(dataset: str, system: str, most: float, first: int | None, last: int | None, kind: SystemKind = "system"):
    """A system that keeps `most` at its longest n, and 80 and 90 % of that from these n on."""
    lengths = tuple(Share(n, 60, Interval(most * n / GRID[-1], None, None)) for n in GRID)
    smallest = tuple(SmallestN(x, n, n, n, n, None) for x, n in ((0.8, first), (0.9, last)))
    for of in ("reference", "longest"):
        yield ContentKept(dataset, system, kind, of, GRID[-1], 60, 0, lengths, smallest)


def test_the_best_system_of_each_dataset_names_its_own() -> None:
    found = [
        *kept("news", "best", 0.41, 11, 15),
        *kept("news", "other", 0.40, 3, 3),
        *kept("news", "reference-words", 0.67, 21, 21, "upper bound"),
        *kept("news", "lead", 0.5, 21, 21, "control"),
        *kept("dialogues", "best", 0.3, 3, 7),
        *kept("dialogues", "other", 0.2, 21, 21),
    ]
    assert named_lengths(found) == (3, 7, 11, 15)


def test_who_keeps_nothing_names_none() -> None:
    of_reference, _ = kept("news", "best", -0.1, None, None)
    assert named_lengths([of_reference]) == ()
    assert named_lengths(kept("news", "best", 0.1, None, None)) == ()


@pytest.mark.slow
def test_a_training_has_the_numbers_and_says_where_they_are_from(store: Store, tmp_path: Path) -> None:
    sweep = plan_job("phase1", "sample", {"datasets.limit": 13, "n": [3, 9, 15], "importance": ["position"]})
    run_id = driver.start(store, sweep, "inline", Console(file=io.StringIO())).run_id
    lengths = lengths_from(store, run_id)
    assert set(lengths) <= {3, 9, 15}
    (tmp_path / "mine.yaml").write_text(
        f"train_datasets: [{{name: sample, limit: 4}}]\ndatasets: [{{name: sample, skip: 16}}]\nn: from:{run_id}"
    )
    for name, given in (("sample", {"n": f"from:{run_id}"}), (str(tmp_path / "mine.yaml"), {})):
        plan = plan_job("phase2", name, given, lambda run: lengths_from(store, run))
        assert plan.recipe.n == lengths
        assert plan.revisions["n"] == f"from:{run_id}"
        assert plan_again("phase2", plan.run_spec().recipe).recipe == plan.recipe


def test_only_a_training_takes_lengths_from_a_run() -> None:
    with pytest.raises(RecipeError, match=r"n: lengths are whole numbers .*, not 'from:x'"):
        plan_job("phase1", "sample", {"n": "from:x"})


def test_a_run_of_characters_names_no_lengths_for_a_training(store: Store) -> None:
    run_id = store.create_run(plan_job("phase1", "sample", {"datasets.limit": 2, "max_chars": [30, 50]}).run_spec())
    with pytest.raises(RecipeError, match=f"n of run {run_id} are characters, and n names words"):
        lengths_from(store, run_id)
