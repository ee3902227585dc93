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
import core.arithmetic  # or nobody knows how this process multiplies
from rich.console import Console
from bench import stub_work
from jobs.drive import driver
from jobs.recipes.job import plan_job
from jobs.store import open_store

engine, store, meanwhile = sys.argv[1:]
fetch = driver.fetch_models

def slowly(plans):
    subprocess.run(meanwhile, shell=True, check=True)
    fetch(plans)

driver.fetch_models = slowly
plan = plan_job("baselines", "sample", {"datasets.limit": 2, "actors": 1, "systems": ["lead"], "n": [3]})
said = io.StringIO()
with open_store(store) as opened:
    outcome = driver.start(opened, plan, engine, Console(file=said, width=1000), stub_work.work, reuse=True)
    run = opened.run_info(outcome.run_id)
    with opened.query(f"select text from summaries where run_id = '{run.id}'") as answer:
        texts = [row[0] for row in answer.rows]
print(json.dumps({"code": run.code_version, "reused": outcome.reused, "mixed": run.mixed, "texts": texts,
                  "said": said.getvalue()}))
"""


class EditedCheckout:
    """A clean commit of this checkout's sources, and what a run of stub work from there has.

    Attributes:
        root: where it is.
        edit: a shell command after which the first words of a text are in capitals; it needs no file besides.
        restore: one that takes the edit back.
    """

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        for package in ("core", "cluster", "jobs", "alembic", "bench"):
            shutil.copytree(ROOT / package, self.root / package, ignore=shutil.ignore_patterns("__pycache__"))
        git = f"git -C {self.root} -c user.name=t -c user.email=t@localhost"
        in_capitals = f"sed -i 's/join(itertools.islice(words, n))/&.upper()/' {self.root / WORDS}"
        self.edit = f"{in_capitals} && ! git -C {self.root} diff --quiet"
        self.restore = f"{git} checkout -q -- core"
        for command in (f"git init -q {self.root}", f"{git} add -A", f"{git} commit -qm Clean"):
            self.shell(command)

    def shell(self, command: str) -> str:
        return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout.strip()

    def run(self, engine: str, meanwhile: str = "true") -> dict[str, Any]:
        """A run that copies what it can, into a store beside; `meanwhile` happens while it looks for its models."""
        environment = os.environ | {"PYTHONPATH": str(self.root)}
        words = [engine, f"sqlite:///{self.root.parent / 'x.db'}", meanwhile]
        command = [sys.executable, "-c", _PROGRAM, *words]
        done = subprocess.run(command, cwd=self.root.parent, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])


def test_rows_of_edited_code_are_neither_labelled_with_the_commit_nor_copied(tmp_path: Path) -> None:
    checkout = EditedCheckout(tmp_path)
    checkout.shell(checkout.edit)
    edited = checkout.run("inline", meanwhile=checkout.restore)
    assert edited["texts"] == [text.upper() for text in edited["texts"]]
    clean = checkout.run("inline")
    assert (edited["mixed"], clean["mixed"], clean["reused"]) == (True, False, 0)
    assert clean["texts"] != edited["texts"]
    commit = checkout.shell(f"git -C {checkout.root} rev-parse --short=12 HEAD")
    assert clean["code"].startswith(f"{commit}+")
    assert edited["code"].startswith(f"{commit}-dirty+")
    assert checkout.run("inline")["reused"] == 2
