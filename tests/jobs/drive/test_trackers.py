"""Runs in trackers on disk, read back with the trackers' own readers."""

import io
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from mlflow import MlflowClient
from rich.console import Console
from run_infos import run_info
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from training_run import small_training

from core.errors import RecipeError
from jobs.drive import driver, trackers
from jobs.drive.tensorboard_log import TensorBoardLog
from jobs.store import RoundResult, RunWriter, Store, open_store

pytestmark = pytest.mark.slow

BOTH = ("tensorboard", "mlflow")
NUMBERS = ("reward", "reward_std", "advantage_baseline", "advantage_std", "entropy", "log_probability")
NUMBERS = (*NUMBERS, "policy_loss", "loss", "grad_norm")
SCORES = ("bertscore_f1", "rouge1_f1", "rouge2_f1", "rougel_f1")

Curves = dict[str, list[tuple[int, float]]]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'mlflow.db'}")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as opened:
        yield opened


def in_tensorboard(run_id: str) -> Curves:
    events = EventAccumulator(str(Path("tensorboard") / run_id), size_guidance={"scalars": 0}).Reload()
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def in_mlflow(run_id: str) -> Curves:
    client = MlflowClient()
    (run,) = client.search_runs([client.get_experiment_by_name("nws").experiment_id], f"tags.`nws.run` = '{run_id}'")
    histories = {name: client.get_metric_history(run.info.run_id, name) for name in run.data.metrics}
    return {name: sorted((at.step, at.value) for at in history) for name, history in histories.items()}


def rows(store: Store, sql: str) -> list[tuple]:
    with store.query(sql) as answer:
        return [tuple(row) for row in answer.rows]


def learning_in(store: Store) -> Curves:
    found: Curves = {}
    for policy, update, *numbers in rows(
        store, f"select policy, update_number, {', '.join(NUMBERS)} from updates order by policy, update_number"
    ):
        for name, value in zip(NUMBERS, numbers, strict=True):
            key = f"training/{policy}/{name}".replace("|", "/").replace("=", "_")
            found.setdefault(key, []).append((update, value))
    return found


def curves_in(store: Store) -> Curves:
    """Computed anew from the summaries."""
    sums: dict[tuple[str, int], list[float]] = {}
    for dataset, system, n, *scores in rows(
        store,
        f"select a.dataset, s.system, s.n, {', '.join(SCORES)} from summaries s join articles a on a.id = s.article_id",
    ):
        safe = system.replace("|", "/").replace("=", "_").replace("+", "_")
        for name, value in zip((*SCORES, "articles"), (*scores, math.nan), strict=True):
            sums.setdefault((f"{name}/{dataset}/{safe}", n), []).append(value)
    found: Curves = {}
    for (name, n), values in sorted(sums.items()):
        value = float(len(values)) if name.startswith("articles/") else math.fsum(values) / len(values)
        found.setdefault(name, []).append((n, value))
    return found


def require_equal(found: Curves, expected: Curves, places: float) -> None:
    assert sorted(found) == sorted(expected)
    for name, points in expected.items():
        assert [step for step, _ in found[name]] == [step for step, _ in points], name
        assert [value for _, value in found[name]] == pytest.approx([value for _, value in points], rel=places), name


