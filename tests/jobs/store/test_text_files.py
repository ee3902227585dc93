"""No row without its text, and no file that nobody names: whatever fails, and whoever is killed, at any step."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection
from texts_in_files import files_of, named, require_whole

from core.errors import FencedError, StoreError, StoreUnavailableError
from core.types import Article, BundleResult
from jobs.store import RunSpec, StageWork, Store, open_store, run_writer, text_folder
from jobs.store.text_files import folder_of_run, require_text_folder

Sweep = Callable[[list[Article]], BundleResult]
SYSTEMS = {"lead": "control", "mini|centroid": "system"}
WORKS = {"lead": "work of lead", "mini|centroid": "work of mini"}
HOST = "elsewhere"


def begin(store: Store, spec: RunSpec) -> tuple[str, int]:
    run_id = store.create_run(spec)
    run = run_id, store.claim_run(run_id, "host-a", 11)
    store.writer(*run).start("cpu", "v", SYSTEMS, WORKS)
    store.writer(*run).note_workers("cpu", ["mkl"])
    return run


def resume(store: Store, run_id: str) -> tuple[str, int]:
    run = run_id, store.claim_run(run_id, "host-b", 12, take_over=True)
    store.writer(*run).sweep_texts()
    return run


def failing(error: BaseException) -> Callable[..., object]:
    def fail(*args: object, **more: object) -> object:
        raise error

    return fail


# What a transaction with texts does, in order, and what fails there.
STEPS = {
    "writing": (text_folder, "_as_parquet"),
    "syncing the file": (os, "fsync"),
    "renaming it": (Path, "rename"),
    "syncing the folder": (text_folder, "_sync"),
    "the fence": (run_writer, "check_fence"),
    "storing articles": (run_writer, "insert_new"),
    "storing summaries": (run_writer, "insert_summaries"),
    "naming the file": (run_writer, "name_file"),
    "counting": (run_writer, "is_named"),
}


def test_what_fails_at_any_step_leaves_nothing_and_may_be_tried_again(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(store, in_files)
    writer = store.writer(*run)
    writer.record([(articles[:1], sweep(articles[:1]))])
    for step, place in STEPS.items():
        for error in (OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), MemoryError()):
            with monkeypatch.context() as patch:
                patch.setattr(*place, failing(error))
                with pytest.raises((type(error), StoreError)) as caught:
                    writer.record([(articles[1:], sweep(articles[1:]))])
            if isinstance(caught.value, StoreError):
                assert "No space left on device" in str(caught.value), step
                assert f"nws resume {run[0]}" in str(caught.value), step
            assert require_whole(store, run[0]) == 6, step
    writer.record([(articles[1:], sweep(articles[1:]))])
    assert require_whole(store, run[0]) == 24


def commit_and_lose_the_answer(monkeypatch: pytest.MonkeyPatch, error: Exception) -> list[str]:
    """The next transaction of a driver is committed, but seems to have failed."""
    lost: list[str] = []
    writing = Store.writing

    class Lossy:
        def __init__(self, store: Store) -> None:
            self.inner = writing(store)

        def __enter__(self) -> Connection:
            return self.inner.__enter__()

        def __exit__(self, *of_error: object) -> object:
            handled = self.inner.__exit__(*of_error)
            if of_error[0] is None and not lost:
                lost.append("lost")
                raise error
            return handled

    monkeypatch.setattr(Store, "writing", lambda store: Lossy(store))
    return lost


def test_a_transaction_whose_answer_was_lost_is_not_written_twice(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that is waited for repeats it: the rows are there, and keep their file."""
    run = begin(store, in_files)
    writer = store.waiting().writer(*run)
    writer.sweep_texts()
    lost = commit_and_lose_the_answer(monkeypatch, StoreUnavailableError("gone"))
    writer.record([(articles, sweep(articles))])
    assert lost
    assert len(files_of(store, run[0])) == 1
    assert require_whole(store, run[0]) == 24


