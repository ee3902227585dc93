"""The code of a run is what its processes have imported, whatever happens to the files meanwhile."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
WORDS = "core/text/length.py"
_PROGRAM = """
import io, json, subprocess, sys
import nws.core.arithmetic  # or nobody knows how this process multiplies
from rich.console import Console
from bench import stub_work
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.store import open_store

store, meanwhile = sys.argv[1:]
fetch = driver.fetch_models

def slowly(plans):
    subprocess.run(meanwhile, shell=True, check=True)
    fetch(plans)

driver.fetch_models = slowly
plan = plan_job("baselines", "sample", {"datasets.limit": 2, "actors": 1, "systems": ["lead"], "n": [3]})
said = io.StringIO()
with open_store(store) as opened:
    outcome = driver.start(opened, plan, "inline", Console(file=said, width=1000), stub_work.work, reuse=True)
    run = opened.run_info(outcome.run_id)
    with opened.query(f"select text from summaries where run_id = '{run.id}'") as answer:
        texts = [row[0] for row in answer.rows]
print(json.dumps({"code": run.code_version, "reused": outcome.reused, "mixed": run.mixed, "texts": texts,
                  "said": said.getvalue()}))
"""


def shell(command: str) -> str:
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout.strip()


def run(checkout: Path, meanwhile: str = "true") -> dict[str, Any]:
    """A run from there that copies what it can, into a store beside; `meanwhile` happens while it looks for models."""
    folder, environment = checkout.parent, os.environ | {"PYTHONPATH": str(checkout)}
    command = [sys.executable, "-c", _PROGRAM, f"sqlite:///{folder / 'x.db'}", meanwhile]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_rows_of_edited_code_are_neither_labelled_with_the_commit_nor_copied(tmp_path: Path) -> None:
    """The edit is in the files only until the run has imported them: the first words of a text are in capitals."""
    checkout = tmp_path / "checkout"
    for package in ("nws", "core", "cluster", "jobs", "alembic", "bench"):
        leave_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, checkout / package, symlinks=True, ignore=leave_out)
    git = f"git -C {checkout} -c user.name=t -c user.email=t@localhost"
    shell(f"git init -q {checkout} && {git} add -A && {git} commit -qm Clean")
    shell(f"sed -i 's/join(itertools.islice(words, n))/&.upper()/' {checkout / WORDS} && ! {git} diff --quiet")
    edited = run(checkout, meanwhile=f"{git} checkout -q -- core")
    assert edited["texts"] == [text.upper() for text in edited["texts"]]
    clean = run(checkout)
    assert (edited["mixed"], clean["mixed"], clean["reused"]) == (True, False, 0)
    assert clean["texts"] != edited["texts"]
    commit = shell(f"{git} rev-parse --short=12 HEAD")
    assert clean["code"].startswith(f"{commit}+")
    assert edited["code"].startswith(f"{commit}-dirty+")
    assert run(checkout)["reused"] == 2
