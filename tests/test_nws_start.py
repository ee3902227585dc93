"""A foreign package called core, cluster or jobs is named, whichever way it came before NWS's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMMAND = "import sys; sys.argv = ['nws', '--version']; from nws_start import main; main()"


def _python(program: str, folder: Path, *path: Path) -> subprocess.CompletedProcess[str]:
    """A process in `folder`, which Python searches before `path`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["core", "cluster", "jobs"])
@pytest.mark.parametrize("form", ["{}/__init__.py", "{}.py"])
def test_the_command_names_a_foreign_package_and_what_to_do(tmp_path: Path, name: str, form: str) -> None:
    foreign = tmp_path / "other" / form.format(name)
    foreign.parent.mkdir(parents=True)
    foreign.write_text("")
    done = _python(COMMAND, tmp_path, tmp_path / "other", ROOT)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: the package `{name}` that Python finds first is not NWS's: {foreign}.")
    assert f"NWS's is in {ROOT}" in done.stderr
    assert "PYTHONPATH" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("before", ["", "import jobs; "], ids=["first on the path", "imported before"])
def test_import_nws_names_it_too(tmp_path: Path, before: str) -> None:
    (tmp_path / "jobs.py").write_text("")
    done = _python(f"{before}import nws", tmp_path, ROOT)
    assert done.returncode == 1
    told = done.stderr.splitlines()[-1]
    assert told.startswith(f"ImportError: the package `jobs` that Python finds first is not NWS's: {tmp_path}/jobs.py.")


def test_a_package_that_was_installed_over_nws_s_is_named(tmp_path: Path) -> None:
    (tmp_path / "nws_start.py").write_bytes((ROOT / "nws_start.py").read_bytes())
    for name in ("core", "cluster", "jobs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_bytes((ROOT / name / "__init__.py").read_bytes())
    check = "import nws_start; nws_start.require_own_packages()"
    assert _python(check, tmp_path).returncode == 0
    (tmp_path / "cluster" / "__init__.py").write_text('__version__ = "2.0"\n')
    done = _python(check, tmp_path)
    assert f"another package called `cluster` was installed over NWS's: {tmp_path}/cluster/__init__.py" in done.stderr


def test_a_folder_of_files_that_is_no_package_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "news.jsonl").write_text("")
    done = _python(COMMAND, tmp_path, ROOT)
    assert (done.returncode, done.stdout.split()[0]) == (0, "nws")


def test_python_without_docstrings_which_ray_needs_is_an_error_in_words(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-OO", "-c", COMMAND],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: Python runs without docstrings (PYTHONOPTIMIZE=2 or -OO), which Ray needs.")
