"""The rows of a run in files, read by those who will read them."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from datasets import Dataset
from stored_rows import objects

from nws.core.article import Article
from nws.core.errors import RecipeError
from nws.core.metrics.specs import BY_COLUMN
from nws.core.text.word_kinds import KIND_TERMS
from nws.core.types import BundleResult, Summary
from nws.jobs.report import summary_rows
from nws.jobs.report.summary_rows import STDOUT, row_columns, write_summary_rows
from nws.jobs.store import RunSpec

TEXTS = ('=HYPERLINK("x")', "-1", 'He said: "no",\nthen left.', "시장이 말했다", "")
SYSTEMS = {"m|lexrank|chunks": "system", "random": "control"}


def summary(article: Article, system: str, n: int, rng: np.random.Generator) -> Summary:
    scores = {column: float(rng.uniform(-1, 1)) for column in BY_COLUMN} | dict.fromkeys(KIND_TERMS, 0.5)
    extra = {"draws": ("하나", "둘")} if system == "random" else {}
    return Summary(article.id, system, n, TEXTS[n % len(TEXTS)], n, 0.25, scores, extra)


def filled(store, count: int = 5, words: int = 3):
    """A run of so many articles with six summaries each."""
    rng = np.random.default_rng(0)
    articles = [
        Article("news", "test", f"a{i}", " ".join([f"Plan {i}:", *["=was"] * words]), (f"Plan {i}.", "둘째"))
        for i in range(count)
    ]
    spec = RunSpec("phase1", {}, "cafe", 7, "0.1.0+abc", {"models": {"m": "sha"}}, {"rouge": "rouge|stem:no"}, 2)
    run_id = store.create_run(spec)
    epoch = store.claim_run(run_id, "host", 1)
    store.writer(run_id, epoch).start(None, "0.1.0+abc", SYSTEMS)
    found = [summary(article, system, n, rng) for article in articles for system in SYSTEMS for n in (0, 3, 11)]
    store.writer(run_id, epoch).record([(articles, BundleResult(tuple(found), ()))])
    return store.run_info(run_id)


def stored(store, with_articles: bool) -> list[dict[str, object]]:
    """The same rows by SQL."""
    texts = ", a.text AS article, a.reference_summaries AS refs" if with_articles else ""
    sql = f"""SELECT s.*, a.dataset, a.split, a.key, y.kind{texts} FROM summaries AS s
        JOIN articles AS a ON a.id = s.article_id
        JOIN systems AS y ON y.run_id = s.run_id AND y.system = s.system ORDER BY s.article_id, s.system, s.n"""
    rows = objects(store, sql)
    for row in rows:
        row["extra"] = json.loads(row["extra"])
        del row["kinds"]  # packed, which no file has
        if with_articles:
            row["references"] = json.loads(row.pop("refs"))
    return rows


@pytest.mark.parametrize("with_articles", [False, True])
def test_parquet_comes_back_as_it_is_stored(store, tmp_path, with_articles, monkeypatch):
    monkeypatch.setattr(summary_rows, "_ARTICLES_AT_ONCE", 2)
    run, path = filled(store), tmp_path / "rows.parquet"
    assert write_summary_rows(store, run, path, with_articles) == (30, (path,))
    expected = [row | {"extra": json.dumps(row["extra"], ensure_ascii=False)} for row in stored(store, with_articles)]

    frame = pd.read_parquet(path)
    assert list(frame.columns) == list(row_columns(run, with_articles))
    assert (frame["n"].dtype, frame["bertscore_f1"].dtype) == (np.int64, np.float64)
    assert Dataset.from_parquet(str(path), cache_dir=str(tmp_path / "cache")).to_list() == expected


def test_a_parquet_file_says_what_made_it(store, tmp_path):
    run = filled(store)
    write_summary_rows(store, run, tmp_path / "rows.parquet", False)
    made_by = json.loads(pyarrow.parquet.read_schema(tmp_path / "rows.parquet").metadata[b"nws"])
    assert (made_by["id"], made_by["seed"], made_by["code_version"]) == (run.id, 7, "0.1.0+abc")
    assert (made_by["signatures"], made_by["revisions"]) == (run.signatures, run.revisions)
    files = write_summary_rows(store, run, tmp_path / "rows.csv", False)[1]
    assert [file.name for file in files] == ["rows.csv", "rows.csv.run.json"]
    assert json.loads(files[1].read_text("utf-8")) == made_by


@pytest.mark.parametrize("with_articles", [False, True])
def test_json_lines_come_back_as_they_are_stored(store, tmp_path, capsys, with_articles):
    run, path = filled(store), tmp_path / "rows.jsonl"
    write_summary_rows(store, run, path, with_articles)
    expected = stored(store, with_articles)
    assert [json.loads(line) for line in path.read_text("utf-8").splitlines()] == expected
    assert pd.read_json(path, lines=True)["text"].to_list() == [row["text"] for row in expected]
    assert write_summary_rows(store, run, STDOUT, with_articles) == (30, ())
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == expected


def test_csv_changes_what_a_spreadsheet_would_compute_and_nothing_else(store, tmp_path):
    run, path = filled(store), tmp_path / "rows.csv"
    write_summary_rows(store, run, path, True)
    frame = pd.read_csv(path, keep_default_na=False)
    expected = stored(store, True)
    harmless = [f"'{row['text']}" if row["text"][:1] in {"=", "-"} else row["text"] for row in expected]
    assert frame["text"].to_list() == harmless
    assert {"'", "시"} <= {text[:1] for text in harmless}
    for name in ("bertscore_f1", "density", "n"):
        assert frame[name].to_list() == [row[name] for row in expected]
    assert [json.loads(cell) for cell in frame["references"]] == [row["references"] for row in expected]
    assert [json.loads(cell) for cell in frame["extra"]] == [row["extra"] for row in expected]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_memory_does_not_grow_with_the_run(store, tmp_path, kind, monkeypatch):
    # 300 articles of 20 KB, with each of their six rows: 36 MB of text.
    monkeypatch.setattr(summary_rows, "_ARTICLES_AT_ONCE", 10)
    run = filled(store, count=300, words=4_000)
    tracemalloc.start()
    try:
        assert write_summary_rows(store, run, tmp_path / f"rows.{kind}", True)[0] == 1_800
        assert tracemalloc.get_traced_memory()[1] < 8e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_a_name_of_bytes_that_are_no_utf_8(store, tmp_path, kind):
    path = tmp_path / f"caf\udce9.{kind}"
    count, _ = write_summary_rows(store, filled(store), path, False)
    assert count == 30
    assert path.stat().st_size > 1000


@pytest.mark.parametrize(
    ("target", "said"),
    [("rows.xlsx", "ends in .parquet, .csv, .jsonl"), ("none/rows.csv", "no folder none"), ("a.csv", "is a folder")],
)
def test_a_file_that_cannot_be_is_refused_before_anything_is_read(store, tmp_path, monkeypatch, target, said):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").mkdir()
    with pytest.raises(RecipeError, match=said):
        write_summary_rows(store, filled(store), Path(target), False)
