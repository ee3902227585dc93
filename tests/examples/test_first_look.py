"""The notebook gives what it shows, and shows what README says."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "first_look.ipynb"
NUMBER = re.compile(r"-?\d*\.\d+")
# It follows the lines of the caption, and these the name of the code, which is shorter outside of git.
SIZE = re.compile(r"size [\d.]+x[\d.]+")


def told(notebook: Any) -> list[str]:
    """The text of every value that a cell has, with single blanks."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    texts = (" ".join(output.data["text/plain"].split()) for output in outputs if "data" in output)
    return [SIZE.sub("size", text) for text in texts]


def numbers(texts: list[str]) -> list[float]:
    return [float(number) for text in texts for number in NUMBER.findall(text)]


def test_it_gives_what_it_shows() -> None:
    shown = nbformat.read(NOTEBOOK, as_version=4)
    run = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(run, timeout=280, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    assert [NUMBER.sub("#", text) for text in told(run)] == [NUMBER.sub("#", text) for text in told(shown)]
    assert numbers(told(run)) == pytest.approx(numbers(told(shown)), abs=0.002)  # three decimals, on any CPU
    assert len(numbers(told(shown))) > 30
    assert any("image/png" in output.get("data", {}) for cell in run.cells for output in cell.get("outputs", ()))


def test_readme_shows_it() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.split("## From Python\n")[1].split("\n## ")[0]
    code = "\n".join(cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code")
    called = set(re.findall(r"sweep\.\w+\(", section))
    assert called == {"sweep.plot(", "sweep.recommended(", "sweep.curves(", "sweep.summaries("}
    assert called <= set(re.findall(r"sweep\.\w+\(", code))
    (swept,) = re.findall(r"^sweep = .*$", section, re.MULTILINE)
    assert swept.partition("  #")[0].replace('"news.jsonl"', "articles") in code
