"""The notebook for Colab does without Colab and without a GPU what it says, and resumes from its copy."""

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nws_process import ROOT, assert_equal, rows, start, wait_for_rows

NOTEBOOK = ROOT / "examples" / "colab.ipynb"
ARTICLES = 6


def run(folder: Path) -> str:
    """All cells, in a folder, with a few articles, one in a bundle; what they printed."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    for cell in notebook.cells:
        for whole, small in (("LIMIT = 24", f"LIMIT = {ARTICLES}"), ("bundle_size: 16", "bundle_size: 1")):
            cell.source = cell.source.replace(whole, small)
        cell.source = cell.source.replace("EVERY = 120", "EVERY = 1")
    NotebookClient(
        notebook, timeout=280, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "".join(output.get("text", "") for output in outputs)


@pytest.mark.ray
@pytest.mark.faults
@pytest.mark.timeout(900)
def test_a_run_is_copied_and_resumed_from_its_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'tests' / 'support'}")
    whole, died = tmp_path / "whole", tmp_path / "died"
    for folder in (whole, died):
        folder.mkdir()
    assert "done" in run(whole)
    expected = rows(whole / "kept", "nws.db")
    assert rows(whole, "nws.db") == expected
    assert (whole / "kept" / "report.html").stat().st_size > 10_000

    # The machine dies in mid-run: all that is left is the last copy, in which the run is at work.
    recipe = (whole / "recipe.yaml").read_text(encoding="utf-8")
    (died / "recipe.yaml").write_text(recipe, encoding="utf-8")
    process = start(died, "submit", "phase1", "--recipe", "recipe.yaml", "--store", "sqlite:///nws.db")
    wait_for_rows(died / "nws.db", process)
    (died / "kept").mkdir()
    with closing(sqlite3.connect(died / "nws.db")) as store, closing(sqlite3.connect(died / "kept" / "nws.db")) as copy:
        store.backup(copy)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    for path in died.glob("nws.db*"):
        path.unlink()
    before = rows(died / "kept", "nws.db")
    assert 0 < len(before) < len(expected)
    assert "done" in run(died)
    after = rows(died / "kept", "nws.db")
    assert_equal(after, expected)
    assert before.items() <= after.items(), "what the copy had is not computed again"


def test_it_keeps_no_output_and_copies_no_open_store() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert "store.backup(copy)" in code
    assert "copyfile(STORE" not in code
