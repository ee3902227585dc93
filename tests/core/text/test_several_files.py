"""Datasets of several files, on this machine and on others, against one file with the same rows."""

import functools
import gzip
import json
import os
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nws.core.errors import CorpusError
from nws.core.text.data_files import find_files
from nws.core.text.dataset import Dataset, OpenDataset, has_splits, open_dataset


def rows_of(numbers: list[int]) -> list[dict[str, str]]:
    return [{"id": f"k{one}", "article": f"Text {one}.", "summary": f"About {one}."} for one in numbers]


def write(path: Path, numbers: list[int]) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in rows_of(numbers)).encode()
    if path.suffix == ".parquet":
        table = pyarrow.Table.from_pylist(rows_of(numbers))
        pyarrow.parquet.write_table(table, path, row_group_size=2)
    else:
        path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)


def texts(corpus: OpenDataset) -> list[str]:
    return [article.text for article in corpus]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files in three formats, one of them with a repeat of another's row, and what is no data."""
    (tmp_path / "news").mkdir()
    write(tmp_path / "news" / "a.jsonl", [1, 2, 3])
    write(tmp_path / "news" / "b.parquet", [4, 5, 6, 7, 8])
    write(tmp_path / "news" / "c.jsonl.gz", [9, 3, 10])
    (tmp_path / "news" / "README.md").write_text("What this is.")
    for name in (".hidden.jsonl", "package.json", "state.json", "x.lock", "cache-1a.arrow"):
        (tmp_path / "news" / name).write_text("not JSON")
    return tmp_path / "news"


ALL = [f"Text {one}." for one in range(1, 11)]


@pytest.mark.parametrize("name", ["", "/", "/*", "/**/*", "/../*/[abc]*"])
def test_a_folder_or_a_pattern_is_one_dataset(folder: Path, name: str) -> None:
    corpus = open_dataset(Dataset(f"{folder}{name}"))
    assert texts(corpus) == texts(corpus) == ALL
    assert (corpus.size, corpus.repeats, corpus.split) == (10, 1, "all")
    again = open_dataset(Dataset(corpus.pinned_name))
    assert (again.name, again.revision, texts(again)) == (corpus.name, corpus.revision, ALL)
    assert not has_splits(f"{folder}{name}")


def test_the_revision_is_that_of_the_names_and_bytes_below_the_folder(folder: Path, tmp_path: Path) -> None:
    first = open_dataset(Dataset(str(folder))).revision
    elsewhere = folder.rename(tmp_path / "elsewhere")
    assert open_dataset(Dataset(str(elsewhere))).revision == first
    one = open_dataset(Dataset(f"{elsewhere}/*.parquet")).revision
    assert one == open_dataset(Dataset(f"{elsewhere}/b.parquet")).revision


def test_files_of_equal_names_in_several_folders(tmp_path: Path) -> None:
    for number, name in enumerate(("2024", "2023")):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "news.jsonl", [number])
    (tmp_path / "2024" / "news.jsonl").write_text("{")
    with pytest.raises(CorpusError, match=r"2024/news.jsonl, line 1: not valid JSON"):
        open_dataset(Dataset(f"{tmp_path}/*/*.jsonl"))


def test_a_folder_without_data_and_names_of_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "organisation" / "news").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CorpusError, match=r"No file of organisation/\*\.jsonl ends in"):
        open_dataset(Dataset("organisation/*.jsonl"))
    for name in ("organisation", "organisation/", "./organisation/news"):
        with pytest.raises(CorpusError, match=r"No file of .*organisation.* ends in"):
            open_dataset(Dataset(name))
    assert has_splits("organisation/news")
    assert not has_splits("organisation/news/")


@given(
    st.lists(st.lists(st.integers(0, 30), max_size=6), min_size=1, max_size=5),
    st.integers(0, 4),
    st.one_of(st.none(), st.integers(1, 20)),
    st.data(),
)
def test_any_division_into_files_gives_the_articles_of_one_file(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[int]], skip: int, limit: int | None, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    suffixes = data.draw(st.lists(st.sampled_from([".jsonl", ".parquet"]), min_size=len(parts), max_size=len(parts)))
    for number, (part, suffix) in enumerate(zip(parts, suffixes, strict=True)):
        if part or suffix == ".jsonl":
            write(folder / f"{number}{suffix}", part)
    wanted = list(dict.fromkeys(one for part in parts for one in part))[skip:][:limit]
    spec = Dataset(str(folder), skip=skip, limit=limit)
    if not wanted:
        with pytest.raises(CorpusError, match=r"has no article|No file of .* ends in"):
            open_dataset(spec)
        return
    corpus = open_dataset(spec)
    assert texts(corpus) == [f"Text {one}." for one in wanted]
    corpus.require_unchanged()
    # A part of them all has the revision that it has alone.
    everything = open_dataset(Dataset(str(folder)))
    alone = open_dataset(Dataset(str(folder), skip=skip, limit=len(wanted)))
    assert everything.part_revision(skip + len(wanted)) == alone.revision
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(wanted), max_size=len(wanted))))
    assert list(corpus.read(mask)) == [article for article, is_chosen in zip(corpus, mask, strict=True) if is_chosen]


