import csv
import dataclasses
import json
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path

import datasets
import pyarrow
import pyarrow.parquet
import pytest
from hub_cache import cache_dataset
from hypothesis import given
from hypothesis import strategies as st

from nws.core.article import Article
from nws.core.errors import CorpusError, HubError
from nws.core.text import dataset
from nws.core.text.dataset import Dataset, article_rows, load_split, open_dataset, open_rows
from nws.core.text.length import count_words
from nws.core.whole_files import write_json_lines

ROWS = [
    {"id": "a", "article": "First text, with a comma.\nTwo lines.", "highlights": "First."},
    {"id": "b", "article": "Second “quoted” text.", "highlights": "Second."},
    {"id": "c", "article": "Third.", "highlights": "Third one."},
]


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize(
    ("suffix", "references"),
    [(".jsonl", ["One.", "Two."]), (".parquet", ["One.", "Two."]), (".csv", '["One.",\n"Two."]')],
)
def test_several_references_in_one_field(tmp_path: Path, suffix: str, references: object) -> None:
    path = write(tmp_path / f"d{suffix}", [{"fname": "x", "dialogue": "Hi.", "summaries": references}])
    (article,) = open_dataset(Dataset(str(path)))
    assert (article.references, article.key) == (("One.", "Two."), "x")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "b", "highlights": "x"}', "'article' is missing; the fields are: id, highlights"),
        ('{"id": "b", "article": 3, "highlights": "x"}', "'article' holds 3, not text"),
        ('{"id": "b", "article": "x", "highlights": {"a": 1}}', "'highlights' holds {'a': 1}, not text or a list"),
        ('{"id": "b", "article": "x", "highlights": ["y", 2]}', r"'highlights' holds \['y', 2\], not text or a list"),
        ('{"id": null, "article": "x", "highlights": "y"}', "'id' holds nothing, not a text or a number"),
    ],
)
def test_a_malformed_line_is_named_by_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=rf"d\.jsonl, line 2: Field {message}"):
        open_dataset(Dataset(str(path)))


def test_what_is_no_dataset_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(CorpusError, match="has no article"):
        open_dataset(Dataset(str(tmp_path / "empty.jsonl")))
    path = write(tmp_path / "nofield.jsonl", [{"story": "x", "highlights": "y"}])
    with pytest.raises(CorpusError, match="Name the right one") as refused:
        open_dataset(Dataset(str(path)))
    assert refused.value.settings == ("text_field",)
    with pytest.raises(CorpusError, match="no file"):
        open_dataset(Dataset(str(tmp_path / "absent.jsonl")))
    for name in ("nonsense", "../curve.png", "a/b--c", "ö/news", "a/b/c", f"../news@{'0' * 40}"):
        with pytest.raises(CorpusError, match=rf"There is no dataset '{name}'. Give one of"):
            open_dataset(Dataset(name))


def test_a_dataset_that_is_a_script(tmp_path: Path) -> None:
    (tmp_path / "news").mkdir()
    (tmp_path / "news" / "news.py").write_text("raise SystemExit\n")
    with pytest.raises(CorpusError, match=r"cannot be loaded: Dataset scripts are no longer supported"):
        load_split(str(tmp_path / "news"), None, "test", None, streaming=False)


def test_repeated_rows_are_read_once_and_null_texts_are_kept(tmp_path: Path) -> None:
    rows = [ROWS[0], ROWS[0], {**ROWS[2], "article": None}, {**ROWS[1], "highlights": None}]
    corpus = open_dataset(Dataset(str(write(tmp_path / "d.jsonl", rows))))
    articles = list(corpus)
    assert (corpus.size, corpus.repeats) == (3, 1)
    assert open_dataset(Dataset(str(tmp_path / "d.jsonl"), skip=2)).repeats == 1
    assert [a.text for a in articles] == [ROWS[0]["article"], "", ROWS[1]["article"]]
    assert articles[2].references == ()


@pytest.mark.parametrize("reference", ["[" * 3000 + "1" + "]" * 3000, "[" + "-" * 50_000 + "1]", "[" * 100_000 + "1]"])
def test_brackets_without_end_are_a_reference_as_it_stands(tmp_path: Path, reference: str) -> None:
    path = write(tmp_path / "d.csv", [{"text": "Hi.", "reference": reference}])
    (article,) = open_dataset(Dataset(str(path)))
    assert (article.references, article.key) == ((reference,), "row-0")


@pytest.mark.parametrize("name", ["a\0b.jsonl", "a" * 5000 + ".jsonl", "a\0b", "b" * 5000])
def test_what_no_file_is_called(name: str) -> None:
    with pytest.raises(CorpusError, match=r"There is no (file|dataset)"):
        open_dataset(Dataset(name))


def test_a_long_article_fits_a_csv_cell(tmp_path: Path) -> None:
    text = "word " * 100_000
    (article,) = open_dataset(Dataset(str(write(tmp_path / "d.csv", [{"article": text, "summary": "s"}]))))
    assert article.text == text


