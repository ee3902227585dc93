"""`nws score` of what a pipe gives, as `nws score <(…)` and `/dev/stdin` have it."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nws.core.errors import CorpusError
from nws.jobs.tools.score import read_scored

ROWS = [{"prediction": "A cat.", "reference": "A cat."}, {"prediction": "A dog.", "reference": "A cat."}]
FORMS = {
    "jsonl": "\n".join(map(json.dumps, ROWS)),
    "json": json.dumps(ROWS, indent=1),
    "columns": json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]}),
    "csv": "prediction,reference\nA cat.,A cat.\nA dog.,A cat.\n",
    "csv of nws write": "summary,reference\nA cat.,A cat.\nA dog.,A cat.\n",
    "lines": "A cat.\nA dog.\n",
}


def fifo(path: Path, text: str) -> Path:
    os.mkfifo(path)
    threading.Thread(target=path.write_text, args=(text,), daemon=True).start()
    return path


@pytest.mark.parametrize("form", FORMS)
def test_rows_come_out_of_a_pipe(tmp_path: Path, form: str) -> None:
    (tmp_path / "references.txt").write_text("A cat.\nA cat.\n")
    references = str(tmp_path / "references.txt") if form == "lines" else None
    rows = [row for _, row in read_scored(fifo(tmp_path / "pipe", FORMS[form]), (None, None), references)]
    assert [row["prediction"] for row in rows] == ["A cat.", "A dog."]


def test_a_pipe_is_called_one_where_a_file_is_needed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "texts.txt").write_text("A cat.\n")
    with pytest.raises(CorpusError, match=r"/pipe is a pipe. Write it to a file"):
        list(read_scored(tmp_path / "texts.txt", (None, None), str(tmp_path / "pipe")))


def test_errors_name_the_pipe(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=rf"^{tmp_path}/pipe, line 2: not valid JSON"):
        list(read_scored(fifo(tmp_path / "pipe", '{"prediction": "A."}\n{'), (None, None), None))


def test_the_command_reads_its_standard_input() -> None:
    typed = [sys.executable, "-m", "nws", "score", "/dev/stdin", "--json", "-m", "rouge1"]
    done = subprocess.run(typed, input=FORMS["jsonl"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["rows"] == 2
