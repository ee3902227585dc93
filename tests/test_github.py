"""The files of .github have the form that GitHub reads, and a release has no more rights than it needs."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(set((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) - {GITHUB / "ISSUE_TEMPLATE" / "config.yml"})
SCHEMAS = {
    "github-workflows": WORKFLOWS,
    "github-issue-forms": FORMS,
    "github-issue-config": [GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
    "dependabot": [GITHUB / "dependabot.yml"],
}


def _read(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return read


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_file_has_the_form_that_github_reads(schema: str) -> None:
    files = [str(path) for path in SCHEMAS[schema]]
    assert files
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_to_a_major_version(path: Path) -> None:
    steps = [step for job in _read(path)["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    assert [name for name in used if not re.search(r"@(?:release/)?v\d+$", name)] == []


def test_only_the_upload_of_a_release_may_identify_itself() -> None:
    release = _read(GITHUB / "workflows" / "release.yml")
    assert release["permissions"] == {}
    permissions = {name: job["permissions"] for name, job in release["jobs"].items()}
    assert permissions == {"build": {"contents": "read"}, "try": {"contents": "read"}, "publish": {"id-token": "write"}}
    publish = release["jobs"]["publish"]
    assert publish["environment"]["name"] == "pypi"
    assert publish["needs"] == "try"
    assert release["jobs"]["try"]["needs"] == "build"


def test_a_bug_report_asks_for_what_finds_the_cause() -> None:
    form = _read(GITHUB / "ISSUE_TEMPLATE" / "bug_report.yml")
    fields = {field["id"]: field.get("validations", {}) for field in form["body"] if "id" in field}
    required = {name for name, validations in fields.items() if validations.get("required")}
    assert required == {"happened", "steps", "version", "doctor", "store"}
    assert {"run", "log"} <= fields.keys()
