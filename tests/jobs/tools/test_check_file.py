"""The health card of a file of articles."""

import json
from pathlib import Path
from typing import Any

import pytest

from nws.core.errors import RecipeError
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
    reference = card.references
    assert (reference.count, reference.words.median, reference.cut, reference.looked_at) == (3, 4, 0, 3)
    assert reference.compression == pytest.approx((17 / 4 + 19 / 4 + 19 / 6) / 3)
    # Snow fell on Hull | Dover has, a, bridge | A ship, ran aground near Poole
    assert reference.fragment_coverage == 1
    assert reference.fragment_density == pytest.approx((16 / 4 + (4 + 4) / 4 + (4 + 16) / 6) / 3)
    assert card.findings == ()
    assert card.as_dict()["references"]["words"]["median"] == 4


def test_copies_in_the_file_and_in_the_training_file_are_counted(news: str, tmp_path: Path) -> None:
    nearly = {"id": "d", "article": ARTICLES["c"].replace("hurt", "harmed"), "summary": "Nobody was hurt."}
    file = tmp_path / "news.jsonl"
    file.write_text(f"{file.read_text()}\n{json.dumps(nearly)}")
    train = written(tmp_path / "train.jsonl", [{"article": ARTICLES["b"], "summary": "x"}, nearly])
    card = check(str(file), train=train)
    assert (card.near_copies, card.near_copies_of, card.in_train, card.near_train) == (2, 4, 2, 3)
    assert "a model may have seen their summaries" in card.told[0]


def test_predictions_have_lines_and_findings_of_their_own(nws: Any, news: str, tmp_path: Path) -> None:
    rows = [
        {"id": key, "system": name, "prediction": "[INST] Snow." * i} for i, name in enumerate("xy") for key in "ab"
    ]
    told = nws("check", news, "--predictions", written(tmp_path / "p.jsonl", rows), "--json")
    card = json.loads(told.out)
    assert (card["references"]["count"], [(name, of["count"]) for name, of in card["systems"].items()]) == (
        3,
        [("x", 2), ("y", 2)],
    )
    found = {(one["place"], one["check"], one["count"], one["total"]) for one in card["findings"]}
    assert {("x", "no_words", 2, 2), ("y", "special_tokens", 2, 2)} <= found
    assert [line.partition(" of ")[0] for line in card["told"]] == [f"{name} has no prediction for 1" for name in "xy"]
    printed = nws("check", news, "--predictions", str(tmp_path / "p.jsonl")).out
    assert "2 of 2 predictions of y contain special tokens of a model, such as “[INST] Snow.”." in " ".join(
        printed.split()
    )
    assert max(map(len, printed.splitlines())) <= 80


def test_predictions_are_checked_as_runs_check_them(news: str, tmp_path: Path) -> None:
    rows = [{"id": key, "prediction": f"<think>Of it.</think>{ARTICLES[key]}"} for key in "abc"]
    card = check(news, predictions=written(tmp_path / "reference.jsonl", [*rows, {"id": "z", "prediction": "x"}]))
    assert (card.references.count, card.systems["reference"].count) == (3, 3)
    assert {one.check for one in card.findings} == {"thoughts", "repeats_article"}
    assert "belong to no article and are left out. Their ids: 'z'" in card.told[0]
    rows[0]["prediction"] = "<think>Of it."
    card = check(news, predictions=written(tmp_path / "cut.jsonl", rows))
    assert card.systems["cut"].count == 2
    assert [(one.check, one.count, one.total) for one in card.findings if one.count == 1] == [("cut_thoughts", 1, 3)]
    with pytest.raises(RecipeError, match=r"No prediction of p belongs to an article\. Its ids look like '0a'"):
        check(news, predictions=written(tmp_path / "p.jsonl", [{"id": "0a", "prediction": "x"}]))


def test_articles_need_neither_references_nor_usual_names(nws: Any, tmp_path: Path) -> None:
    file = written(tmp_path / "news.jsonl", [{"key": key, "body": f"{text}<br>"} for key, text in ARTICLES.items()])
    train = written(tmp_path / "train.jsonl", [{"body": text} for text in ARTICLES.values()])
    told = nws("check", file, "--train", train, "--text-field", "body", "--clean-texts", "html", "--json")
    card = json.loads(told.out)
    assert (card["references"]["count"], card["in_train"], card["near_train"]) == (0, 3, 3)
    assert card["told"][0].startswith("No article has a reference.")
    assert "6/6" in told.err


def test_an_empty_article_has_no_compression(tmp_path: Path) -> None:
    rows = [{"id": "a", "article": "Snow fell on Hull.", "summary": "Snow fell."}, {"id": "b", "article": ""}]
    card = check(written(tmp_path / "news.jsonl", [rows[0], rows[1] | {"summary": "Rain fell."}]))
    assert (card.references.compression, card.references.fragment_coverage) == (2, 1)
    assert [(one.check, one.count, one.total) for one in card.findings] == [("no_words", 1, 2)]
    assert card.as_dict()["findings"][0]["sentence"].startswith("1 of 2 articles of news.jsonl (all) have no word")
