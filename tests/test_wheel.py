"""The wheel, built and installed in an environment of its own outside of the checkout, does what the checkout does."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from jobs.installation import code_version

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def _checked(command: list[str], folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    _checked([*pip, "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder)], folder)
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


def test_migrations_recipes_templates_and_articles_are_inside_and_nothing_else_of_the_checkout(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    in_checkout = {
        str(path.relative_to(ROOT))
        for folder in ("core", "cluster", "jobs", "nws")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    migrations = {
        f"jobs/store/migrations/{path.relative_to(ROOT / 'alembic')}"
        for path in (ROOT / "alembic").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "jobs/store/migrations/versions/0001_initial.py" in migrations
    assert names - {".nws_code_version"} == in_checkout | migrations | {"nws_start.py"}


def test_it_says_which_commit_it_was_built_from(installed: Path, tmp_path: Path) -> None:
    program = "import jobs; from jobs.installation import code_version; print(jobs.__file__, code_version())"
    file, version = _checked([str(installed / "python"), "-c", program], tmp_path).split()
    assert Path(file).is_relative_to(installed.parent)
    assert version == code_version()


def test_a_sweep_is_computed_stored_and_reported(nws, tmp_path: Path) -> None:
    assert "the schema was made" in nws("db", "upgrade")
    assert "is done: 2 articles" in nws("submit", "phase1", "--engine", "inline", "--limit", "2", "--n", "3,7")
    nws("report", "-o", "page.html")
    assert "<svg" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.faults
def test_baselines_run_on_ray_although_a_folder_here_is_called_core(nws, tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("raise ImportError('the wrong core')")
    told = nws("submit", "baselines", "--limit", "1", "--n", "3", "--system", "lead", "--actors", "1")
    assert "is done: 1 article," in told
    shutil.rmtree(tmp_path / "core")
    assert "lead" in nws("query", "select system from summaries")


def test_nws_is_imported_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    told = _checked([str(installed / "python"), "-c", "import nws; print(nws.__file__, *nws.__all__)"], tmp_path)
    assert Path(told.split()[0]).is_relative_to(installed.parent)
    assert "sweep" in told
