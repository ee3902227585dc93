"""Files of the shared folder that programs often read wrongly: what of each is read, or why it is refused."""

from pathlib import Path

import pytest

from nws.core.errors import CorpusError
from nws.core.text.dataset import Dataset, open_dataset
from nws.jobs.tools.keysentences import read_documents
from nws.jobs.tools.score import read_scored

CASES = Path(__file__).parents[4] / "shared" / "cases2"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the shared files are not here")

# Articles, rows that repeat one, and the references of the first article.
READ = {
    "base.jsonl": (14, 0, 1),
    "same-article-again/no-id.jsonl": (14, 28, 1),
    "same-article-again/other-reference.jsonl": (42, 0, 1),
    "summary-of-a-system/frank-like.jsonl": (14, 0, 1),
    "missing-as-a-word/dots-articles.jsonl": (14, 0, 0),
    "missing-as-a-word/na-articles.jsonl": (14, 0, 0),
    "json-objects/jq.json": (14, 0, 1),
    "parquet-bytes/all.parquet": (14, 0, 1),
    "folders/hive/**/*.parquet": (14, 0, 1),
}
REFUSED = {
    "summary-of-a-system/document-is-an-id.jsonl": "shorter than their references.*'document'",
    "tsv-quotes/articles.tsv": "a quote opens a cell",
    "tsv-quotes/refused-articles.tsv": "In a cell, write a quote",
    "carriage-returns/pandas.csv": "carriage return",
    "folders/hive": r"\*\*/\*\.parquet",
}


@pytest.mark.parametrize("name", READ)
def test_articles_are_read(name: str) -> None:
    corpus = open_dataset(Dataset(str(CASES / name)))
    first = next(iter(corpus))
    assert (corpus.size, corpus.repeats, len(first.references)) == READ[name]
    if READ[name][2]:
        expected = next(iter(open_dataset(Dataset(str(CASES / "base.jsonl")))))
        assert (first.text, first.references) == (expected.text, expected.references)


@pytest.mark.parametrize("name", REFUSED)
def test_articles_are_refused_for_their_cause(name: str) -> None:
    with pytest.raises(CorpusError, match=REFUSED[name]):
        open_dataset(Dataset(f"{CASES / name}/" if name.endswith("hive") else str(CASES / name)))


@pytest.mark.parametrize("name", ["nsmc-like.txt", "number-first.txt", "lines.jsonl"])
def test_tables_give_no_key_sentences(name: str) -> None:
    with pytest.raises(CorpusError, match=r"another column|is a table"):
        read_documents(CASES / "key-sentences" / name)


def test_lines_of_fairseq_stand_beside_their_references() -> None:
    folder = CASES / "numbered-lines"
    rows = [row for _, row in read_scored(folder / "fairseq.txt", (None, None), str(folder / "references.txt"))]
    clean = [row for _, row in read_scored(CASES / "clean-score.jsonl", (None, None), None)]
    assert [row["prediction"] for row in rows] == [row["prediction"] for row in clean]
    assert [row["references"] for row in rows] == [row["reference"] for row in clean]
