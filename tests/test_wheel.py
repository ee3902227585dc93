"""The wheel, built from the sdist and installed outside of the checkout, does what the checkout does."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from nws.core.provenance import files_below
from nws.jobs.installation import code_version

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def _checked(command: list[str], folder: Path, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is built from the sdist, which is built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    _checked([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)], ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    _checked([*pip, "wheel", str(sdist), "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder)], folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment: NWS from its wheel, the libraries from where this process has them."""
    folder = tmp_path_factory.mktemp("environment")
    _checked([sys.executable, "-m", "venv", "--without-pip", str(folder)], folder)
    programs = folder / "bin"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(programs / "python")]
    _checked([*pip, "install", "--no-compile", "--no-deps", "--no-index", str(wheel)], folder)
    (packages,) = folder.glob("lib/*/site-packages")
    # A folder that a .pth file adds is searched, but its own .pth files are not: not the one of this checkout.
    libraries = {str(Path(module.__file__).parents[1]) for module in (pytest, sys.modules["torch"])}
    (packages / "libraries.pth").write_text("\n".join(sorted(libraries)))
    return programs


@pytest.fixture
def nws(installed: Path, tmp_path: Path):
    """Runs `nws …` of the wheel in an empty folder; what it printed."""
    return lambda *words: _checked([str(installed / "nws"), *words], tmp_path)


def test_the_wheel_has_the_package_nws_as_the_checkout_has_it_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    in_checkout = {str(path.relative_to(ROOT)) for path in files_below(ROOT / "nws")}
    assert "nws/migrations/versions/release_1_0.py" in in_checkout
    assert names == in_checkout | {"nws/.code_version"}
    assert any(name.endswith("/licenses/LICENSE") for name in zipfile.ZipFile(wheel).namelist())


def test_it_says_which_commit_it_was_built_from(installed: Path, tmp_path: Path) -> None:
    program = "import nws; from nws.jobs.installation import code_version; print(nws.__file__, code_version())"
    file, version = _checked([str(installed / "python"), "-c", program], tmp_path).split()
    assert Path(file).is_relative_to(installed.parent)
    assert version == code_version()


def test_a_sweep_is_computed_stored_and_reported(nws, tmp_path: Path) -> None:
    assert "the schema was created" in nws("db", "upgrade")
    assert "is done: 2 articles" in nws("submit", "phase1", "--engine", "inline", "--limit", "2", "--n", "3,7")
    nws("report", "-o", "page.html")
    assert "<svg" in (tmp_path / "page.html").read_text(encoding="utf-8")


PLUGIN = """
import pathlib

try:
    import core
except ImportError as error:
    assert "theirs" in str(error), error  # the user's own package comes first, also in Ray's workers


def first(text, n):
    return " ".join(text.split()[:n])


SYSTEMS = {"first": first}
"""
FROM_PYTHON = """
import nws

assert nws.plugins.Document

assert len(nws.sweep("sample", n=[3], systems=["lead"]).curves())
print(nws.score(["Snow fell."], ["Snow fell."], metrics=["rouge1"]).to_pandas())
"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("installation", ["wheel", "editable"])
def test_packages_of_the_user_may_be_called_core_cluster_and_jobs(
    request: pytest.FixtureRequest, installation: str, tmp_path: Path
) -> None:
    """In a folder where all three raise when they are imported, everything that imports in other processes works."""
    is_wheel = installation == "wheel"
    programs = request.getfixturevalue("installed") if is_wheel else Path(sys.executable).parent
    for name in ("core/__init__.py", "cluster/__init__.py", "jobs.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("raise ImportError('this is theirs')")
    (tmp_path / "mine.py").write_text(PLUGIN)

    def nws(*words: str) -> str:
        return _checked([str(programs / "nws"), *words], tmp_path, PYTHONPATH=str(tmp_path))

    assert "is done: 2 articles" in nws("submit", "phase1", "--limit", "2", "--n", "3,7", "--actors", "1")
    assert "content" in nws("report")
    small = ("submit", "baselines", "--limit", "2", "--n", "3", "--system", "lead", "--plugin", "mine.py")
    assert "is done: 2 articles" in nws(*small, "--actors", "1")
    assert "is done: 2 articles" in nws(*small, "--actors", "1", "--shard-articles", "1", "--no-reuse")
    assert "first" in nws("query", "select distinct system from summaries")
    assert "rouge1" in _checked([str(programs / "python"), "-c", FROM_PYTHON], tmp_path)


@pytest.mark.parametrize("installation", ["wheel", "editable"])
def test_a_folder_called_core_that_is_no_package_is_the_user_s(
    request: pytest.FixtureRequest, installation: str, tmp_path: Path
) -> None:
    programs = request.getfixturevalue("installed") if installation == "wheel" else Path(sys.executable).parent
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "data.py").write_text("X = 1\n")
    program = "import nws, core.data; print(core.data.X, nws.score.__name__)"
    assert _checked([str(programs / "python"), "-c", program], tmp_path) == "1 score\n"
