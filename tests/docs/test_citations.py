"""What a paper cites: NWS, and the publications of what it uses, read as a paper's tools would."""

import re
import subprocess
import sys
import tomllib

import bibtexparser
import yaml
from doc_pages import ROOT


def test_every_publication_is_read() -> None:
    text = (ROOT / "docs" / "publications.bib").read_text(encoding="utf-8")
    published = bibtexparser.loads(text).entries_dict
    assert len(published) == text.count("\n@") + 1
    assert all({"author", "title", "year"} <= entry.keys() for entry in published.values())


def test_the_citation_file_is_valid_and_names_the_newest_release() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format"]
    subprocess.run([*command, str(ROOT / "CITATION.cff")], check=True, capture_output=True)
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["version"] == project["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", changelog, re.MULTILINE)
    assert headings[:2] == ["[Unreleased]", f"[{cited['version']}] - {cited['date-released']}"]


def test_the_pages_name_the_wheel_of_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert set(re.findall(r"nws_summaries-([\d.]+)-py3", page)) <= {project["version"]}
