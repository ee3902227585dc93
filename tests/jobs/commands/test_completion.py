"""A shell is told what may come next."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from made_scores import make_scores

from core.types import Article, BundleResult, Score, Summary, SystemKind
from jobs.store import RunSpec, open_store


def completed(line: str) -> list[str]:
    """What Bash would offer behind `line`."""
    words = line.split(" ")
    asked = {"_NWS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    program = "import sys; sys.argv[0] = 'nws'; from jobs.cli import main; main()"
    run = subprocess.run([sys.executable, "-c", program], env=os.environ | asked, capture_output=True, text=True)
    assert run.stderr == ""
    return run.stdout.split()


def test_commands_and_flags_are_completed() -> None:
    assert completed("nws re") == ["resume", "report"]
    assert completed("nws submit ") == ["phase1", "baselines", "phase2"]
    assert {"--recipe", "--n", "--store"} <= set(completed("nws submit phase1 --"))


def test_runs_systems_and_metrics_are_those_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path}/nws.db"
    monkeypatch.setenv("NWS_STORE", url)
    assert completed("nws status ") == []  # there is no store yet, and nothing is said
    article = Article("news", "test", "a", "The plan.", ("Plan.",))
    systems: dict[str, SystemKind] = {"m|textrank|chunks": "system", "m|lexrank|chunks": "system", "lead": "control"}
    scores = make_scores(Score(0.5, 0.5, 0.5))
    with open_store(url) as store:
        for run in ("phase1-20261123-b9b7e3", "phase1-20261124-0a1b2c"):
            store.create_run(RunSpec("phase1", {}, "hash", 0, "v", {}, {"bertscore": "b"}, 3), run)
        epoch = store.claim_run(run, "host", 1)
        store.writer(run, epoch).start(None, "v", systems)
        summaries = tuple(Summary(article.id, system, 1, "Plan", 1, 0.1, scores) for system in systems)
        store.writer(run, epoch).record([((article,), BundleResult(summaries, ()))])
        store.writer(run, epoch).finish("done")
    assert completed("nws status phase1-20261123") == ["phase1-20261123-b9b7e3"]
    monkeypatch.delenv("NWS_STORE")
    assert completed(f"nws report --store {url} phase1-20261123") == ["phase1-20261123-b9b7e3"]
    assert sorted(completed(f"nws compare --store {url} --system ")) == ["lead", "lexrank", "textrank"]
    assert completed(f"nws compare --store {url} --metric rouge") == ["rouge1_f1", "rouge2_f1", "rougel_f1"]
