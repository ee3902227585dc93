"""Every baseline and a tiny generator of every architecture, on real Ray, interrupted and resumed."""

import io
import json
import signal
import sqlite3
from pathlib import Path

import pytest
import yaml
from nws_process import Rows, assert_equal, finish, rows, start, wait_for_rows
from rich.console import Console

from core.systems.extractive_baselines import BASELINES
from core.text.dataset import BUNDLED
from jobs.drive import driver
from jobs.recipes.job import make_plan
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep_recipe import BaselinesRecipe
from jobs.store import open_store

pytestmark = [pytest.mark.ray, pytest.mark.faults, pytest.mark.timeout(600)]

ARTICLES, LENGTHS = 4, 3
GENERATORS = ("bart", "t5", "pegasus", "gpt2-lm")
EXTRACTIVE = [name for name in BASELINES if name != "person"]  # these articles have one reference each
SUMMARIES = ARTICLES * ((len(EXTRACTIVE) + len(GENERATORS)) * LENGTHS + 1 + len(GENERATORS))
SUBMIT = ("submit", "baselines", "--recipe", "mine.yaml", "--json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_models: dict[str, Path]) -> Path:
    """A user's folder with a dataset and a recipe: the paper's with tiny checkpoints."""
    path = tmp_path_factory.mktemp("user")
    lines = BUNDLED["sample"].read_text(encoding="utf-8").splitlines()[:ARTICLES]
    (path / "news.jsonl").write_text("\n".join(lines), encoding="utf-8")
    recipe = load_recipe(BaselinesRecipe, "paper", {}).model_dump(mode="json")
    recipe |= {
        "datasets": [{"name": "news.jsonl"}],
        "pipeline": "blank",
        "encoder": str(tiny_models["bert"]),
        "systems": [*EXTRACTIVE, *(str(tiny_models[name]) for name in GENERATORS)],
        "bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2},
        "n": [1, 7, 13],
        "bundle_size": 2,
        "accelerator": "cpu",
    }
    (path / "mine.yaml").write_text(yaml.safe_dump(recipe))
    return path


@pytest.fixture(scope="module")
def inline(folder: Path) -> Rows:
    """What one process stores, undisturbed, by every system."""
    with pytest.MonkeyPatch.context() as patch, open_store(f"sqlite:///{folder}/inline.db") as store:
        patch.chdir(folder)
        plan = make_plan(load_recipe(BaselinesRecipe, "mine.yaml", {}))
        outcome = driver.start(store, plan, "inline", Console(file=io.StringIO()))
    assert (outcome.state, outcome.articles) == ("done", ARTICLES)
    assert (outcome.summaries, outcome.failures) == (SUMMARIES, 0)
    return rows(folder, "inline.db")


def test_an_interrupted_run_has_the_rows_of_one_process(
    folder: Path, inline: Rows, tiny_models: dict[str, Path]
) -> None:
    # Fewer systems, which must not change the numbers of those that are left.
    some = ("oracle", "random", str(tiny_models["bart"]), str(tiny_models["gpt2-lm"]))
    chosen = [flag for system in some for flag in ("--system", system)]
    process = start(folder, *SUBMIT, *chosen, "--actors", "1", "--store", "sqlite:///ray.db")
    wait_for_rows(folder / "ray.db", process, "tiny-bart")
    process.send_signal(signal.SIGINT)
    interrupted = finish(process, 130)
    assert interrupted["state"] == "interrupted"

    run_id = str(interrupted["run_id"])
    resumed = finish(start(folder, "resume", run_id, "--actors", "2", "--store", "sqlite:///ray.db", "--json"), 0)
    assert (resumed["state"], resumed["articles"], resumed["failures"]) == ("done", ARTICLES, 0)
    left = {Path(system).name for system in some}
    assert_equal(rows(folder, "ray.db"), {key: row for key, row in inline.items() if key[1] in left})


@pytest.mark.usefixtures("inline")
def test_what_a_generator_did_is_told(folder: Path) -> None:
    with sqlite3.connect(folder / "inline.db") as connection:
        found = connection.execute("select extra from summaries where system = 'tiny-t5' and n = 0").fetchall()
        (revisions,) = connection.execute("select revisions from runs").fetchone()
    assert {json.loads(extra)["dtype"] for (extra,) in found} == {"float32"}
    assert all(json.loads(extra)["input_tokens"] > 0 for (extra,) in found)
    assert "prefix='summarize: '" in json.loads(revisions)["generators"]["tiny-t5"]
