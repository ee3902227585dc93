"""What `nws correlate` reads, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.errors import CorpusError, RecipeError
from jobs.tools.correlate import read_scores


def rows_of(systems: str, documents: range) -> list[dict[str, object]]:
    return [
        {"system": s, "document": d, "m": i + d / 10, "human": i * d} for i, s in enumerate(systems) for d in documents
    ]


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_reads_jsonl_in_any_order(tmp_path: Path) -> None:
    rows = rows_of("abc", range(4))
    found = read_scores(written(tmp_path / "s.jsonl", rows), ["m", "human"])
    assert (found.systems, found.documents, found.lacking) == (("a", "b", "c"), ("0", "1", "2", "3"), {})
    assert found.scores["m"].tolist() == [[i + d / 10 for d in range(4)] for i in range(3)]
    mixed = read_scores(written(tmp_path / "m.jsonl", rows[::-1]), ["m"])
    assert (mixed.systems, mixed.documents) == (("c", "b", "a"), ("3", "2", "1", "0"))
    assert np.array_equal(mixed.scores["m"], found.scores["m"][::-1, ::-1])


def test_reads_csv(tmp_path: Path) -> None:
    lines = [f"{s},{d}, {i + int(d)}e-1 ,x" for i, s in enumerate("abc") for d in "123"]
    (tmp_path / "s.csv").write_text("\n".join(["system,document,m,other", *lines]))
    found = read_scores(tmp_path / "s.csv", ["m"])
    assert found.scores["m"] == pytest.approx(np.array([[0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [0.3, 0.4, 0.5]]))


def test_documents_that_a_system_lacks_are_left_out_and_named(tmp_path: Path) -> None:
    rows = [row for row in rows_of("abcd", range(5)) if (row["system"], row["document"]) not in {("a", 1), ("c", 1)}]
    found = read_scores(written(tmp_path / "s.jsonl", rows), ["m"])
    assert found.documents == ("0", "2", "3", "4")
    assert found.lacking == {"1": ("a", "c")}
    assert found.scores["m"].shape == (4, 4)


GOOD = json.dumps({"system": "a", "document": 1, "m": 1.0})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"system": "a", "document": 2}', r"line 2: Field 'm' is missing; the fields are: system, document"),
        ('{"document": 2, "m": 1}', r"line 2: Field 'system' is missing"),
        ('{"system": "a", "document": null, "m": 1}', r"line 2: Field 'document' holds nothing, not text or a whole"),
        ('{"system": true, "document": 2, "m": 1}', r"line 2: Field 'system' holds True"),
        ('{"system": "a", "document": 2, "m": "good"}', r"line 2: Field 'm' holds 'good', not a finite number"),
        ('{"system": "a", "document": 2, "m": NaN}', r"line 2: Field 'm' holds nan, not a finite number"),
        ('{"system": "a", "document": 2, "m": "inf"}', r"line 2: Field 'm' holds 'inf', not a finite number"),
        ('{"system": "a", "document": 2, "m": true}', r"line 2: Field 'm' holds True, not a finite number"),
        ('{"system": "a", "document": 2, "m": null}', r"line 2: Field 'm' holds nothing, not a finite number"),
        ('{"system": "a", "document": 2, "m": 1' + "0" * 400 + "}", r"line 2: Field 'm' holds 1000.*not a finite"),
        ('{"system": "a", "document": "1", "m": 2}', r"line 2: System 'a' has document '1' in line 1 already"),
    ],
)
def test_a_malformed_row_is_named(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "s.jsonl").write_text(f"{GOOD}\n{row}\n")
    with pytest.raises(CorpusError, match=message):
        read_scores(tmp_path / "s.jsonl", ["m"])


def test_too_few_of_anything_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    with pytest.raises(CorpusError, match="no row"):
        read_scores(written(file, []), ["m"])
    with pytest.raises(CorpusError, match=r"has 2 systems \(a, b\); a correlation needs 3"):
        read_scores(written(file, rows_of("ab", range(9))), ["m"])
    with pytest.raises(CorpusError, match=r"has 2 documents with a score of every system; a correlation needs 3\.$"):
        read_scores(written(file, rows_of("abc", range(2))), ["m"])
    rows = rows_of("abc", range(9)) + rows_of("d", range(2))
    with pytest.raises(CorpusError, match=r"The other 7 lack rows of d: add these, or leave systems out"):
        read_scores(written(file, rows), ["m"])


def test_columns_that_are_no_scores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="'system' names summaries"):
        read_scores(tmp_path / "s.jsonl", ["m", "system"])
    with pytest.raises(RecipeError, match="'m' is named twice"):
        read_scores(tmp_path / "s.jsonl", ["m", "m"])
