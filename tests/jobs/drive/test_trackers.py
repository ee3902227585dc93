"""Runs in trackers on disk, read back with the trackers' own readers."""

from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run
from stored_rows import rows
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from training_run import small_training
from undisturbed import QUIET

from nws.core.errors import RecipeError
from nws.jobs.drive import driver, trackers
from nws.jobs.store import Store, open_store

pytestmark = pytest.mark.slow

BOTH = ("tensorboard", "mlflow")

Curves = dict[str, list[tuple[int, float]]]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'mlflow.db'}")


def in_tensorboard(run_id: str) -> Curves:
    events = EventAccumulator(str(Path("tensorboard") / run_id), size_guidance={"scalars": 0}).Reload()
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def mlflow_runs(run_id: str) -> list[Run]:
    """The newest first."""
    client = MlflowClient()
    return client.search_runs([client.get_experiment_by_name("nws").experiment_id], f"tags.`nws.run` = '{run_id}'")


def in_mlflow(run: Run) -> Curves:
    client = MlflowClient()
    histories = {name: client.get_metric_history(run.info.run_id, name) for name in run.data.metrics}
    return {name: sorted((at.step, at.value) for at in history) for name, history in histories.items()}


def means_in(store: Store, run_id: str) -> Curves:
    found: Curves = {}
    for name, step, value in trackers.curve_scalars(store.curve_means(run_id)):
        found.setdefault(name, []).append((step, value))
    return found


def require_equal(found: Curves, expected: Curves) -> None:
    """TensorBoard keeps float32."""
    assert sorted(found) == sorted(expected)
    for name, points in expected.items():
        assert found[name] == [(step, pytest.approx(value, rel=1e-6)) for step, value in points], name


def test_a_training_is_logged_and_a_run_that_is_done_too(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    run_id = driver.start(store, small_training(tiny_models, tmp_path, passes=1), "inline", QUIET, log_to=BOTH).run_id
    expected = means_in(store, run_id)
    assert {name.split("/")[0] for name in expected} >= {"articles", "bertscore_f1", "rougel_f1"}
    sql = "select policy, update_number, reward, grad_norm from updates order by policy, 2"
    for policy, update, reward, norm in rows(store, sql):
        name = f"training/{policy}".replace("|", "/").replace("=", "_")
        for number, value in (("reward", reward), ("grad_norm", norm)):
            expected.setdefault(f"{name}/{number}", []).append((update, value))
    (begun,) = mlflow_runs(run_id)
    for logged in (in_tensorboard(run_id), in_mlflow(begun)):
        assert len(logged) == len(expected) + 7 * len([name for name in expected if name.endswith("/reward")])
        require_equal({name: logged[name] for name in expected}, expected)
    assert driver.resume(store, run_id, "inline", None, None, QUIET, log_to=["mlflow"]).state == "done"
    again, begun = mlflow_runs(run_id)
    assert (again.info.status, begun.info.status) == ("FINISHED", "FINISHED")
    require_equal(in_mlflow(again), means_in(store, run_id))


def test_on_the_command_line(nws, tmp_path: Path) -> None:
    quick = ("--engine", "inline", "--limit", "2", "--n", "5,3", "--json", "--name", "mine")
    swept = nws("submit", "baselines", "--system", "lead", *quick, "--log-to", "tensorboard", "--log-to", "mlflow")
    told = swept.err.splitlines()
    assert told.count("TensorBoard: tensorboard --logdir tensorboard") == 1
    assert told.count(f"MLflow: mlflow ui --backend-store-uri sqlite:///{tmp_path / 'mlflow.db'}") == 1
    run_id = swept.json["run_id"]
    with open_store("sqlite:///nws.db") as opened:
        require_equal(in_tensorboard(run_id), means_in(opened, run_id))
        info = opened.run_info(run_id)
    (run,) = mlflow_runs(run_id)
    assert (run.info.run_name, run.info.status, run.data.tags["job"]) == ("mine", "FINISHED", "baselines")
    params = run.data.params
    assert (params["seed"], params["code_version"], params["recipe.n"]) == ("0", info.code_version, "[3, 5]")
    assert params["signatures.bertscore"] == info.signatures["bertscore"]
    assert params["revisions.datasets.sample"].startswith("all@sha256:")
    events = EventAccumulator(str(Path("tensorboard") / run_id)).Reload()
    (text,) = events.Tensors("made_by/text_summary")
    assert info.code_version in text.tensor_proto.string_val[0].decode()


def test_a_tracker_that_fails_is_warned_of_once_and_the_run_goes_on(
    nws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("tensorboard").write_text("a file where the folder is to be")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://ann:secret@127.0.0.1:1")
    command = ("submit", "phase1", "--engine", "inline", "--limit", "1", "--n", "3", "--json", "--log-to", "mlflow")
    swept = nws(*command, "--log-to", "tensorboard")
    assert (swept.code, swept.json["state"]) == (0, "done"), swept.err
    for name in BOTH:
        assert swept.err.count(f"Warning: {name} failed") == 1
    assert "The run goes on" in swept.err
    assert "TensorBoard:" not in swept.err
    assert "MLflow:" not in swept.err
    assert "secret" not in swept.err + nws("logs", swept.json["run_id"]).out


def test_what_cannot_be_logged_to_is_refused_before_a_run_begins(nws, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong, said in (
        (("--log-to", "mflow"), "Did you mean 'mlflow'? (--log-to)"),
        (("--log-to", "mlflow", "--address", "http://head:8265"), "this one is driven at http://head:8265"),
    ):
        refused = nws("submit", "phase1", *wrong)
        assert (refused.code, said in refused.err) == (2, True), refused.err
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(RecipeError, match=r"mlflow is not installed. In NWS's checkout, run `pip .*'\.\[mlflow\]'`"):
        trackers.require_trackers(["mlflow"])
    assert not Path("nws.db").exists()
