"""Which field holds the reference, fields that hold neither, and what stands for a missing value."""

import json
from pathlib import Path
from typing import Any

import pytest

from nws.core.errors import CorpusError
from nws.core.text.dataset import Dataset, OpenDataset, open_dataset
from nws.core.text.rows import joined_text_of, to_references

ARTICLE = "Snow fell all night in Hull, and no bus runs."


def opened(path: Path, *rows: dict[str, Any], **settings: Any) -> OpenDataset:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return open_dataset(Dataset(str(path), **settings))


@pytest.mark.parametrize("name", ["reference", "references"])
def test_a_summary_beside_a_reference_is_that_of_a_system(tmp_path: Path, name: str) -> None:
    (article,) = opened(tmp_path / "d.jsonl", {"article": ARTICLE, "summary": "Of a system.", name: "Snow in Hull."})
    assert article.references == ("Snow in Hull.",)


def test_articles_shorter_than_their_references_are_refused_unless_both_fields_are_named(tmp_path: Path) -> None:
    swapped = [{"document": f"doc{i}", "source": f"{i} {ARTICLE}", "reference": "Snow in Hull."} for i in range(3)]
    with pytest.raises(CorpusError, match=r"3 of 3 articles are shorter.*field 'document'.*'reference'") as refused:
        opened(tmp_path / "d.jsonl", *swapped)
    assert refused.value.settings == ("text_field", "reference_field")
    named = {"text_field": "document", "reference_field": "reference"}
    assert opened(tmp_path / "d.jsonl", *swapped, **named).size == 3
    as_usual = [{"document": row["source"], "reference": row["reference"]} for row in swapped]
    assert opened(tmp_path / "d.jsonl", swapped[0], *as_usual[1:]).size == 3
    assert opened(tmp_path / "d.jsonl", swapped[0] | {"document": None}, *swapped[1:], as_usual[0], as_usual[1]).size


@pytest.mark.parametrize("value", ["nan", "None", "<NA>", "NaT", " NaN ", "NA", "N/A", None, float("nan")])
def test_what_stands_for_a_missing_value_is_missing(value: object) -> None:
    row = {"text": value, "texts": ["One.", value]}
    assert (joined_text_of(row, "text"), joined_text_of(row, "texts")) == ("", "One.")
    assert to_references(value, "reference") == ()
    assert joined_text_of({"text": "Nan Goldin"}, "text") == "Nan Goldin"


@pytest.mark.parametrize("value", ["...", " — ", "\n", "___", ["...", ""]])
def test_a_reference_without_a_word_is_missing(value: object) -> None:
    assert to_references(value, "reference") == ()
    assert to_references(["...", "½"], "reference") == ("½",)


@pytest.mark.parametrize("text", ["Schnee läg.", 'It\'s "snow".', "A\nB."])
def test_bytes_that_python_has_written_are_their_text(text: str) -> None:
    assert joined_text_of({"text": str(text.encode())}, "text") == text
    for other in ("b'quoted' it is", "b'one', b'two'", "b'\\xff'", "b'"):  # the second is no UTF-8
        assert joined_text_of({"text": other}, "text") == other
