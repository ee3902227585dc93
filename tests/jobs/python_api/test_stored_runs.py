"""What a notebook reads of a store, held against the store and the commands."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import nws
from nws.core.errors import RecipeError, StoreError
from nws.jobs.store import open_store as open_to_write

TEXTRANK = "all-MiniLM-L6-v2|textrank|chunks"


@pytest.fixture
def url(workplace: Path) -> str:
    return f"sqlite:///{workplace / 'nws.db'}"


@pytest.fixture
def store(url: str) -> Iterator[nws.RunStore]:
    with nws.open_store(url) as opened:
        yield opened


@pytest.fixture
def run(store: nws.RunStore) -> nws.Result:
    return store.run()


def test_runs_are_those_of_nws_ls(store: nws.RunStore, url: str, nws_command) -> None:
    (listed,) = json.loads(nws_command("ls", "--store", url, "--json").out)
    (found,) = store.runs().to_dict("records")
    assert {name: listed[name] for name in ("id", "state", "summaries", "seed")} == {
        name: found[name] for name in ("id", "state", "summaries", "seed")
    }
    assert found["created_at"].isoformat() == listed["created_at"]


def test_summaries_are_the_rows_of_the_table(run: nws.Result, url: str) -> None:
    sql = "select a.key, s.* from summaries s join articles a on a.id = s.article_id order by a.key, system, n"
    with open_to_write(url, read_only=True) as store, store.query(sql) as answer:
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    frame = run.summaries()
    assert len(frame) == 6 * 5 * 3
    for name in ("key", "run_id", "article_id", "system", "n", "text", "words", "bertscore_f1", "rouge2_recall"):
        assert frame[name].tolist() == [row[name] for row in rows]
    assert frame.attrs["run"] == run.run.id
    assert frame.attrs["signatures"]["bertscore"].startswith("bertscore|model:")


def test_curves_are_those_of_the_report(run: nws.Result, url: str, nws_command, tmp_path: Path) -> None:
    assert nws_command("report", run.run.id, "--store", url, "--metric", "rouge1_f1", "--out", "found").code == 0
    with (tmp_path / "found" / "curves.csv").open(newline="") as file:
        reported = list(csv.DictReader(file))
    frame = run.curves("rouge1_f1")
    assert list(frame.columns) == list(reported[0])
    for name in ("n", "mean", "low", "high", "gain_mean"):
        assert frame[name].tolist() == pytest.approx([float(row[name] or "nan") for row in reported], nan_ok=True)
    assert frame.is_control.tolist() == [row["is_control"] == "1" for row in reported]


def test_a_comparison_is_that_of_nws_compare(run: nws.Result, url: str, nws_command) -> None:
    told = nws_command("compare", run.run.id, "--system", TEXTRANK, "--system", "lead", "--store", url, "--json").json
    frame = run.compare(TEXTRANK, "lead")
    (compared,) = told["comparisons"]
    assert frame.n.tolist() == [7, 9, 11]
    for name in ("p_holm", "wins", "losses", "mean_a"):
        assert frame[name].tolist() == [at[name] for at in compared["lengths"]]
    assert frame.difference.tolist() == [at["difference"]["mean"] for at in compared["lengths"]]
    assert frame.attrs["signatures"] == {told["metric"]: told["signatures"]["a"]}
    assert list(frame)[:6] == ["metric", "n", "difference", "low", "high", "p"]


def test_a_report_is_the_page_of_nws_report(run: nws.Result, url: str, nws_command, tmp_path: Path) -> None:
    written = run.report(tmp_path / "new" / "mine.html")
    assert nws_command("report", run.run.id, "--store", url, "-o", "theirs.html").code == 0
    assert written.read_bytes() == (tmp_path / "theirs.html").read_bytes()


def test_a_stored_run_tells_what_a_sweep_tells(store: nws.RunStore, run: nws.Result) -> None:
    assert run._description() == (
        f"Run {run.run.id}, done, of 6 articles: lead, other-article, random, reference-words, textrank "
        "at n = 7, 9, 11. No article failed."
    )
    labelled = store.run(run.run.id, {"textrank": "TextRank", "lead": "First words"})
    assert labelled._description().split(": ")[1].startswith("First words, TextRank, other-article")
    assert labelled.compare("TextRank", "First words").a.unique().tolist() == [TEXTRANK]
    with pytest.raises(RecipeError, match="no system 'oracle' in run"):
        store.run(run.run.id, {"oracle": "Oracle"})
    assert run.recommended().system.tolist() == [TEXTRANK]
    assert run.failures().empty
    assert len(run.points) == len(run.summaries())
    assert run.plot().axes
    assert "<caption>sample: content kept, in % of the reference (6 articles)</caption>" in run._repr_html_()


def test_what_is_not_there_is_named(store: nws.RunStore, run: nws.Result, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=f"'mine'.*{run.run.id}"):
        store.run("mine")
    with pytest.raises(StoreError, match="absent"):
        nws.open_store(f"sqlite:///{tmp_path / 'absent.db'}")
    assert not (tmp_path / "absent.db").exists()


def test_a_run_without_summaries_has_an_empty_frame(tmp_path: Path) -> None:
    from nws.jobs.recipes.job import plan_job

    url = f"sqlite:///{tmp_path / 'x.db'}"
    with open_to_write(url) as store:
        run_id = store.create_run(plan_job("phase1", "sample", {"datasets.limit": 2}).run_spec())
    with nws.open_store(url) as opened:
        run = opened.run(run_id)
        assert run.summaries().empty
        assert repr(run) == f"Run {run_id}, pending, of 0 articles. No article failed."
        assert run._repr_html_() is None
        assert "bertscore_f1" in run.summaries().columns
        with pytest.raises(StoreError, match="no summaries"):
            run.curves()
