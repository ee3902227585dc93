"""A script with names of an earlier commit runs, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench import earlier_names
from core.types import Summary

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
from core.sweep_plan import make_segmenter, make_sweeper
from jobs.plan.phase1 import pin
from jobs.recipes.phase1 import Phase1Recipe

print(__name__, *sys.argv[1:], make_segmenter.__module__, pin.__module__, Phase1Recipe.__name__)
"""


def test_earlier_names_stand_beside_those_of_today(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "bench.earlier_names", str(script), "--limit", "8"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said == "__main__ --limit 8 core.worker_factories jobs.recipes.job Phase1Recipe\n"
    alone = subprocess.run([sys.executable, str(script)], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True)
    assert alone.returncode != 0


def test_scores_are_read_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        Summary(
            "a", "lead", 1, "one", 1, 0.0, {"bertscore_f1": 0.5, "bertscore_precision": 0.4, "bertscore_recall": 0.6}
        )
    ]
    monkeypatch.setattr(earlier_names, "make_sweeper", lambda plan, device: lambda bundle: rows)
    (row,) = earlier_names._make_earlier_sweeper("plan", "cpu")([])
    assert (row.scores.bertscore.f1, row.scores["bertscore_f1"]) == (0.5, 0.5)  # type: ignore[attr-defined]