def test_a_file_stays_that_is_in_use_though_its_transaction_seemed_to_fail(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(store, in_files)
    writer = store.writer(*run)
    writer.sweep_texts()
    commit_and_lose_the_answer(monkeypatch, StoreUnavailableError("gone"))
    with pytest.raises(StoreUnavailableError):
        writer.record([(articles, sweep(articles))])
    assert require_whole(store, run[0]) == 24


def test_a_store_that_stays_away_leaves_the_file_to_the_next_driver(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows whether the transaction was stored."""
    run = begin(store, in_files)
    writer = store.writer(*run)
    writer.sweep_texts()
    with monkeypatch.context() as patch:
        patch.setattr(Store, "writing", failing(StoreUnavailableError("gone")))
        with pytest.raises(StoreUnavailableError):
            writer.record([(articles, sweep(articles))])
    assert len(files_of(store, run[0])) == 1
    resume(store, run[0])
    assert require_whole(store, run[0]) == 0


def test_what_is_there_already_keeps_its_file_and_gets_no_second(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep
) -> None:
    run = begin(store, in_files)
    writer = store.writer(*run)
    writer.record([(articles[:2], sweep(articles[:2]))])
    before = files_of(store, run[0])
    writer.record([(articles[:2], sweep(articles[:2]))])
    assert files_of(store, run[0]) == before
    writer.record([(articles, sweep(articles))])  # of which half is there
    assert len(files_of(store, run[0])) == 2
    assert require_whole(store, run[0]) == 24


def test_a_transaction_without_summaries_has_no_file(
    store: Store, in_files: RunSpec, articles: list[Article], failure: Callable[..., BundleResult]
) -> None:
    run = begin(store, in_files)
    store.writer(*run).record([(articles[:1], failure(articles[0]))])
    assert files_of(store, run[0]) == set()


def test_an_earlier_driver_stores_nothing_and_takes_its_file_with_it(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep
) -> None:
    earlier = begin(store, in_files)
    store.writer(*earlier).record([(articles[:1], sweep(articles[:1]))])
    later = resume(store, earlier[0])
    store.writer(*later).record([(articles[1:2], sweep(articles[1:2]))])
    with pytest.raises(FencedError):
        store.writer(*earlier).record([(articles[2:], sweep(articles[2:]))])
    assert require_whole(store, earlier[0]) == 12


def leave(store: Store, run_id: str, *names: str) -> Path:
    folder = folder_of_run(store, run_id)
    folder.make()
    for name in names:
        (folder.path / name).write_bytes(b"torn")
    return folder.path


def test_the_next_driver_sweeps_what_earlier_ones_left_and_nothing_else(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep
) -> None:
    run = begin(store, in_files)
    store.writer(*run).record([(articles, sweep(articles))])
    stored = files_of(store, run[0])
    hers = ("notes.txt", "rows.parquet", "1-abc.parquet", "1-0123456789abcdef.parquet.bak")
    later = (f"9-{'0' * 16}.parquet", f"2-{'f' * 16}.parquet.part")  # of drivers that are not fenced off by this one
    left = (f"1-{'0' * 16}.parquet", f"0-{'a' * 16}.parquet.part", f"1-{'9' * 16}.parquet.part")
    leave(store, run[0], *hers, *later, *left)
    run = resume(store, run[0])
    assert run[1] == 2
    assert files_of(store, run[0]) == {*stored, *hers, *later}
    resume(store, run[0])
    assert files_of(store, run[0]) == {*stored, *hers, later[0]}


def test_a_frozen_driver_is_swept_by_the_one_after_the_next(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep
) -> None:
    """It wakes after its run was taken over, writes its file, and is killed."""
    run = begin(store, in_files)
    resume(store, run[0])
    leave(store, run[0], f"1-{'0' * 16}.parquet")
    resume(store, run[0])
    assert files_of(store, run[0]) == set()


# Removal


def test_a_removed_run_takes_its_files_and_folder_along(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep, spec: RunSpec
) -> None:
    run, other = begin(store, in_files), begin(store, in_files)
    for one in (run, other):
        store.writer(*one).record([(articles, sweep(articles))])
        store.writer(*one).finish("done")
    path = leave(store, run[0], f"1-{'0' * 16}.parquet.part")
    assert store.remove_run(run[0], HOST).texts_left is None
    assert not path.exists()
    assert named(store, run[0]) == set()
    assert require_whole(store, other[0]) == 24
    with store.query("select run_id from text_folders") as answer:
        assert list(answer.rows) == [(other[0],)]


def test_a_run_that_has_written_nothing_is_removed(store: Store, in_files: RunSpec) -> None:
    run = begin(store, in_files)
    store.writer(*run).finish("interrupted")
    assert store.remove_run(run[0], HOST).texts_left is None
    with store.query("select count(*) from text_folders") as answer:
        assert list(answer.rows) == [(0,)]


def copied(store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep) -> tuple[str, str]:
    """A run of two files, and one that has copied what is in the first."""
    source = begin(store, in_files)
    for part in (articles[:2], articles[2:]):
        store.writer(*source).record([(part, sweep(part))])
    store.writer(*source).finish("done")
    copier = begin(store, in_files)
    reusable = store.rows_of_equal_work(copier[0], StageWork(WORKS, tuple(WORKS), (0, 3, 5), 6), "mkl")
    store.writer(*copier).record([(articles[:2], BundleResult((), ()))], reusable=reusable)
    store.writer(*copier).finish("done")
    return source[0], copier[0]


def test_files_that_copies_need_stay_until_the_last_copy_goes(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep
) -> None:
    source, copier = copied(store, in_files, articles, sweep)
    path = folder_of_run(store, source).path
    ids = [article.id for article in articles]
    before = store.article_texts(copier, ids)
    assert len(list(path.iterdir())) == 2
    assert store.remove_run(source, HOST).copies == 12
    assert len(list(path.iterdir())) == 1
    assert store.article_texts(copier, ids) == before
    store.remove_run(copier, HOST)
    assert not path.exists()
    with store.query("select (select count(*) from text_files), (select count(*) from text_folders)") as answer:
        assert list(map(tuple, answer.rows)) == [(0, 0)]


@pytest.mark.parametrize("step", ["_empty", "_forget", "_named_by_copies"])
def test_what_a_killed_removal_has_left_goes_with_the_next(
    store: Store,
    in_files: RunSpec,
    articles: list[Article],
    sweep: Sweep,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    source, copier = copied(store, in_files, articles, sweep)
    path = folder_of_run(store, source).path
    leave(store, source, f"1-{'0' * 16}.parquet")
    other = begin(store, in_files)
    store.writer(*other).finish("interrupted")
    with monkeypatch.context() as patch:
        patch.setattr(f"jobs.store.text_files.{step}", failing(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            store.remove_run(source, HOST)
    assert len(store.article_texts(copier, [article.id for article in articles])) == 2
    store.remove_run(other[0], HOST)
    assert len(list(path.iterdir())) == 1
    assert len(store.article_texts(copier, [article.id for article in articles])) == 2


def test_a_folder_that_is_not_seen_from_here_is_left_to_a_removal_from_where_it_is(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep, tmp_path: Path
) -> None:
    run = begin(store, in_files)
    store.writer(*run).record([(articles, sweep(articles))])
    store.writer(*run).finish("done")
    root = folder_of_run(store, run[0]).path.parent
    root.rename(tmp_path / "unmounted")
    removed = store.remove_run(run[0], HOST)
    assert removed.summaries == 24
    assert f"there is no {root} here" in removed.texts_left
    (tmp_path / "unmounted").rename(root)
    other = begin(store, in_files)
    store.writer(*other).finish("interrupted")
    assert store.remove_run(other[0], HOST).texts_left is None
    assert list(root.iterdir()) == []


def test_a_removal_that_is_refused_leaves_the_files(
    store: Store, in_files: RunSpec, articles: list[Article], sweep: Sweep
) -> None:
    run = begin(store, in_files)
    store.writer(*run).record([(articles, sweep(articles))])
    with pytest.raises(StoreError, match="is running"):
        store.remove_run(run[0], HOST)
    assert require_whole(store, run[0]) == 24


# Places


def test_a_place_that_cannot_be_written_to_is_refused_before_any_work(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    recipe = {"texts": "parquet", "texts_folder": str(tmp_path / "a file" / "texts")}
    with pytest.raises(StoreError, match=r"cannot be written to: Not a directory.*texts_folder in the recipe"):
        require_text_folder(store, "r", recipe)
    require_text_folder(store, "r", {"texts": "store"})
    good = tmp_path / "new" / "texts"
    require_text_folder(store, "r", {"texts": "parquet", "texts_folder": str(good)})
    assert list(good.iterdir()) == []


# Real kills

_PROGRAM = """
import os, signal, sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import killed_writer
from jobs.store import open_store

url, run_id, epoch, step = sys.argv[1:]
killed_writer.arm(step)
with open_store(url) as store:
    killed_writer.record(store.writer(run_id, int(epoch)))
"""


@pytest.mark.faults
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_a_driver_that_is_killed_at_any_step_loses_nothing_that_was_stored(
    database: str, request: pytest.FixtureRequest, tmp_path: Path, spec: RunSpec
) -> None:
    """With SIGKILL, over and over in one run, until it is told to go on to the end."""
    import killed_writer

    url = request.getfixturevalue(f"{database}_url")
    with open_store(url) as store:
        recipe = {"texts": "parquet"} | ({"texts_folder": str(tmp_path / "texts")} if database == "postgres" else {})
        run_id = store.create_run(replace(spec, recipe=recipe))
        for step in (*killed_writer.STEPS, "never"):
            epoch = store.claim_run(run_id, "host-a", 11, take_over=True)
            ended = subprocess.run([sys.executable, "-c", _PROGRAM, url, run_id, str(epoch), step], check=False)
            assert ended.returncode == (0 if step == "never" else -signal.SIGKILL), step
            run = resume(store, run_id)
            rows = require_whole(store, run_id)
            assert rows % killed_writer.ROWS == 0, step
            if step in ("after the commit", "never"):
                assert rows == killed_writer.ROWS
                with store.writing() as connection:
                    connection.exec_driver_sql("delete from summaries")
                    connection.exec_driver_sql("delete from text_files")
                resume(store, run_id)
                assert files_of(store, run_id) == set()
            else:
                assert rows == 0, step
        store.writer(*run)
