"""What is said before a run begins, of what will be left out or cannot be told."""

import json
from pathlib import Path

import pytest

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
