"""`nws submit` of a sweep as a person runs it: real processes, real Ray, killed and resumed.

The recipes are the paper's with tiny checkpoints, which take the same code.
"""

import signal
import sqlite3
from pathlib import Path

import pytest
import yaml
from nws_process import assert_equal, finish, rows, start, wait_for_rows
from undisturbed import QUIET

from nws.core.text.dataset import BUNDLED
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.load import load_recipe, recipe_class
from nws.jobs.store import open_store

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(600)]

ARTICLES, LENGTHS = 12, 3
SUMMARIES = {
    "phase1": ARTICLES * (3 * 2 + 4) * LENGTHS,
    "baselines": ARTICLES * (3 * LENGTHS + 1),  # the generator has uncut summaries, too
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_models: dict[str, Path]) -> Path:
    """A user's folder with a dataset, and a recipe for each job."""
    path = tmp_path_factory.mktemp("user")
    lines = BUNDLED["sample"].read_text(encoding="utf-8").splitlines()[:ARTICLES]
    (path / "news.jsonl").write_text("\n".join(lines), encoding="utf-8")
    tiny = {name: str(tiny_models[name]) for name in ("bert", "xlnet", "electra", "bart")}
    own = {
        "phase1": {"encoders": [tiny["bert"], tiny["xlnet"], tiny["electra"]]},
        "baselines": {"encoder": tiny["bert"], "systems": ["oracle", "random", tiny["bart"]]},
    }
    for job, systems in own.items():
        recipe = load_recipe(recipe_class(job), "paper", {}).model_dump(mode="json")
        recipe |= {
            **{"datasets": [{"name": "news.jsonl"}], "pipeline": "blank", "n": [1, 7, 13], "bundle_size": 2},
            "bertscore": {"model": tiny["bert"], "num_layers": 2},
        }
        (path / f"{job}.yaml").write_text(yaml.safe_dump(recipe | systems))
    return path


@pytest.mark.parametrize(("job", "system"), [("phase1", "%"), ("baselines", "tiny-bart")])
def test_one_actor_interrupted_and_two_that_go_on_give_the_rows_of_one_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch, job: str, system: str
) -> None:
    """Of baselines in the last stage, that of the generator."""
    store = ("--store", f"sqlite:///{job}.db", "--json")
    submit = ("submit", job, "--recipe", f"{job}.yaml", "--accelerator", "cpu")
    process = start(folder, *submit, "--actors", "1", *store)
    wait_for_rows(folder / f"{job}.db", process, system)
    process.send_signal(signal.SIGINT)
    interrupted = finish(process, 130)
    assert interrupted["state"] == "interrupted"
    assert 0 < interrupted["articles"] < ARTICLES

    run_id = str(interrupted["run_id"])
    resumed = finish(start(folder, "resume", run_id, "--actors", "2", *store), 0)
    assert resumed == {
        **{"run_id": run_id, "state": "done", "articles": ARTICLES, "summaries": SUMMARIES[job]},
        **{"reused": 0, "failures": 0},
    }
    monkeypatch.chdir(folder)
    with open_store(f"sqlite:///{job}-inline.db") as inline:
        plan = plan_job(job, f"{job}.yaml", {"accelerator": "cpu"})
        driver.start(inline, plan, "inline", QUIET)
    expected = rows(folder, f"{job}-inline.db")
    assert len(expected) == SUMMARIES[job]
    assert_equal(rows(folder, f"{job}.db"), expected)


def test_an_accelerator_that_is_not_there_is_an_error_in_seconds(folder: Path) -> None:
    process = start(folder, "submit", "phase1", "--recipe", "phase1.yaml", "--json", "--store", "sqlite:///none.db")
    _, err = process.communicate(timeout=120)
    if process.returncode == 0:
        pytest.skip("this machine has a T4")
    assert process.returncode == 1
    assert "The run needs T4 GPUs" in err
    assert "--accelerator cpu" in err
    with sqlite3.connect(folder / "none.db") as connection:
        assert connection.execute("select count(*) from runs").fetchone() == (0,)
