"""The test suite itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_what_is_tested_on_a_gpu_alone_runs() -> None:
    """On a CPU in its place. Nothing else runs these tests where there is no GPU, and so what they call may be gone."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "gpu", "-p", "no:cacheprovider", "tests/gpu"],
        cwd=ROOT,
        env={**os.environ, "NWS_TEST_DEVICE": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert "3 passed, 1 skipped" in ran.stdout
