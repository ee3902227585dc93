"""Runs by the beginning of their ids, lengths from one to another, and metrics by any of their names."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from run_infos import run_info

from nws.core.errors import RecipeError, StoreError
from nws.core.metrics.registry import metric_called
from nws.core.text.length import parse_lengths
from nws.jobs.commands.shared import complete_run
from nws.jobs.report.metric_names import find_metric
from nws.jobs.store import LogLine, RunSpec, open_store


@pytest.fixture
def runs(nws, tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
        for run_id in ("phase1-20261123-b9b7e3", "phase1-20261124-b94c01", "baselines-20261124-0a1b2c"):
            store.create_run(RunSpec("phase1", {}, "hash", 0, "v", {}, {}, 1), run_id)


def test_what_fits_two_runs_or_none_is_said_with_their_ids(runs, tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
        for name in ("phase1-20261123-b9b7e3", "phase1-20261123", "b9b", "b9b7e3"):
            assert store.full_id(name) == "phase1-20261123-b9b7e3"
        with pytest.raises(StoreError, match=r"'b9' matches 2 runs: phase1-2026112[34]-b9.*, phase1-.*Give more"):
            store.full_id("b9")
        for name in ("", "b8", "20261123"):
            with pytest.raises(StoreError, match=rf"has no run '{name}'\. The newest runs are"):
                store.full_id(name)


@pytest.mark.parametrize("typed", ["--system lead", "--system=lead"])
def test_a_system_of_phase1_is_refused_with_the_command_that_takes_it(nws, typed: str) -> None:
    refused = nws("submit", "phase1", "--limit", "1", *typed.split())
    assert refused.code == 2
    assert f"phase1 runs its own systems. Use `nws submit baselines {typed}`." in refused.err


def test_every_command_that_names_a_run_takes_the_beginning(nws, runs) -> None:
    assert json.loads(nws("logs", "b9b", "--json").out) == []
    assert json.loads(nws("cancel", "0a1", "--json").out)["run_id"] == "baselines-20261124-0a1b2c"
    assert json.loads(nws("rm", "0a1", "--yes", "--json").out)["removed"] == "baselines-20261124-0a1b2c"
    for command in (
        ["report"],
        ["report", "-o", "x.html"],
        ["show", "x"],
        ["compare"],
        ["resume"],
        ["status", "--watch"],
    ):
        assert "'b9' matches 2 runs" in nws(*command, "b9").err, command
    for command in (["export", "b9", "--rows", "x.csv"], ["export", "b9", "--policy", "x"], ["compare", "b9b", "b9"]):
        assert "'b9' matches 2 runs" in nws(*command).err, command


def test_a_shell_is_offered_the_runs_of_the_store(runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, gone = (SimpleNamespace(params={"store": f"sqlite:///{tmp_path}/{name}.db"}) for name in ("nws", "gone"))
    assert complete_run(there, "phase1-20261123") == ["phase1-20261123-b9b7e3"]
    assert complete_run(gone, "") == []  # and nothing is said
    monkeypatch.setenv("NWS_STORE", f"sqlite:///{tmp_path}/nws.db")
    assert len(complete_run(SimpleNamespace(params={}), "")) == 3


@pytest.mark.parametrize(
    ("text", "lengths"), [("5-9", [5, 6, 7, 8, 9]), ("3,5-7, 9", [3, 5, 6, 7, 9]), ("7", [7]), ("4-4", [4])]
)
def test_lengths_from_one_to_another(text: str, lengths: list[int]) -> None:
    assert parse_lengths(text) == lengths


@pytest.mark.parametrize("text", ["9-5", "1-999999", "a-b", "5-", "-5", "", "1,,2"])
def test_what_is_no_list_of_lengths_is_refused(text: str) -> None:
    with pytest.raises(RecipeError, match="or a range, such as 7-13"):
        parse_lengths(text)


def test_a_metric_means_the_same_everywhere() -> None:
    run = run_info()
    run.signatures["kept"] = "made"
    for typed, stored, computed in (
        ("rouge1", "rouge1_f1", "rouge1"),
        ("rougel_f1", "rougel_f1", "rougeL"),
        ("BERTScore", "bertscore_f1", "bertscore"),
        ("density", "density", "density"),
        ("kept", "kept", "kept"),
    ):
        assert (find_metric(typed, "report", run), metric_called(typed)) == (stored, computed)
    assert find_metric("Content kept", "report", run) == "kept"


@pytest.mark.parametrize(("accelerator", "engine"), [("gpu", "ray"), ("T4", "inline")])
def test_a_gpu_is_refused_at_once_where_there_is_none(nws, monkeypatch, accelerator: str, engine: str) -> None:
    monkeypatch.setattr("nws.cluster.resources.has_no_gpu", lambda: True)
    refused = nws("submit", "phase1", "--accelerator", accelerator, "--engine", engine)
    assert refused.code == 1
    assert f"--accelerator {accelerator} needs a GPU, and this machine has none" in refused.err


@pytest.fixture
def two_runs(nws, tmp_path) -> None:
    with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
        for run_id in ("phase1-a", "phase1-b"):
            store.create_run(RunSpec("phase1", {}, "hash", 0, "v", {}, {}, 1), run_id)
            epoch = store.claim_run(run_id, "host", 1)
            store.writer(run_id, epoch).heartbeat([LogLine(datetime.now(UTC), f"hello from {run_id}")])
            store.writer(run_id, epoch).finish("done")


def test_logs(nws, two_runs) -> None:
    assert nws("logs").out.endswith("hello from phase1-b\n")
    assert nws("logs", "--follow").out.endswith("hello from phase1-b\n")
    assert nws("logs", "phase1-a").out.endswith("hello from phase1-a\n")


def test_export_takes_the_newest_with_what_they_need(nws, two_runs) -> None:
    for words in (("compare",), ("export", "--rows", "rows.csv")):
        assert "has no run with summaries yet" in nws(*words).err
    refused = nws("export", "--policy", "folder")
    assert (refused.code, "has no training yet. Start one with: nws submit phase2" in refused.err) == (1, True)


@pytest.fixture
def ended(nws, tmp_path) -> str:
    with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
        run_id = store.create_run(RunSpec("phase1", {}, "hash", 0, "v", {}, {}, 1), "phase1-x")
        store.writer(run_id, store.claim_run(run_id, "host", 1)).finish("done")
    return run_id


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 1), ("", 1)])
def test_it_asks_first(nws, ended, monkeypatch, answer, left) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    result = nws("rm", ended)
    assert result.code == left
    assert f"{ended} in sqlite:///nws.db: done, 0 articles, 0 summaries" in result.err
    assert "Remove it for good?" in result.err
    assert len(nws("ls", "--json").json) == left


def test_yes_asks_nothing(nws, ended) -> None:
    assert nws("rm", ended, "--json").code == 2
    assert nws("rm", ended, "--yes", "--json").json == {"removed": ended, "summaries": 0, "articles": 0}
    assert nws("rm", ended, "--yes").code == 1