def test_a_changed_folder_is_another_dataset_and_the_change_is_told_with_file_and_article(folder: Path) -> None:
    corpora = [open_dataset(Dataset(str(folder)))]
    for change in (
        lambda: write(folder / "a.jsonl", [1, 2, 33]),
        lambda: write(folder / "d.jsonl", [11]),
        lambda: (folder / "c.jsonl.gz").rename(folder / "e.jsonl.gz"),
        (folder / "e.jsonl.gz").unlink,
    ):
        change()
        corpora.append(open_dataset(Dataset(str(folder))))
    assert [corpus.size for corpus in corpora] == [10, 11, 12, 12, 9]
    assert len({corpus.revision for corpus in corpora}) == 5
    with pytest.raises(CorpusError, match=r"SHA-256 of a.jsonl differs"):
        corpora[0].require_unchanged()
    with pytest.raises(CorpusError, match="article 3 of 10 is different now"):
        list(corpora[0])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


ASKED: list[str] = []


@pytest.fixture
def server(folder: Path) -> Iterator[str]:
    """The folder behind HTTP, as Python's own server lists and gives it. Requests are in `ASKED`."""
    ASKED.clear()

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            ASKED.append(f"{self.command} {self.path}")

        def send_head(self) -> Any:
            if self.path.startswith("/refused"):
                return self.send_error(403)
            return super().send_head()

    handler = functools.partial(Handler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()


def test_files_of_a_web_server(folder: Path, server: str, cache: Path) -> None:
    name = f"{server}/*.parquet"
    corpus = open_dataset(Dataset(name))
    assert (corpus.name, corpus.pinned_name, texts(corpus)) == ("*.parquet", name, ALL[3:8])
    assert corpus.revision == open_dataset(Dataset(str(folder / "b.parquet"))).revision
    one = open_dataset(Dataset(f"{server}/a.jsonl"))
    assert (one.name, texts(one)) == ("a.jsonl", ALL[:3])
    assert sum(line.startswith("GET /a.jsonl") for line in ASKED) == 1  # it is in the cache then
    for limit in (2, None):
        assert texts(open_dataset(Dataset(f"{server}/", limit=limit))) == ALL[:limit]
        assert any("GET /c.jsonl" in line for line in ASKED) == (limit is None), "which is behind the limit"
    write(folder / "a.jsonl", [1, 2, 33, 4])
    os.utime(folder / "a.jsonl", (1, 1))
    with pytest.raises(CorpusError, match=r"SHA-256 of .*a.jsonl differs"):
        one.require_unchanged()
    assert len(texts(open_dataset(Dataset(f"{server}/a.jsonl")))) == 4


def test_what_other_machines_refuse(server: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    refused = {
        f"{server}/absent.jsonl": "it does not exist",
        f"{server}/refused.jsonl": "access is refused",
        f"{server}/a.txt": "cannot be read",
        "http://127.0.0.1:9/a.jsonl": "the server does not answer",
        "nonsense://a/b.jsonl": "Protocol not known: nonsense",
        "https://me:secret@example.org/a.jsonl": "must not have a password",
        "memory://nothing/": "cannot be read",
        "s3://bucket/a.jsonl": r"s3://bucket/a.jsonl cannot be read: Install s3fs",
    }
    for name, message in refused.items():
        with pytest.raises(CorpusError, match=message) as error:
            open_dataset(Dataset(name))
        assert "secret" not in str(error.value)


def test_other_files_than_data_name_the_way(tmp_path: Path) -> None:
    for name in ("hive/date=1/part.parquet", "hive/date=1/_SUCCESS", "stories/a.story"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    with pytest.raises(CorpusError, match=r"Give '.*/hive/\*\*/\*\.parquet', in quotes"):
        find_files(f"{tmp_path}/hive")
    for name in ("stories/", "stories/*.story"):
        with pytest.raises(CorpusError, match=r"Write the texts of its \.story files as rows of one JSONL file"):
            find_files(f"{tmp_path}/{name}")
