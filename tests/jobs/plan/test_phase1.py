"""Phase 1 through the driver on the in-process pool: each importance is a system."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from core.summarizers.chunk_systems import IMPORTANCE
from jobs.drive import driver
from jobs.plan.pinned import Pinned
from jobs.plan.sweep import pin
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep import Phase1Recipe
from jobs.store import open_store


@pytest.fixture
def pinned(tiny_models: dict[str, Path]) -> Pinned:
    tiny = str(tiny_models["bert"])
    asked = {"encoders": [tiny], "bertscore": {"model": tiny, "num_layers": 2}, "importance": list(IMPORTANCE)}
    return pin(load_recipe(Phase1Recipe, "sample", {**asked, "n": [9], "limit": 4}))


def test_every_importance_is_a_system(pinned: Pinned, tmp_path: Path) -> None:
    assert list(pinned.systems) == [*(f"tiny-bert|{name}|chunks" for name in IMPORTANCE), "lead", "random"]
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        outcome = driver.start(store, pinned, "inline", Console(file=io.StringIO()))
        assert (outcome.articles, outcome.summaries, outcome.failures) == (4, 4 * 7, 0)
        with store.query("SELECT system, text FROM summaries ORDER BY article_id, n") as answer:
            found = list(answer.rows)
    texts = {name: [text for system, text in found if f"|{name}|" in system] for name in IMPORTANCE}
    for one, other in (("textrank", "textrank-words"), ("textrank", "lexrank"), ("lexrank", "position")):
        assert texts[one] != texts[other]


def test_the_default_leaves_out_what_writes_the_same() -> None:
    assert load_recipe(Phase1Recipe, "sample", {}).importance == ("textrank", "lexrank", "position")
    assert load_recipe(Phase1Recipe, "paper", {}).importance == ("textrank", "centroid")
    assert Phase1Recipe.model_fields["importance"].default == ("textrank", "lexrank", "position")
