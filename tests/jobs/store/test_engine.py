import os
import shutil
import sqlite3
import stat
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.errors import StoreError
from core.types import Article, BundleResult
from jobs.store import engine, open_store, upgrade_schema
from jobs.store.address import parse_address
from jobs.store.engine import transaction, writer_engine


@pytest.mark.parametrize("read_only", [False, True])
def test_missing_folder_is_named(tmp_path, read_only):
    with pytest.raises(StoreError, match=str(tmp_path / "nowhere")):
        open_store(f"sqlite:///{tmp_path}/nowhere/nws.db", read_only=read_only)


@pytest.mark.parametrize("read_only", [False, True])
def test_folder_in_place_of_a_file_is_refused(tmp_path, read_only):
    with pytest.raises(StoreError, match="is a folder"):
        open_store(f"sqlite:///{tmp_path}", read_only=read_only)


def test_reading_a_missing_file_does_not_create_it(tmp_path):
    path = tmp_path / "nws.db"
    with pytest.raises(StoreError, match=f"there is no store at {path}"):
        open_store(f"sqlite:///{path}", read_only=True)
    assert not path.exists()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, read_only):
    path = tmp_path / "notes.txt"
    path.write_text("These are notes, long enough to fill the header that SQLite looks for in a file." * 20)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"notes.txt: file is not a database"):
        open_store(f"sqlite:///{path}", read_only=read_only)
    assert path.read_bytes() == before


def test_failed_migration_step_leaves_nothing_behind_on_sqlite(sqlite_url):
    address = parse_address(sqlite_url)
    writer = writer_engine(address)

    def half_a_migration() -> None:
        with transaction(writer, address) as connection:
            connection.exec_driver_sql("CREATE TABLE half (a)")
            connection.exec_driver_sql("ALTER TABLE absent ADD COLUMN b")

    with pytest.raises(StoreError, match="no such table: absent"):
        half_a_migration()
    with transaction(writer, address) as connection:
        assert sa.inspect(connection).get_table_names() == []
    writer.dispose()


def test_read_only_store_says_so_when_written(store_url, spec):
    open_store(store_url).close()
    with open_store(store_url, read_only=True) as store, pytest.raises(StoreError, match="opened read-only"):
        store.create_run(spec)


def test_closing_leaves_no_side_files(sqlite_url, tmp_path, spec):
    with open_store(sqlite_url) as store:
        store.create_run(spec)
    with open_store(sqlite_url, read_only=True) as store:
        assert len(store.list_runs()) == 1
    assert os.listdir(tmp_path) == ["nws.db"]


def test_readers_see_the_last_commit_while_a_writer_writes(sqlite_url, spec):
    with open_store(sqlite_url) as store, open_store(sqlite_url, read_only=True) as reader:
        run_id = store.create_run(spec)
        address = parse_address(sqlite_url)
        other = writer_engine(address)
        with transaction(other, address) as connection:
            connection.exec_driver_sql("UPDATE runs SET error = 'not committed'")
            assert reader.run_info(run_id).error is None
            assert store.run_info(run_id).error is None
        assert reader.run_info(run_id).error == "not committed"
        other.dispose()


def test_two_runs_that_store_the_same_new_articles_do_not_deadlock(store, spec):
    runs = [store.create_run(spec) for _ in range(2)]
    epochs = [store.claim_run(run, "host", 1) for run in runs]
    many = [Article("new", "test", str(i), f"text {i}", ("r",)) for i in range(1000)]
    together = threading.Barrier(2, timeout=60)
    errors: list[StoreError] = []

    def drive(position: int, articles: list[Article]) -> None:
        together.wait()
        try:
            store.writer(runs[position], epochs[position]).record([(articles, BundleResult((), ()))])
        except StoreError as error:
            errors.append(error)

    ordered = sorted(many, key=lambda article: article.id)
    orders = (ordered, ordered[::-1])
    threads = [threading.Thread(target=drive, args=(i, order)) for i, order in enumerate(orders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


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
    errors: list[StoreError] = []

    def open_it() -> None:
        try:
            open_store(url).close()
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_new_file_that_another_process_is_writing_is_waited_for(tmp_path):
    path = tmp_path / "fresh.db"
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, holder.rollback)
    release.start()
    open_store(f"sqlite:///{path}").close()
    release.join()
    holder.close()


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


def test_a_copy_in_the_place_of_the_file_is_not_written_to(sqlite_url, tmp_path, spec):
    with open_store(sqlite_url) as store:
        run_id = store.create_run(spec)
        epoch = store.claim_run(run_id, "host", 1)
        with open_store(sqlite_url) as other:  # what is in the -wal file goes along
            other.writer(run_id, epoch).finish("done")
        (tmp_path / "nws.db").rename(tmp_path / "old.db")
        shutil.copy(tmp_path / "old.db", tmp_path / "nws.db")
        copied = (tmp_path / "nws.db").read_bytes()
        with pytest.raises(StoreError, match="was replaced by another file"):
            store.create_run(spec)
        with pytest.raises(StoreError, match="was replaced by another file"):
            store.run_info(run_id)
    assert (tmp_path / "nws.db").read_bytes() == copied
