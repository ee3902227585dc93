"""`nws write`: summaries of the articles of a file, without references."""

import json
from pathlib import Path

import pytest

from core.text.length import count_characters, count_words

TEXTS = [
    "Trams will run all night from Monday, the mayor said. Nurses and dockers had asked for them for years.",
    "Žižkov closed the schools of the town. The buses stood still until noon, and the market was called off.",
    "A new bridge was opened in the harbour. It is the first that ships can pass at low water.",
]


@pytest.fixture
def news(tmp_path: Path) -> str:
    rows = [{"id": f"a{i}", "text": text} for i, text in enumerate(TEXTS)]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return "news.jsonl"


def rows(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("system", ["lead", "textrank"])
def test_every_article_gets_a_summary_of_every_length(nws, news: str, system: str) -> None:
    done = nws("write", news, "--system", system, "--n", "3,7")
    assert done.code == 0, done.err
    found = rows(done.out)
    assert [(row["id"], row["n"]) for row in found] == [(f"a{i}", n) for i in range(3) for n in (3, 7)]
    assert all(row["words"] == count_words(row["text"]) <= row["n"] for row in found)
    assert {(row["system"], row["unit"]) for row in found} == {(found[0]["system"], "words")}
    found = rows(nws("write", news, "--system", system, "--max-chars", "30").out)
    assert all(row["characters"] == count_characters(row["text"]) <= 30 for row in found)
    assert {row["unit"] for row in found} == {"characters"}


def test_they_are_the_texts_of_a_run(nws, news: str, tmp_path: Path) -> None:
    scored = [{**json.loads(line), "summary": "News."} for line in Path(news).read_text("utf-8").splitlines()]
    (tmp_path / "scored.jsonl").write_text("".join(json.dumps(row) + "\n" for row in scored), encoding="utf-8")
    submit = ("submit", "baselines", "--engine", "inline", "--dataset", "scored.jsonl", "--n", "5")
    assert nws(*submit, "--system", "lexrank", "--system", "lead3-search").code == 0
    stored = rows(nws("export", "--rows", "-").out)
    for system in ("lexrank", "lead3-search"):
        written = {row["id"]: row["text"] for row in rows(nws("write", news, "--system", system, "--n", "5").out)}
        assert written == {row["key"]: row["text"] for row in stored if row["system"] == system and row["n"] == 5}


def test_what_is_there_is_not_written_again(nws, news: str, tmp_path: Path) -> None:
    asked = ("write", news, "--system", "lead", "-o", "out.jsonl")
    assert "3 summaries added to out.jsonl.\n" in nws(*asked, "--n", "3").err
    whole = (tmp_path / "out.jsonl").read_bytes()
    torn = whole[: whole.index("Ž".encode()) + 1]  # killed in the second line, inside of a letter
    (tmp_path / "out.jsonl").write_bytes(torn)
    again = nws(*asked, "--n", "3", "--json").json
    assert (again["summaries"], again["there"], again["failures"]) == (2, 1, {})
    assert (tmp_path / "out.jsonl").read_bytes() == torn + b"\n" + whole[whole.index(b"\n") + 1 :]
    assert nws(*asked, "--n", "3", "--json").json["summaries"] == 0
    assert nws(*asked, "--n", "3,5", "--json").json["summaries"] == 3
    assert nws(*asked, "--max-chars", "5", "--json").json["summaries"] == 3
    nws(*asked[:-4], "--system", "random", *asked[-2:], "--n", "3")
    assert nws(*asked, "--n", "3,5", "--json").json["others"] == 6


def test_another_text_model_or_code_is_written_anew(nws, news: str, tmp_path: Path, monkeypatch) -> None:
    asked = ("write", news, "--system", "lexrank", "--n", "3", "-o", "out.jsonl", "--json")
    assert nws(*asked).json["summaries"] == 3
    changed = Path(news).read_text("utf-8").replace("closed the schools", "opened the schools")
    (tmp_path / news).write_text(changed, encoding="utf-8")
    assert (nws(*asked).json["summaries"], nws(*asked).json["summaries"]) == (1, 0)
    for what in ("code_version", "library_versions"):
        monkeypatch.setattr(f"jobs.drive.write_file.{what}", lambda: "another")
        assert nws(*asked).json["summaries"] == 3


def test_articles_that_cannot_be_summarised_are_named(nws, tmp_path: Path) -> None:
    (tmp_path / "twice.jsonl").write_text('{"id": "a", "text": "Snow fell."}\n{"id": "a", "text": "Rain fell."}\n')
    assert "has 2 articles and 1 keys" in nws("write", "twice.jsonl", "--system", "lead", "--n", "1").err
    (tmp_path / "news.jsonl").write_text('{"id": "a", "text": "..."}\n{"id": "b", "text": "Snow fell on Dover."}\n')
    done = nws("write", "news.jsonl", "--system", "lead", "--n", "3")
    assert done.code == 1
    assert [row["id"] for row in rows(done.out)] == ["b"]
    assert "No summary of 'a'" in done.err
    assert "1 article of 2 could not be summarised" in done.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--system", "lead"), 2, "--n (words) or --max-chars (characters)"),
        (("--n", "3"), 2, "--system lexrank"),
        (("--system", "lead", "--n", "3", "--json"), 2, "-o FILE"),
        (("--system", "oracle", "--n", "3"), 2, "oracle reads references"),
        (("--system", "lead", "--n", "auto"), 2, "no references that n = auto could go up to"),
        (("--system", "lead", "--n", "0"), 2, "should be greater than or equal to 1"),
        (("--system", "lead", "--n", "3", "--text-field", "body"), 1, "no field 'body'"),
        (("--system", "lead", "--n", "3", "-o", "gone/out.jsonl"), 1, "Name another file"),
    ],
)
def test_what_makes_no_sense_is_refused(nws, news: str, words: tuple[str, ...], code: int, message: str) -> None:
    refused = nws("write", news, *words)
    assert (refused.code, message in refused.err, refused.out) == (code, True, ""), refused.err
