"""A shell is told what may come next."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.store import RunSpec, open_store

pytestmark = pytest.mark.slow  # each asks a process of its own


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


def test_runs_are_those_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path}/nws.db"
    monkeypatch.setenv("NWS_STORE", url)
    assert completed("nws status ") == []  # there is no store yet, and nothing is said
    with open_store(url) as store:
        for run in ("phase1-20261123-b9b7e3", "phase1-20261124-0a1b2c"):
            store.create_run(RunSpec("phase1", {}, "hash", 0, "v", {}, {"bertscore": "b"}, 3), run)
    assert completed("nws status phase1-20261123") == ["phase1-20261123-b9b7e3"]
    monkeypatch.delenv("NWS_STORE")
    assert completed(f"nws report --store {url} phase1-20261123") == ["phase1-20261123-b9b7e3"]
