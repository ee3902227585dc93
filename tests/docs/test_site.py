"""The site that `make docs` builds: whole, and without a request to any network."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from doc_pages import ROOT

from nws.jobs.recipes.phase2 import MethodRecipe, Phase2Recipe

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)
    return folder


def test_no_page_asks_a_network_for_anything(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    loaded = r"""<(?:script|img|iframe)[^>]* src=["']?(?:https?:)?//[^>]*|<link[^>]* href=["']?(?:https?:)?//[^>]*"""
    assert [found for page in pages for found in re.findall(loaded, page.read_text(encoding="utf-8"))] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*", styles) == []


def test_every_command_and_every_key_of_a_recipe_has_its_entry(site: Path) -> None:
    commands = (site / "cli.html").read_text(encoding="utf-8")
    for name in ("nws-submit-phase1", "nws-db-upgrade", "nws-report"):
        assert f'<h2 id="{name}">' in commands
    assert "--test-dataset" in commands
    assert "nws-drive" not in commands  # it is for Ray's jobs, and hidden
    keys = (site / "recipes.html").read_text(encoding="utf-8")
    for key in [*inspect.signature(Phase2Recipe).parameters, *inspect.signature(MethodRecipe).parameters]:
        assert f"<td><code>{key}</code></td>" in keys, key


def test_python_has_its_reference(site: Path) -> None:
    page = (site / "api.html").read_text(encoding="utf-8")
    for name in ("nws.sweep", "nws.Result.compare", "nws.plugins.System"):
        assert f'id="{name}"' in page


def test_links_to_other_files_of_the_repository_lead_to_pages(site: Path) -> None:
    assert 'href="repository/cluster/aws-t4.yaml.html"' in (site / "cluster.html").read_text(encoding="utf-8")
    assert "max_workers" in (site / "repository" / "cluster" / "aws-t4.yaml.html").read_text(encoding="utf-8")
    assert 'href="../running.html"' in (site / "repository" / "index.html").read_text(encoding="utf-8")  # README
    assert (site / "repository" / "examples" / "first_look.ipynb").exists()


def test_formulas_are_mathml(site: Path) -> None:
    page = (site / "compare.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert "arithmatex" not in page
