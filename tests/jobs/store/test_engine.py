import os
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nws.core.article import Article
from nws.core.errors import StoreError
from nws.core.types import BundleResult
from nws.jobs.store import engine, open_store, upgrade_schema
from nws.jobs.store.address import parse_address


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("place", "said"),
    [("nowhere/nws.db", "nowhere/nws.db"), ("folder", "is a folder"), ("notes.txt", "file is not a database")],
)
def test_what_is_no_store_is_refused_and_left_alone(tmp_path, place, said, read_only):
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("Notes, long enough to fill the header that SQLite looks for in a file." * 20)
    before = (tmp_path / "notes.txt").read_bytes()
    with pytest.raises(StoreError, match=said):
        open_store(f"sqlite:///{tmp_path / place}", read_only=read_only)
    assert (tmp_path / "notes.txt").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["folder", "notes.txt"]


def test_closing_leaves_no_side_files(sqlite_url, tmp_path, spec):
    with open_store(sqlite_url) as store:
        store.create_run(spec)
    with open_store(sqlite_url, read_only=True) as store:
        assert len(store.list_runs()) == 1
        with pytest.raises(StoreError, match="opened read-only"):
            store.create_run(spec)
    assert os.listdir(tmp_path) == ["nws.db"]


def test_two_runs_that_store_the_same_new_articles_do_not_deadlock(store, spec):
    runs = [store.create_run(spec) for _ in range(2)]
    epochs = [store.claim_run(run, "host", 1) for run in runs]
    many = [Article("new", "test", str(i), f"text {i}", ("r",)) for i in range(1000)]
    together = threading.Barrier(2, timeout=60)

    def drive(run: str, epoch: int, articles: list[Article]) -> None:
        together.wait()
        store.writer(run, epoch).record([(articles, BundleResult((), ()))])

    ordered = sorted(many, key=lambda article: article.id)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(drive, runs, epochs, (ordered, ordered[::-1]))) == [None, None]


def test_waiting_too_long_for_another_writer_is_explained(sqlite_url, spec, monkeypatch):
    open_store(sqlite_url).close()
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0)
    holder = sqlite3.connect(parse_address(sqlite_url).path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with open_store(sqlite_url) as store, pytest.raises(StoreError, match="another process has been writing"):
        store.create_run(spec)
    holder.close()


def test_fresh_stores_can_be_opened_by_many_at_once(tmp_path):
    url = f"sqlite:///{tmp_path / 'fresh.db'}"
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(lambda _: open_store(url).close(), range(6))) == [None] * 6


def test_odd_file_names_work(tmp_path, spec):
    folder = tmp_path / "뉴스 100% #1"
    folder.mkdir()
    with open_store(f"sqlite:///{folder}/a b.db") as store:
        run_id = store.create_run(spec)
        assert store.run_info(run_id).recipe == spec.recipe
    assert Path(folder / "a b.db").exists()


@pytest.mark.parametrize("create", [lambda url: open_store(url).close(), upgrade_schema])
def test_a_new_file_and_what_lies_beside_it_are_its_owners_alone(tmp_path, create, spec):
    url = f"sqlite:///{tmp_path / 'nws.db'}"
    before = os.umask(0o022)
    try:
        create(url)
        with open_store(url) as store:
            store.create_run(spec)
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == {"nws.db": 0o600, "nws.db-wal": 0o600, "nws.db-shm": 0o600}


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_gone_is_neither_used_nor_made_again(sqlite_url, tmp_path, spec, read_only):
    open_store(sqlite_url).close()
    with open_store(sqlite_url, read_only=read_only) as store:
        (tmp_path / "nws.db").unlink()
        with pytest.raises(StoreError, match="was deleted or moved away"):
            store.list_runs() if read_only else store.create_run(spec)
    assert os.listdir(tmp_path) == []
