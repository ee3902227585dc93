"""What a person waits for before a command does anything: the libraries that it imports."""

import subprocess
import sys

import pytest

# Each takes most of a second or more.
SLOW = {"torch", "spacy", "transformers", "sentence_transformers", "bert_score", "nltk", "sklearn", "pandas"}


@pytest.mark.parametrize(
    ("modules", "slow"),
    [
        ("jobs.drive.driver, jobs.recipes.sweep_plan", {*SLOW, "ray", "pyarrow"}),
        ("core.stage, core.worker_factories", SLOW),
        ("core.stage, core.text.spacy_segmentation", SLOW - {"spacy", "torch"}),  # spaCy imports torch itself
        ("core.sweep", {"spacy", "bert_score", "nltk"}),
        ("nws", {*SLOW, "ray", "matplotlib", "datasets"} - {"pandas"}),  # its frames are pandas'
    ],
    ids=["drive", "plan", "segment", "summarise", "python"],
)
def test_nothing_is_imported_that_is_not_needed(modules: str, slow: set[str]) -> None:
    program = f"import sys, {modules}; print(*sorted({slow!r} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
