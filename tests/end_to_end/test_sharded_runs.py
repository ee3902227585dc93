"""Sharded runs as people drive them: real processes, which die."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from chaos.sharded_run import ChaosShardedRun, carry_out_sharded_run
from chaos.surroundings import Surroundings
from nws_process import STUB, end, start, wait_for_rows

from bench.stub_work import write_articles

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1200)]

SLOW = {"NWS_STUB_SECONDS": "0.05"}


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_drivers_that_die_change_no_row(tmp_path: Path, database: str) -> None:
    kills = [("driver", 0.1), ("parent process", 0.3), ("both", 0.6)]
    kills += [("postgres", 0.8)] if database == "postgres" else []
    lines: list[str] = []
    with Surroundings(tmp_path) as around:
        carry_out_sharded_run(ChaosShardedRun(1, database, tuple(kills)), around, lines.append)
    assert len(lines) == len(kills) + 1


def test_ctrl_c_ends_the_shards_and_resume_does_the_rest(tmp_path: Path) -> None:
    write_articles(tmp_path / "news.jsonl", 200)
    asked = ("--dataset", "news.jsonl", "--n", "3,7", "--engine", "inline", "--store", "sqlite:///a.db", "--json")
    parent = start(tmp_path, "submit", "phase1", *asked, "--shards", "3", "--drivers", "2", program=STUB, **SLOW)
    try:
        wait_for_rows(tmp_path / "a.db", parent)
        parent.send_signal(signal.SIGINT)
        out, err = parent.communicate(timeout=120)
        assert parent.returncode == 130, err
        told = json.loads(out.splitlines()[-1])
        assert told["state"] == "interrupted"
        status = _json(tmp_path, "status", told["run_id"])
        states = {shard["state"] for shard in status["of_shards"]}
        assert "interrupted" in states <= {"interrupted", "done"}
        again = ("resume", told["run_id"], "--engine", "inline", "--store", "sqlite:///a.db", "--json")
        resumed = start(tmp_path, *again, program=STUB)
        out, err = resumed.communicate(timeout=120)
        assert resumed.returncode == 0, err
        outcome = json.loads(out.splitlines()[-1])
        assert (outcome["run_id"], outcome["state"], outcome["failures"]) == (told["run_id"], "done", 0)
        assert (outcome["articles"], outcome["summaries"]) == (200, 200 * 14)
    finally:
        end(parent)


def _json(folder: Path, *arguments: str) -> Any:
    asked = start(folder, *arguments, "--store", "sqlite:///a.db", "--json", program=STUB)
    out, err = asked.communicate(timeout=120)
    assert asked.returncode == 0, err
    return json.loads(out.splitlines()[-1])
