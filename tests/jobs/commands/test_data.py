"""`nws data`, of a dataset that is in the cache, and of the bundled one."""

import json
from pathlib import Path

import datasets
import huggingface_hub
import pytest
from hub_cache import cache_dataset

from nws.core.models import hub_cache

COMMIT = "b" * 40
ROWS = [{"id": str(i), "article": f"Text {i} of the news.", "highlights": f"News {i}."} for i in range(5)]
NAME = f"org/news@{COMMIT}"


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(hub_cache, "is_reachable", lambda: False)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    cache_dataset(ROWS, tmp_path / "datasets" / "org___news" / "default" / "0.0.0" / COMMIT)
    return tmp_path / "hub"


def test_articles_of_the_hub_become_a_file_that_a_sweep_reads(nws, cached: Path, tmp_path: Path) -> None:
    done = nws("data", NAME, "--limit", "3")
    assert done.out == (
        f"3 articles of {NAME} (test) in news.jsonl\n"
        "Its card, with the licence: https://huggingface.co/datasets/org/news\n"
        "Next: nws submit phase1 --dataset news.jsonl\n"
    )
    first, *others = [json.loads(line) for line in (tmp_path / "news.jsonl").read_text("utf-8").splitlines()]
    assert first == {"id": "0", "article": "Text 0 of the news.", "references": ["News 0."]}
    assert len(others) == 2
    swept = nws("submit", "baselines", "--engine", "inline", "--dataset", "news.jsonl", "--n", "3", "--system", "lead")
    assert swept.code == 0, swept.err


def test_what_is_left_out_and_where_it_goes(nws, cached: Path, tmp_path: Path) -> None:
    done = nws("data", NAME, "--skip", "4", "-o", "last.jsonl", "--json").json
    made = {"dataset": NAME, "split": "test", "revision": COMMIT}
    assert done == {"file": "last.jsonl", "articles": 1, **made}
    assert "News 4." in (tmp_path / "last.jsonl").read_text("utf-8")


def test_a_dataset_that_cannot_be_had_leaves_no_file(nws, cached: Path, tmp_path: Path) -> None:
    refused = nws("data", f"org/news@{'c' * 40}")
    assert refused.code == 1
    assert "The Hub cannot be reached" in refused.err
    assert not list(tmp_path.glob("*.jsonl"))
    done = nws("data", "sample", "--limit", "2")  # which is bundled, and has no card
    assert done.out == "2 articles of sample (all) in sample.jsonl\nNext: nws submit phase1 --dataset sample.jsonl\n"


def test_a_file_is_not_replaced_by_its_own_articles(nws, tmp_path: Path) -> None:
    row = '{"text": "Snow fell on Dover.", "summary": "Snow.", "date": "Monday"}\n'
    (tmp_path / "news.jsonl").write_text(row)
    refused = nws("data", "news.jsonl", "-o", "./news.jsonl")
    assert (refused.code, "is the file that is read" in " ".join(refused.err.split())) == (2, True)
    assert (tmp_path / "news.jsonl").read_text() == row


@pytest.mark.parametrize("name", ["corpus/", "./corpus/news.jsonl", "s3://bucket/news.jsonl", "corpus/*.jsonl"])
def test_files_give_the_new_file_no_name(nws, tmp_path: Path, name: str) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "news.jsonl").write_text('{"text": "Snow fell on Dover.", "summary": "Snow."}')
    refused = nws("data", name)
    assert (refused.code, "Name the new file with --out FILE" in " ".join(refused.err.split())) == (2, True)
    assert [path.name for path in tmp_path.rglob("*.jsonl")] == ["news.jsonl"]
    if name == "corpus/":
        assert nws("data", name, "-o", "all.jsonl", "--json").json["file"] == "all.jsonl"
        assert (tmp_path / "all.jsonl").is_file()
