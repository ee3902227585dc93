"""`--predictions` as it is typed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

SMALL = ("--engine", "inline", "--limit", "2", "--n", "3", "--system", "lead")


@pytest.fixture
def mine(tmp_path: Path, sample_rows: list[dict[str, str]]) -> str:
    rows = [{"id": row["id"], "prediction": f"What {row['id']} is about."} for row in sample_rows[:2]]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return "mine.jsonl"


def test_predictions_are_shown_submitted_and_compared(nws: Callable[..., object], mine: str) -> None:
    shown = nws("submit", "baselines", *SMALL, "--predictions", mine, "--dry-run")
    assert "system        mine" in shown.out
    assert "predictions   mine: mine.jsonl@sha256:" in shown.out
    submitted = nws("submit", "baselines", *SMALL, "--predictions", mine, "--json").json
    assert (submitted["summaries"], submitted["failures"]) == (2 + 4, 0)

    both = ("--predictions", mine, "--predictions", f"again={mine}")
    more = nws("submit", "baselines", *SMALL, *both, "--json")
    assert (more.code, more.json["summaries"], more.json["articles"]) == (0, 2 + 4 + 4, 2)
    run = more.json["run_id"]
    status = nws("status", run)
    assert "state        done" in status.out
    assert status.out.count("mine.jsonl@sha256:") == 2
    compared = nws("compare", run, "--system", "again", "--system", "mine", "--json")
    assert compared.code == 0
    assert nws("resume", run, "--engine", "inline", "--json").json["summaries"] == 10


def test_each_system_of_a_file_becomes_a_system_of_the_run(
    nws: Callable[..., object], tmp_path: Path, sample_rows: list[dict[str, str]]
) -> None:
    """Also of a file with systems that wrote for another dataset alone: these take no part, nor after `nws resume`."""
    keys = [row["id"] for row in sample_rows[:2]]
    rows = [{"id": key, "prediction": f"{name} wrote it.", "system": name} for name in ("A", "B") for key in keys]
    stranger = {"id": "elsewhere", "prediction": "Never.", "system": "C"}
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, [*rows, stranger])))
    submitted = nws("submit", "baselines", *SMALL, "--predictions", "all.jsonl", "--json")
    assert (submitted.json["summaries"], submitted.json["failures"]) == (2 + 4 + 4, 0)
    assert "all.jsonl take part: A, B. The others" in " ".join(submitted.err.split())
    run = submitted.json["run_id"]
    assert nws("resume", run, "--engine", "inline", "--json").json["summaries"] == 10
    assert nws("compare", run, "--system", "A", "--system", "B", "--json").json["comparisons"]
    taken = nws("submit", "baselines", *SMALL, "--predictions", "all.jsonl", "--predictions", "A=all.jsonl")
    assert taken.code == 2
    assert "cannot be called 'A': another system has that name." in " ".join(taken.err.split())


def test_what_is_wrong_is_said_before_anything_runs(nws: Callable[..., object], mine: str, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"id": "a"}')
    (tmp_path / "strange.jsonl").write_text('{"id": "a", "prediction": "b"}')
    for file, code, message in (
        ("bad.jsonl", 1, "bad.jsonl, line 1: Field 'prediction' is missing; the fields are: id."),
        ("strange.jsonl", 2, "No prediction of strange belongs to an article."),
        (f"lead={mine}", 2, "cannot be called 'lead': another system has that name."),
    ):
        refused = nws("submit", "baselines", *SMALL, "--predictions", file)
        assert (refused.code, refused.out) == (code, "")
        assert message in " ".join(refused.err.split())
    assert not (tmp_path / "nws.db").exists()


def test_predictions_that_are_samples_are_told_of_and_the_first_can_be_taken(
    nws: Callable[..., object], tmp_path: Path, sample_rows: list[dict[str, str]]
) -> None:
    rows = [{"id": row["id"], "prediction": [row["highlights"], row["article"][:200]]} for row in sample_rows[:2]]
    (tmp_path / "drawn.jsonl").write_text("\n".join(map(json.dumps, rows)))
    typed = ("submit", "baselines", *SMALL, "--predictions", "drawn.jsonl")
    joined, first = nws(*typed, "--json"), nws(*typed, "--list-predictions", "first", "--json")
    assert ["2 of 2 predictions of drawn are lists" in " ".join(one.err.split()) for one in (joined, first)] == [
        True,
        False,
    ]
    query = "select text from summaries where system = 'drawn|list_predictions=first' and n = 0 order by text"
    texts = [row["text"] for row in nws("query", query, "--json").json]
    assert texts == sorted(" ".join(row["highlights"].split()) for row in sample_rows[:2])
    assert nws("report", first.json["run_id"]).out.count("drawn")
