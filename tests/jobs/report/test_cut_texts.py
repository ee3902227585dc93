"""Texts that are longer than what BERTScore's backbone reads are told of, and their shares are of what was read."""

import json
from pathlib import Path

import pytest

from nws.core.models import KNOWN_MODELS, model_folder
from nws.core.models.loading import load_tokenizer
from nws.core.text.dataset import BUNDLED
from nws.jobs.store import open_store


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    """Six articles, of which two have a reference that is as long as several articles."""
    lines = BUNDLED["sample"].read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    texts = " ".join(row["article"] for row in rows[12:])
    for i in (0, 3):
        rows[i]["highlights"] = " ".join(texts.split()[i : i + 700])
        rows[i]["article"] += " " + rows[i]["highlights"]
    return rows[:6]


@pytest.fixture
def news(rows: list[dict[str, str]], tmp_path: Path) -> str:
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return "news.jsonl"


def flat(text: str) -> str:
    return " ".join(text.split())


def test_a_run_says_how_many_texts_were_cut_and_what_shares_are_of(nws, news: str, tmp_path: Path) -> None:
    systems = [word for name in ("lead", "random", "reference-words") for word in ("--system", name)]
    asked = ("--engine", "inline", "--dataset", news, "--bertscore-model", "all-MiniLM-L6-v2", "--n", "9,680")
    ended = nws("submit", "baselines", *asked, *systems)
    warning = "BERTScore and content kept read only the beginning of texts that are too long: "
    assert warning in flat(ended.out)
    with open_store(f"sqlite:///{tmp_path / 'nws.db'}") as opened:
        run = opened.list_runs()[0].id
        document = opened.document([run])
        texts = [row.text for article in opened.find_articles(run, "", 9) for row in opened.summaries(run, article.id)]
    ((cut, *_),) = document.warnings.values()
    assert (cut.type, cut.articles, cut.references) == ("cut_texts", 6, 2)
    assert 0.4 < cut.of_reference < 0.9
    tokenizer = load_tokenizer(model_folder(KNOWN_MODELS["all-MiniLM-L6-v2"]))
    lengths = [len(ids) for ids in tokenizer(texts)["input_ids"]]
    shares = [512 / length for length in lengths if length > 512]
    assert (cut.summaries, cut.of_summary) == (len(shares), pytest.approx(sum(shares) / len(shares)))
    of_references, of_summaries = (
        f"2 of 6 references ({100 * cut.of_reference:.0f} % was read)",
        f"{len(shares)} summaries ({100 * cut.of_summary:.0f} % was read)",
    )
    told = f"{warning}{of_references} and {of_summaries}."
    full = flat(nws("report", "--full").out)
    assert told in full
    assert "Shares are of what was read of the reference, and not of all of it." in full
    nws("report", "-o", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for shown in (full, page):
        assert "the whole reference" not in shown
        assert "the reference's content (" not in shown
    assert "of what was read of the reference" in ended.out


def test_texts_that_are_read_to_the_end_need_no_word(nws, rows: list[dict[str, str]], tmp_path: Path) -> None:
    short = [row for i, row in enumerate(rows) if i not in (0, 3)]
    (tmp_path / "short.jsonl").write_text("".join(json.dumps(row) + "\n" for row in short), encoding="utf-8")
    asked = ("--engine", "inline", "--dataset", "short.jsonl", "--bertscore-model", "all-MiniLM-L6-v2")
    ended = nws("submit", "baselines", *asked, "--system", "lead", "--system", "random", "--n", "9")
    assert "too long" not in ended.out
    full = flat(nws("report", "--full").out)
    assert "and the whole reference scores 100 %" in full
    assert "read of the reference" not in full


@pytest.mark.parametrize("metrics", ["bertscore", "kept", "rouge1,efficiency"])
def test_score_says_how_many_texts_were_cut(nws, rows: list[dict[str, str]], tmp_path: Path, metrics: str) -> None:
    predictions = [row["article"] if i == 3 else row["highlights"][:80] for i, row in enumerate(rows)]
    scored = [{"prediction": text, "reference": row["highlights"]} for text, row in zip(predictions, rows, strict=True)]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in scored), encoding="utf-8")
    err = flat(nws("score", "p.jsonl", "-m", metrics).err)
    assert "Warning: BERTScore and content kept read at most 512 tokens of a text, " in err
    assert "and so not all of 2 of 6 references (" in err
    assert "% was read) and 1 of 6 predictions (" in err
    assert "% was read). Scores are of what was read." in err
    assert "512 tokens" not in nws("score", "p.jsonl", "-m", "rouge1,kept_words").err
