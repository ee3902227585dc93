"""Articles that are written to a file, and read back."""

import dataclasses
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import CorpusError
from core.text.dataset import Dataset, OpenDataset, article_rows, open_dataset, open_rows
from core.whole_files import write_json_lines

WORDS = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: bool(text.split()) and "\0" not in text)
ROWS = st.lists(st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=5)


def streamed(rows: list[dict[str, object]]) -> OpenDataset:
    return open_rows(rows, "org/news", "org/news@abc", "abc", Dataset("org/news", streaming=True))


@given(ROWS)
def test_a_file_has_the_articles_of_its_corpus(rows: list[tuple[str, list[str]]]) -> None:
    corpus = streamed([{"id": str(i), "document": text, "summaries": told} for i, (text, told) in enumerate(rows)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "news.jsonl"
        assert write_json_lines("-o", path, article_rows(corpus)) == len(rows)
        read = list(open_dataset(Dataset(str(path))))
    of_the_hub = {"dataset": "org/news", "split": "test"}
    assert [dataclasses.replace(article, **of_the_hub) for article in read] == list(corpus)


def test_a_row_that_is_no_article_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    path.write_text("before")
    rows: list[dict[str, object]] = [{"document": "One.", "summary": "1."}, {"document": "Two.", "summary": 2}]
    with pytest.raises(CorpusError, match="row 2"):
        write_json_lines("-o", path, article_rows(streamed(rows)))
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["news.jsonl"]
