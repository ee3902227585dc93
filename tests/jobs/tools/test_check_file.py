"""The health card of a file of articles."""

import json
from pathlib import Path
from typing import Any

import pytest

from nws.jobs.python_api.texts import check

ARTICLES = {
    "a": "Snow fell on Hull all night, and the schools were closed on Monday morning by the council.",
    "b": "The mayor of Dover has opened a bridge of steel over the river that took nine years to build.",
    "c": "A ship with coffee from Brazil ran aground near Poole in fog, but nobody of its crew was hurt.",
}
REFERENCES = {"a": "Snow fell on Hull.", "b": "Dover has a bridge.", "c": "A ship ran aground near Poole."}


def written(file: Path, rows: list[dict[str, Any]]) -> str:
    file.write_text("\n".join(map(json.dumps, rows)))
    return str(file)


@pytest.fixture
def news(tmp_path: Path) -> str:
    rows = [{"id": key, "article": text, "summary": REFERENCES[key]} for key, text in ARTICLES.items()]
    return written(tmp_path / "news.jsonl", [*rows, rows[0]])


def test_the_card_counts_rows_words_and_fragments(news: str) -> None:
    card = check(news)
    assert (card.rows, card.repeats, card.articles, card.languages) == (4, 1, 3, {"en": 3})
    assert (card.words.median, card.words.least, card.words.greatest) == (19, 17, 19)
    reference = card.summaries["reference"]
    assert (reference.count, reference.words.median, reference.cut, reference.looked_at) == (3, 4, 0, 3)
    assert reference.compression == pytest.approx((17 / 4 + 19 / 4 + 19 / 6) / 3)
    # Snow fell on Hull | Dover has, a, bridge | A ship, ran aground near Poole
    assert reference.fragment_coverage == 1
    assert reference.fragment_density == pytest.approx((16 / 4 + (4 + 4) / 4 + (4 + 16) / 6) / 3)
    assert card.findings == ()
    assert card.as_dict()["summaries"]["reference"]["words"]["median"] == 4


def test_copies_in_the_file_and_in_the_training_file_are_counted(news: str, tmp_path: Path) -> None:
    nearly = {"id": "d", "article": ARTICLES["c"].replace("hurt", "harmed"), "summary": "Nobody was hurt."}
    file = tmp_path / "news.jsonl"
    file.write_text(f"{file.read_text()}\n{json.dumps(nearly)}")
    train = written(tmp_path / "train.jsonl", [{"article": ARTICLES["b"], "summary": "x"}, nearly])
    card = check(str(file), train=train)
    assert (card.near_copies, card.near_copies_of, card.in_train) == (2, 4, (2, 3))


def test_predictions_have_lines_and_findings_of_their_own(nws: Any, news: str, tmp_path: Path) -> None:
    rows = [
        {"id": key, "system": name, "prediction": "[INST] Snow." * i} for i, name in enumerate("xy") for key in "ab"
    ]
    told = nws("check", news, "--predictions", written(tmp_path / "p.jsonl", rows), "--json")
    card = json.loads(told.out)
    assert [(name, of["count"]) for name, of in card["summaries"].items()] == [("reference", 3), ("x", 2), ("y", 2)]
    found = {(one["place"], one["check"], one["count"], one["total"]) for one in card["findings"]}
    assert {("x", "no_words", 2, 2), ("y", "special_tokens", 2, 2), ("y", "incomplete", 2, 3)} <= found
    printed = nws("check", news, "--predictions", str(tmp_path / "p.jsonl")).out
    assert "2 of 2 predictions of y hold special tokens of a model, such as “[INST] Snow.”." in " ".join(
        printed.split()
    )
    assert max(map(len, printed.splitlines())) <= 80
