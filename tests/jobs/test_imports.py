"""What a person waits for before a command does anything: the libraries that it imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from nws.jobs.store import RunSpec, open_store

# Each takes most of a second or more.
SLOW = {"torch", "spacy", "transformers", "sentence_transformers", "bert_score", "nltk", "sklearn", "pandas"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("modules", "slow"),
    [
        (
            "nws.jobs.drive.driver, nws.jobs.recipes.sweep_plan, nws.jobs.report.warnings",
            {*SLOW, "ray", "pyarrow", "scipy"},
        ),
        ("nws.core.stage, nws.core.worker_factories", SLOW),
        ("nws.core.stage, nws.core.text.spacy_segmentation", SLOW - {"spacy", "torch"}),  # spaCy imports torch itself
        ("nws.core.sweep", {"spacy", "bert_score", "nltk"}),
        ("nws", {*SLOW, "ray", "matplotlib", "datasets"} - {"pandas"}),  # its frames are pandas'
    ],
    ids=["drive", "plan", "segment", "summarise", "python"],
)
def test_nothing_is_imported_that_is_not_needed(modules: str, slow: set[str]) -> None:
    program = f"import sys, {modules}; print(*sorted({slow!r} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


HEAVY = {"torch", "ray", "transformers", "spacy", "scipy", "matplotlib", "datasets"}


@pytest.mark.parametrize(
    ("command", "needed", "heavy"),
    [
        *(
            (command, "typer", {*HEAVY, "numpy", "alembic"})
            for command in ("--help", "ls", "cancel RUN", "query SELECT(1)")
        ),
        *((f"submit {job} --help", "pydantic", {*HEAVY, "sqlalchemy"}) for job in ("phase1", "baselines", "phase2")),
    ],
)
def test_what_computes_nothing_loads_no_heavy_library(tmp_path: Path, command: str, needed: str, heavy: set) -> None:
    with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
        store.create_run(RunSpec("phase1", {}, "hash", 0, "code", {}, {}, 1), "RUN")
    program = [sys.executable, "-X", "importtime", "-m", "nws.jobs.cli", *command.split()]
    run = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in run.stderr.splitlines()}
    assert needed in loaded
    assert loaded & heavy == set()
