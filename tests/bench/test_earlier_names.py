"""A script with names of an earlier commit runs, in a process of its own."""

import subprocess
import sys
from pathlib import Path

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
