"""What `import nws` says in a notebook, in a kernel of its own."""

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

WITHOUT_WIDGETS = "import sys; sys.modules['ipywidgets'] = None"


def said(code: str) -> str:
    """What the last cell prints to stderr, where ipywidgets is not installed."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (WITHOUT_WIDGETS, code)])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return "".join(output.text for output in notebook.cells[-1].outputs if output.get("name") == "stderr")


def test_the_libraries_of_nws_do_not_ask_for_widgets() -> None:
    assert said("import nws; nws.score; import transformers.utils.logging") == ""


def test_others_are_still_warned() -> None:
    assert "IProgress not found" in said("import tqdm.auto")
    still = "import nws, warnings; warnings.warn('IProgress not found', stacklevel=1)"
    assert "IProgress not found" in said(still)
