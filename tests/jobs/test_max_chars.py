"""A run whose lengths are characters: what it stores, what it says, and with what it is never put together."""

import json
from pathlib import Path

import pytest

import nws as nws_module
from nws.core.text.length import count_characters, count_words
from nws.jobs.store import open_store

TEXT = "Snow closed the schools of the town on Monday. The mayor said that they may open again on Thursday."
SUBMIT = ("submit", "phase1", "--engine", "inline", "--limit", "3", "--json")


def said(text: str) -> str:
    return " ".join(text.split())


def test_a_run_of_characters_from_its_submission_to_its_page(nws, tmp_path: Path) -> None:
    submitted = nws(*SUBMIT[:-1], "--max-chars", "30,50,65")
    assert submitted.code == 0, submitted.err
    run = nws("ls", "--json").json[0]["id"]
    assert "characters 30 50 65 " in said(submitted.out)
    assert "65 characters keep" in said(submitted.out)
    assert " words" not in said(submitted.out).replace("first words", "")

    rows = nws("query", "select n, words, text, system from summaries", "--json").json
    assert {row["n"] for row in rows} == {30, 50, 65}
    assert all(count_characters(row["text"]) <= row["n"] and row["words"] == len(row["text"].split()) for row in rows)
    assert max(count_characters(row["text"]) for row in rows if row["n"] == 65) > 60

    assert "n 30, 50, 65 characters" in said(nws("status", run).out)
    assert nws("status", run, "--json").json["unit"] == "characters"
    report = nws("report", run, "--full")
    assert "n counts characters: a summary has at most n characters, and no word is cut." in said(report.out)
    assert "mean words, of summaries of at most n characters" in said(report.out)
    written = json.loads((tmp_path / "reports" / run / "report.json").read_text("utf-8"))
    assert written["unit"] == "characters"
    assert {kept["length_unit"] for kept in written["kept"]} == {"characters"}
    assert "summary length n (characters)" in (tmp_path / "reports" / run / "kept.svg").read_text("utf-8")

    assert nws("report", run, "-o", "page.html").code == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert all(
        told in page for told in ("<h1>How many characters keep how much", "n (characters)", "65 characters keep")
    )
    assert "summary length n (words)" not in page

    shown = nws("show", run)
    assert "characters; scores are F1" in said(shown.out)
    compared = nws("compare", run, "--system", "lexrank", "--system", "lead")
    assert "Summaries have at most n characters: part of a difference may come from length alone" in said(compared.out)


@pytest.mark.slow
def test_runs_of_words_and_of_characters_share_nothing(nws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NWS_NO_REUSE")
    words = nws(*SUBMIT, "--n", "20,30").json["run_id"]
    characters = nws(*SUBMIT, "--max-chars", "20,30")
    assert characters.json["reused"] == 0
    again = nws(*SUBMIT, "--max-chars", "20,30,40").json
    assert again["reused"] == 2 * 3 * 7  # of the run of characters, none of that of words
    run = characters.json["run_id"]
    for command in (("compare", words, run), ("report", words, run, "-o", "page.html")):
        refused = nws(*command)
        assert refused.code != 0
        told = said(refused.err).replace("'", "")
        assert f"Run {words} has summaries of n words, and run {run} of n characters" in told
    both = nws(*SUBMIT, "--n", "5", "--max-chars", "30")
    assert "give either n (words) or max_chars (characters), not both" in said(both.err)
    assert "max_chars: lengths are whole numbers" in said(nws(*SUBMIT, "--max-chars", "fifty").err)
    resumed = nws(*SUBMIT, "--max-chars", "30,20", "--resume")
    assert resumed.json["run_id"] == run


def test_a_sweep_from_python(sample_rows: list[dict[str, str]], nws_command) -> None:
    found = nws_module.sweep(sample_rows[:3], max_chars=[30, 50], systems=["position", "lead3"])
    assert repr(found).endswith("at n = 30, 50 characters. No article failed.")
    frame = found.summaries()
    assert frame.attrs["unit"] == "characters"
    cut = frame[frame.n > 0]
    assert (cut.text.map(count_characters) <= cut.n).all()
    assert "characters keep" in found.answer().headlines[0]


def test_the_store_measures_articles_in_characters(nws, tmp_path: Path) -> None:
    short, long = "Snow fell on Dover.", "Rain fell on Calais, and the mayor closed the schools of the town for a week."
    rows = [{"id": text[:4], "article": text, "summary": "Weather closed schools."} for text in (short, long)]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    submitted = nws(*SUBMIT, "--dataset", "news.jsonl", "--max-chars", "10,30")
    assert submitted.code == 0, submitted.err
    with open_store(f"sqlite:///{tmp_path / 'nws.db'}") as store:
        points = store.points(submitted.json["run_id"])
    assert sorted(points.article_characters.tolist()) == sorted(map(len, (short, long)))
    told = said(nws("report", submitted.json["run_id"]).out)
    assert "Articles that fit whole into n characters are left out at that n" in told
    assert "1 at n = 30" in told


@pytest.mark.slow
def test_policies_are_trained_on_characters(nws, tmp_path: Path) -> None:
    few = ("--limit", "2", "--test-limit", "2", "--passes", "1", "--seed", "0", "--decoding", "greedy")
    trained = nws("submit", "phase2", "--engine", "inline", "--max-chars", "30,65", "--system", "lead", *few, "--json")
    assert trained.code == 0, trained.err
    run = trained.json["run_id"]
    rows = nws("query", "select n, text from summaries where system like 'policy|%'", "--json").json
    assert {row["n"] for row in rows} == {30, 65}
    assert all(0 < count_characters(row["text"]) <= row["n"] for row in rows)
    assert nws("export", run, "--policy", "my-policy").code == 0
    card = (tmp_path / "my-policy" / "README.md").read_text("utf-8")
    assert "for n = 30, 65 characters" in card
    assert count_characters(nws_module.summarize(TEXT, max_chars=40, policy="my-policy")) <= 40
    assert count_words(nws_module.summarize(TEXT, n=7, policy="my-policy")) == 7
    assert nws("report", run, "-o", "page.html").code == 0
    assert "Mean reward at n = 30" in (tmp_path / "page.html").read_text("utf-8")
