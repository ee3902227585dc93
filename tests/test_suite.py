"""The test suite itself: whom it blames, and what it says that it has not tested."""

import os
import subprocess
import sys
from pathlib import Path

import not_tested
import pytest

ROOT = Path(__file__).parents[1]


def run_pytest(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A run of other tests, as this project's are configured, without its conftest."""
    (folder / "test_them.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder), *options]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", str(folder)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests" / "support")},
        capture_output=True,
        text=True,
        check=False,
    )


LEAVES_A_PROCESS = """
import gc, subprocess, warnings

def test_that_leaves_a_process_in_a_cycle():
    process = subprocess.Popen(["sleep", "5"])
    process.itself = process

def test_that_does_nothing_wrong():
    gc.collect()

def test_that_warns():
    warnings.warn("this test's own", ResourceWarning)
"""


def test_a_warning_of_a_finalizer_fails_no_other_test_and_is_told(tmp_path: Path) -> None:
    told = run_pytest(tmp_path, LEAVES_A_PROCESS).stdout
    assert "1 failed, 2 passed, 1 warning" in told
    assert "FAILED test_them.py::test_that_warns" in told
    assert "PytestUnraisableExceptionWarning" in told
    assert "is still running" in told


SKIPS = """
import pytest

@pytest.mark.parametrize("reason", [
    "Chromium is not installed: apt-get install chromium",
    "Chromium is not installed: apt-get install chromium",
    "WordNet's data is not here: install it",
    "WordNet is in NLTK's data here",
])
def test_it(reason):
    pytest.skip(reason)

def test_what_is_there():
    pass
"""


def test_what_was_not_tested_is_said_at_the_end_with_one_command(tmp_path: Path) -> None:
    told = run_pytest(tmp_path, SKIPS, "-p", "not_tested").stdout
    assert "Not tested: 2 tests that need Chromium and 1 test that needs WordNet.\n" in told
    assert "To test all of it: apt-get install -y chromium wordnet-base wordnet-sense-index\n" in told
    assert "1 passed, 4 skipped" in told
    assert not_tested.sentences(["no GPU"]) == []


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
    assert "4 passed, 1 skipped" in ran.stdout
