"""`nws query` in every format, and to a person."""

import csv
import io
import re
from types import SimpleNamespace

import pytest
import yaml
from run_infos import run_info

from nws.jobs.commands import query
from nws.jobs.store import RunSpec, open_store

SQL = "SELECT id, job, 0.25 AS f1, NULL AS none FROM runs"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
WIDE = "SELECT 'the first' AS name, " + ", ".join(f"'{'x' * 30}' AS column{i}" for i in range(5))


@pytest.fixture(autouse=True)
def _store(nws, tmp_path) -> None:
    with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
        store.create_run(RunSpec("=1+1", {}, "hash", 0, "v", {}, {}, 1), "a|b_\x1b[31m")


def test_csv_is_safe_to_open_and_without_a_format_it_is_a_plain_table_or_json(nws) -> None:
    assert nws("query", SQL).out.splitlines()[0].split() == ["id", "job", "f1", "none"]
    assert len(nws("query", WIDE).out.splitlines()) == 3
    assert nws("query", SQL, "--json").json[0]["job"] == "=1+1"
    rows = list(csv.reader(io.StringIO(nws("query", SQL, "--format", "csv").out)))
    assert rows == [["id", "job", "f1", "none"], ["a|b_\x1b[31m", "'=1+1", "0.25", ""]]


def test_latex_is_escaped(nws) -> None:
    latex = nws("query", SQL, "--format", "latex").out
    assert r"a\textbar{}b\_\textbackslash{}x1b{[}31m & =1+1 & 0.25 &  \\" in latex


@pytest.fixture
def terminal(monkeypatch) -> None:
    """Stdout is a terminal of 80 columns, which knows no colours."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("NO_COLOR", "1")


def test_to_a_person_wide_tables_come_in_parts(nws, terminal) -> None:
    lines = COLOURS.sub("", nws("query", WIDE).out).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("name" in line for line in lines) == 3  # each part begins with it
    assert sum(line.count("x" * 30) for line in lines) == 5
    assert r"a|b_\x1b[31m" in COLOURS.sub("", nws("query", SQL).out)
    assert "\x1b[31m" not in nws("query", SQL, "--format", "csv").out


def test_formats_that_are_none(nws) -> None:
    assert "'xml' is not one of 'csv', 'latex'" in " ".join(nws("query", SQL, "--format", "xml").err.split())
    assert "--json and --format csv cannot be combined" in nws("query", SQL, "--format", "csv", "--json").err


def test_no_path_of_this_machine_is_exported(tmp_path) -> None:
    recipe = {"datasets": [{"name": "/home/ann/news.jsonl", "skip": 2}], "encoder": "/home/ann/tiny", "n": (7, 9)}
    policies = SimpleNamespace(signature="policy|reinforce|seed=0", checkpoints={7: None, 9: None}, length_unit="words")
    query.write_origin(run_info(job="phase2", recipe=recipe), policies, tmp_path)
    written = yaml.safe_load((tmp_path / "recipe.yaml").read_text("utf-8"))
    assert written == {"datasets": [{"name": "news.jsonl", "skip": 2}], "encoder": "tiny", "n": [7, 9]}
    assert "for n = 7, 9 words" in (tmp_path / "README.md").read_text("utf-8")
