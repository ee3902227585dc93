"""`nws` as a person runs it: real processes, real Ray, killed and resumed.

The recipe is the paper's with tiny checkpoints for its encoders and backbone, which takes the same code.
"""

import io
import signal
import sqlite3
from pathlib import Path

import pytest
import yaml
from nws_process import assert_equal, finish, rows, start, wait_for_rows
from rich.console import Console

from core.text.dataset import BUNDLED
from jobs.drive import driver
from jobs.recipes.job import make_plan
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep_recipe import Phase1Recipe
from jobs.store import open_store

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(600)]

ARTICLES = 12
SYSTEMS, LENGTHS = 3 * 2 + 4, 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_models: dict[str, Path]) -> Path:
    """A user's folder with a dataset and a recipe."""
    path = tmp_path_factory.mktemp("user")
    lines = BUNDLED["sample"].read_text(encoding="utf-8").splitlines()[:ARTICLES]
    (path / "news.jsonl").write_text("\n".join(lines), encoding="utf-8")
    recipe = load_recipe(Phase1Recipe, "paper", {}).model_dump(mode="json")
    recipe |= {
        "datasets": [{"name": "news.jsonl"}],
        "pipeline": "blank",
        "encoders": [str(tiny_models[name]) for name in ("bert", "xlnet", "electra")],
        "bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2},
        "n": [1, 7, 13],
        "bundle_size": 2,
    }
    (path / "mine.yaml").write_text(yaml.safe_dump(recipe))
    return path


SUBMIT = ("submit", "phase1", "--recipe", "mine.yaml", "--accelerator", "cpu", "--json")


def test_one_actor_interrupted_and_two_that_go_on_give_the_rows_of_one_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = start(folder, *SUBMIT, "--actors", "1", "--store", "sqlite:///ray.db")
    wait_for_rows(folder / "ray.db", process)
    process.send_signal(signal.SIGINT)
    interrupted = finish(process, 130)
    assert interrupted["state"] == "interrupted"
    assert 0 < interrupted["articles"] < ARTICLES

    run_id = str(interrupted["run_id"])
    resumed = finish(start(folder, "resume", run_id, "--actors", "2", "--store", "sqlite:///ray.db", "--json"), 0)
    assert resumed == {
        "run_id": run_id,
        "state": "done",
        "articles": ARTICLES,
        "summaries": ARTICLES * SYSTEMS * LENGTHS,
        "reused": 0,
        "failures": 0,
    }
    monkeypatch.chdir(folder)
    with open_store("sqlite:///inline.db") as store:
        plan = make_plan(load_recipe(Phase1Recipe, "mine.yaml", {"accelerator": "cpu"}))
        driver.start(store, plan, "inline", Console(file=io.StringIO()))
    inline = rows(folder, "inline.db")
    assert len(inline) == ARTICLES * SYSTEMS * LENGTHS
    assert_equal(rows(folder, "ray.db"), inline)


def test_an_accelerator_that_is_not_there_is_an_error_in_seconds(folder: Path) -> None:
    submit = [argument for argument in SUBMIT if argument not in ("--accelerator", "cpu")]
    process = start(folder, *submit, "--store", "sqlite:///none.db")
    _, err = process.communicate(timeout=120)
    if process.returncode == 0:
        pytest.skip("this machine has a T4")
    assert process.returncode == 1
    assert "The run asks for T4 GPUs" in err
    assert "--accelerator cpu" in err
    with sqlite3.connect(folder / "none.db") as connection:
        assert connection.execute("select count(*) from runs").fetchone() == (0,)
