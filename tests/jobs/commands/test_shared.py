"""What a command that runs a sweep says before it begins, and prints at its end."""

import json
import sqlite3
from pathlib import Path

import pytest


@pytest.mark.slow
def test_a_sweep_ends_with_how_many_words_keep_how_much(tmp_path, nws):
    store = f"sqlite:///{tmp_path / 'answer.db'}"
    submit = ("submit", "baselines", "--engine", "inline", "--limit", "6", "--system", "lead", "--system", "random")
    ended = nws(*submit, "--system", "lexrank", "--n", "3,9", "--store", store)
    assert ended.code == 0
    answer, found, outcome = ended.out.partition("\nAll tables ")
    heading, columns, *lines = answer.strip().splitlines()
    assert heading == "sample: content kept, in % of the reference (6 articles)"
    assert columns.split() == ["words", "3", "9"]
    assert [line.split()[0] for line in lines[:3]] == ["lexrank", "lead", "random"]
    assert lines[3:5] == ["control: a floor for systems", ""]
    assert lines[5].startswith("9 words keep 11 % of the reference's content (lexrank). No system keeps half.")
    assert "With 6 articles, no interval is printed" in lines[-2]
    assert found
    assert "is done: 6 articles, " in outcome

    run = outcome.partition("\nRun ")[2].split()[0]
    told = nws("report", run, "--store", store, "--out", "answer").out
    assert "".join(told.split()).startswith("".join(answer.split()))  # first of all, in as many lines as it takes
    report = json.loads((tmp_path / "answer" / "report.json").read_text("utf-8"))
    shares = {
        (of["system"], at["n"]): at["share"]["mean"]
        for of in report["kept"]
        if of["ceiling"] == "reference"
        for at in of["lengths"]
    }
    with sqlite3.connect(tmp_path / "answer.db") as connection:
        stored = connection.execute("SELECT system, n, share FROM content_kept WHERE ceiling = 'reference' AND n > 0")
        assert {(system, n): share for system, n, share in stored} == shares
        means = connection.execute("SELECT system, n, AVG(kept) FROM summaries WHERE n > 0 GROUP BY system, n")
        assert {(system, n): mean for system, n, mean in means} == pytest.approx(shares)


ROW = {"id": "a", "article": "The town opened a bridge over the river.", "summary": "A bridge."}
SUBMIT = ("submit", "baselines", "--dry-run", "--n", "3")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([ROW, ROW, ROW, ROW | {"id": "b"}], ["Warning: 2 rows of news.jsonl repeat another row and are left out."]),
        ([ROW, ROW | {"id": "b"}], []),
    ],
)
def test_repeated_rows_are_told(nws, tmp_path: Path, rows: list[dict[str, str]], said: list[str]) -> None:
    (tmp_path / "news.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told = nws(*SUBMIT, "--dataset", "news.jsonl")
    assert told.code == 0
    assert [line for line in told.err.splitlines() if "left out" in line] == said


@pytest.mark.parametrize(
    ("systems", "missing"),
    [((), ()), (("lead", "random"), ()), (("lead", "textrank"), ("random",)), (("textrank",), ("random", "lead"))],
)
def test_missing_controls_are_told(nws, systems: tuple[str, ...], missing: tuple[str, ...]) -> None:
    told = nws(*SUBMIT, *(part for system in systems for part in ("--system", system)))
    assert told.code == 0
    warnings = [line for line in told.err.splitlines() if "Without the system" in line]
    assert len(warnings) == len(missing)
    for warning, system in zip(warnings, missing, strict=True):
        assert f"Without the system {system}" in warning
        assert warning.endswith(f"Add --system {system}.")