CHANGES: dict[str, Callable[[Path], object]] = {
    "rewritten": lambda path: write(path, [{**row, "article": f"New: {row['article']}"} for row in ROWS]),
    "another reference": lambda path: write(path, [*ROWS[:2], {**ROWS[2], "highlights": "Another one."}]),
    "fewer": lambda path: write(path, ROWS[:2]),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-12]),
    "deleted": Path.unlink,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_a_changed_file_gives_no_changed_article(tmp_path: Path, suffix: str, change: str) -> None:
    path = write(tmp_path / f"news{suffix}", ROWS)
    corpus = open_dataset(Dataset(str(path)))
    corpus.require_unchanged()
    before = list(corpus)
    CHANGES[change](path)
    given: list[Article] = []
    with pytest.raises(CorpusError, match=rf"news\{suffix} was changed while it was in use"):
        deque(map(given.append, corpus), maxlen=0)
    assert given == before[: len(given)]
    with pytest.raises(CorpusError):
        corpus.require_unchanged()


@pytest.mark.parametrize("limit", [None, 3])
def test_rows_behind_the_last_article_may_change_but_the_file_is_another_one(tmp_path: Path, limit: int | None) -> None:
    path = write(tmp_path / "d.jsonl", ROWS)
    corpus = open_dataset(Dataset(str(path), limit=limit))
    before = list(corpus)
    write(path, [*ROWS, {"id": "d", "article": "Fourth.", "highlights": "Fourth one."}])
    assert list(corpus) == before
    with pytest.raises(CorpusError, match="SHA-256"):
        corpus.require_unchanged()


def test_a_file_that_is_written_while_it_is_opened_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "d.jsonl", ROWS)
    to_article, read = dataset.to_article, []

    def while_written(*arguments: object) -> Article:
        read.append(to_article(*arguments))
        if len(read) == 3:
            CHANGES["fewer"](path)
        return read[-1]

    monkeypatch.setattr(dataset, "to_article", while_written)
    with pytest.raises(CorpusError, match="SHA-256"):
        open_dataset(Dataset(str(path)))


@pytest.mark.parametrize("streaming", [False, True])
def test_hub_rows_come_through_the_datasets_library(tmp_path: Path, streaming: bool) -> None:
    # A local folder in the Hub's layout goes through the same `datasets.load_dataset`.
    write(tmp_path / "test.parquet", ROWS)
    datasets.config.HF_DATASETS_CACHE = tmp_path / "cache"
    spec = Dataset("org/news", streaming=streaming, limit=2)
    rows = load_split(str(tmp_path), None, "test", None, streaming)
    corpus = open_rows(rows, "org/news", "org/news@abc", "abc", spec)
    assert corpus.size == 2
    assert [article.key for article in corpus] == ["a", "b"]
    assert [article.key for article in corpus] == ["a", "b"]
    assert next(iter(corpus)).split == "test"


@pytest.mark.parametrize("revision", ["", f"@{'a' * 40}"])
@pytest.mark.parametrize("streaming", [False, True])
def test_a_folder_is_not_taken_for_a_dataset_of_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: bool, revision: str
) -> None:
    (tmp_path / "org" / "news").mkdir(parents=True)
    write(tmp_path / "org" / "news" / "test.parquet", ROWS)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CorpusError, match=r"The folder .*/org/news would be read instead of the Hub dataset"):
        open_dataset(Dataset(f"org/news{revision}", streaming=streaming))


@pytest.mark.parametrize("streaming", [False, True])
def test_another_commit_in_the_cache_is_not_taken_where_the_hub_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streaming: bool
) -> None:
    cached, other = "b" * 40, "a" * 40
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    cache_dataset(ROWS, tmp_path / "org___news" / "default" / "0.0.0" / cached)
    corpus = open_dataset(Dataset(f"org/news@{cached}", streaming=streaming))
    assert [article.key for article in corpus] == ["a", "b", "c"]
    with pytest.raises(CorpusError, match=rf"in the cache is {cached}, not {other}"):
        open_dataset(Dataset(f"org/news@{other}", streaming=streaming))


def test_the_hub_offline_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(HubError, match=r"EdinburghNLP/xsum@COMMIT"):
        open_dataset(Dataset("xsum"))
    with pytest.raises(CorpusError, match="abisee/cnn_dailymail"):
        open_dataset(Dataset("abisee/cnn_dailymail:3.0.0"))


def test_the_bundled_sample() -> None:
    for name, least in (("sample", 24), ("sample-ko", 6)):
        articles = list(open_dataset(Dataset(name)))
        assert len({article.key for article in articles}) == len(articles) >= least
        for article in articles:
            assert 250 <= count_words(article.text) <= 600, article.key
            assert count_words(article.references[0]) >= 15, article.key


WORDS = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: bool(text.split()) and "\0" not in text)


@given(st.lists(st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=5))
def test_articles_that_are_written_to_a_file_are_read_back(written: list[tuple[str, list[str]]]) -> None:
    rows = [{"id": str(i), "document": text, "summaries": told} for i, (text, told) in enumerate(written)]
    corpus = open_rows(rows, "org/news", "org/news@abc", "abc", Dataset("org/news", streaming=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "news.jsonl"
        assert write_json_lines("-o", path, article_rows(corpus)) == len(rows)
        read = list(open_dataset(Dataset(str(path), text_field="article", reference_field="references")))
    assert [dataclasses.replace(article, dataset="org/news", split="test") for article in read] == list(corpus)
