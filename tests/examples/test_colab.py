"""The notebook for Colab does without Colab and without a GPU what it says, and resumes from its copy."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "colab.ipynb"

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]


def run(folder: Path) -> Any:
    """All cells but the one that asks the doctor, in a folder, with two articles; what they printed."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace("LIMIT = 24", "LIMIT = 2").replace("EVERY = 120", "EVERY = 1")
    notebook.cells = [cell for cell in notebook.cells if 'nws("doctor")' not in cell.source]
    NotebookClient(
        notebook, timeout=280, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "".join(output.get("text", "") for output in outputs)


def rows(store: Path) -> list[Any]:
    with closing(sqlite3.connect(store)) as connection:
        found = connection.execute("SELECT article_id, system, n, text FROM summaries ORDER BY 1, 2, 3").fetchall()
    return list(found)


def test_a_run_is_copied_and_resumed_from_its_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'tests' / 'support'}")
    run(tmp_path)
    copy = tmp_path / "kept" / "nws.db"
    whole = rows(copy)
    assert len({row[0] for row in whole}) == 2
    assert rows(tmp_path / "nws.db") == whole
    assert (tmp_path / "kept" / "report.html").stat().st_size > 10_000
    # The machine is gone in mid-run: only the copy is left, and it lacks an article.
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("DELETE FROM summaries WHERE article_id = ?", (whole[0][0],))
        connection.execute("UPDATE runs SET state = 'interrupted'")
    for path in tmp_path.glob("nws.*"):
        path.unlink()
    run(tmp_path)
    assert rows(copy) == whole


def test_it_keeps_no_output_and_copies_no_open_store() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert "store.backup(copy)" in code
    assert "copyfile(STORE" not in code
