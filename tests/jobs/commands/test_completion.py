"""A shell is told what may come next."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow  # each asks a process of its own


def completed(line: str) -> list[str]:
    """What Bash would offer behind `line`."""
    words = line.split(" ")
    asked = {"_NWS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    program = "import sys; sys.argv[0] = 'nws'; from jobs.cli import main; main()"
    run = subprocess.run([sys.executable, "-c", program], env=os.environ | asked, capture_output=True, text=True)
    assert run.stderr == ""
    return run.stdout.split()


def test_commands_and_flags_are_completed() -> None:
    assert completed("nws re") == ["resume", "report"]
    assert completed("nws submit ") == ["phase1", "baselines", "phase2"]
    assert {"--recipe", "--n", "--store"} <= set(completed("nws submit phase1 --"))
