import csv
from pathlib import Path

import pytest

from jobs.report.csv_file import write_csv


def cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("begin", [*"=+-@\t\r\n", "＝", "＋", "－", "＠"])
def test_what_a_spreadsheet_would_compute_is_text(tmp_path: Path, begin: str) -> None:
    formula = begin + 'HYPERLINK("https://x.example";"F1")'
    write_csv(tmp_path / "a.csv", ("dataset", "n"), [(formula, 7)])
    assert cells(tmp_path / "a.csv") == [["dataset", "n"], [f"'{formula}", "7"]]


def test_numbers_stay_numbers_and_texts_that_are_harmless_stay_as_they_are(tmp_path: Path) -> None:
    row = (-0.25, -3, None, 1e-7, "all-MiniLM-L6-v2|lexrank|chunks", "'=1", "", "a=b, c")
    write_csv(tmp_path / "a.csv", "abcdefgh", [row])
    assert cells(tmp_path / "a.csv")[1] == ["-0.25", "-3", "", "1e-07", *row[4:]]