def test_a_training_is_logged_while_it_runs_and_nothing_twice_when_it_goes_on(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned = small_training(tiny_models, tmp_path, passes=2)
    quiet = Console(file=io.StringIO())
    record, rounds = RunWriter.record_round, []

    def stop_at_the_third(self: RunWriter, results: list[RoundResult]) -> None:
        if len(rounds) == 2:
            raise KeyboardInterrupt
        rounds.append(len(results))
        record(self, results)

    with monkeypatch.context() as stopped:
        stopped.setattr(RunWriter, "record_round", stop_at_the_third)
        begun = driver.start(store, pinned, "inline", quiet, log_to=BOTH)
    assert begun.state == "interrupted"
    run_id, so_far = begun.run_id, learning_in(store)
    assert so_far["training/mine/seed_0/reward"][-1][0] == 1
    require_equal(in_tensorboard(run_id), so_far, 1e-6)
    require_equal(in_mlflow(run_id), so_far, 0)

    for _ in range(2):  # the second time there is nothing left to do
        done = driver.resume(store, run_id, "inline", None, None, quiet, log_to=BOTH)
        assert done.state == "done"
        everything = learning_in(store) | curves_in(store)
        assert len(everything["training/mine/seed_0/reward"]) == 4
        assert {name.split("/")[0] for name in everything} == {"training", "articles", *SCORES}
        require_equal(in_tensorboard(run_id), everything, 1e-6)
        require_equal(in_mlflow(run_id), everything, 1e-12)


def test_on_the_command_line(nws, tmp_path: Path) -> None:
    quick = ("--engine", "inline", "--limit", "2", "--n", "5,3", "--json")
    swept = nws("submit", "baselines", "--system", "lead", "--system", "textrank", "--name", "mine", *quick)
    assert not Path("tensorboard").exists()
    assert not Path("mlflow.db").exists()
    run_id = swept.json["run_id"]
    resumed = nws("resume", run_id, "--engine", "inline", "--log-to", "tensorboard", "--log-to", "mlflow")
    assert resumed.code == 0, resumed.err
    told = resumed.err.splitlines()
    assert told.count("TensorBoard: tensorboard --logdir tensorboard") == 1
    assert told.count(f"MLflow: mlflow ui --backend-store-uri sqlite:///{tmp_path / 'mlflow.db'}") == 1
    with open_store("sqlite:///nws.db") as opened:
        require_equal(in_tensorboard(run_id), curves_in(opened), 1e-6)
        require_equal(in_mlflow(run_id), curves_in(opened), 1e-12)
        info = opened.run_info(run_id)
    client = MlflowClient()
    (run,) = client.search_runs([client.get_experiment_by_name("nws").experiment_id])
    assert (run.info.run_name, run.info.status, run.data.tags["job"]) == ("mine", "FINISHED", "baselines")
    params = run.data.params
    assert (params["seed"], params["code_version"], params["recipe.n"]) == ("0", info.code_version, "[3, 5]")
    assert params["signatures.bertscore"] == info.signatures["bertscore"]
    assert params["recipe.datasets.0.name"] == "sample"
    assert params["revisions.datasets.sample"].startswith("all@sha256:")
    events = EventAccumulator(str(Path("tensorboard") / run_id)).Reload()
    (text,) = events.Tensors("made_by/text_summary")
    assert info.code_version in text.tensor_proto.string_val[0].decode()

    added = tmp_path / "more.jsonl"
    keys = [row[0] for row in rows_of(run_id)]
    added.write_text("".join(f'{{"id": "{key}", "prediction": "Snow closed the port."}}\n' for key in keys))
    more = nws("add", run_id, str(added), "--engine", "inline")
    assert more.code == 0, more.err
    again = nws("resume", run_id, "--engine", "inline", "--log-to", "tensorboard", "--log-to", "mlflow")
    assert "Warning" not in again.err
    with open_store("sqlite:///nws.db") as opened:
        assert "bertscore_f1/sample/more" in curves_in(opened)
        require_equal(in_tensorboard(run_id), curves_in(opened), 1e-6)
        require_equal(in_mlflow(run_id), curves_in(opened), 1e-12)


def rows_of(run_id: str) -> list[tuple]:
    with open_store("sqlite:///nws.db", read_only=True) as opened:
        return rows(opened, "select key from articles")


def test_a_tracker_that_fails_is_warned_of_once_and_the_run_goes_on(
    nws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("tensorboard").write_text("a file where the folder is to be")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://ann:secret@127.0.0.1:1")
    command = ("submit", "phase1", "--engine", "inline", "--limit", "1", "--n", "3", "--json", "--log-to", "mlflow")
    swept = nws(*command, "--log-to", "tensorboard")
    assert (swept.code, swept.json["state"]) == (0, "done"), swept.err
    for name in BOTH:
        assert swept.err.count(f"Warning: {name} fails") == 1
    assert "The run goes on" in swept.err
    assert "TensorBoard:" not in swept.err
    assert "MLflow:" not in swept.err
    assert "secret" not in swept.err + nws("logs", swept.json["run_id"]).out


def test_where_a_run_is_has_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    class OnAServer:
        failures = (OSError,)

        def __init__(self, run: object) -> None: ...

        def describe(self, facts: object) -> None: ...

        def close(self, done: bool) -> None: ...

        def where(self) -> str:
            return "MLflow: experiment nws at https://ann:secret@tracker.example"

    monkeypatch.setattr(trackers, "TRACKERS", {"it": OnAServer})
    said: list[str] = []
    with trackers.open_trackers(["it"], run_info(), said.append):
        pass
    assert said == ["MLflow: experiment nws at https://tracker.example"]


def test_one_that_fails_later_is_left_out_and_the_other_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    told: list[str] = []

    class Working:
        failures = (OSError,)

        def __init__(self, run: object) -> None: ...

        def describe(self, facts: object) -> None:
            told.append("describe")

        def log(self, scalars: object) -> None:
            told.append("log")

        def close(self, done: bool) -> None:
            told.append("close")

        def where(self) -> str:
            return "Working: here"

    class Failing(Working):
        def log(self, scalars: object) -> None:
            raise OSError("no room left")

    kinds = {"failing": Failing, "working": Working}
    monkeypatch.setattr(trackers, "TRACKERS", kinds)
    both = trackers.Trackers(said.append)
    for name in kinds:
        both.open(name, run_info())
    for _ in range(3):
        both.log([])
    both.for_each(lambda tracker: tracker.close(True))
    assert told == ["log", "log", "log", "close"]
    assert len(said) == 1
    assert "Warning: failing fails, so nothing more is logged to it (OSError: no room left)." in said[0]


def test_what_cannot_be_logged_to_is_refused_before_a_run_begins(nws, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong, said in (
        (("--log-to", "mflow"), "Did you mean 'mlflow'? (--log-to)"),
        (("--log-to", "mlflow", "--address", "http://head:8265"), "this one is driven at http://head:8265"),
    ):
        refused = nws("submit", "phase1", *wrong)
        assert (refused.code, said in refused.err) == (2, True), refused.err
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(RecipeError, match=r"mlflow is not installed: pip install 'nws\[mlflow\]'"):
        trackers.require_trackers(["mlflow"])
    assert not Path("nws.db").exists()


def test_tensorboard_keeps_float32(tmp_path: Path, run_of: Callable[[str], object]) -> None:
    """A number that no float32 is must be known again."""
    from jobs.drive.tracked_scalars import Scalar

    for _ in range(2):
        log = TensorBoardLog(run_of("r"))
        log.log([Scalar("a", 3, 0.1), Scalar("a", 3, 0.1)])
        log.close(True)
    assert in_tensorboard("r") == {"a": [(3, float(np.float32(0.1)))]}


@pytest.fixture
def run_of() -> Callable[[str], object]:
    from run_infos import run_info

    return lambda run_id: run_info(id=run_id)
