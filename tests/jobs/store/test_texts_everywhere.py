"""A run whose texts are in files is shown, compared, exported and resumed as one whose texts are in the store."""

import dataclasses
import errno
import io
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from shards_here import QUIET, ShardsHere
from starlette.testclient import TestClient
from texts_in_files import files_of, put_into_files, require_whole

import nws as nws_api
from bench import stub_work
from core.errors import StoreError
from core.types import Article, Summary
from jobs.drive import driver, study
from jobs.drive.pools import Makers
from jobs.evaluate.judge_texts import texts_of_run
from jobs.plan.pinned import Pinned
from jobs.plan.sweep import pin
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep import Phase1Recipe
from jobs.serve.app import make_app
from jobs.store import RunWriter, Store, StudySettings, open_store
from jobs.store.text_files import folder_of_run

STUB = Makers(stub_work.work)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NWS_STUB_SECONDS", "0")
    monkeypatch.setattr(study, "_PAUSE_SECONDS", 0.0)
    made = stub_work.summary

    def with_draws(article: Article, system: str, n: int) -> Summary:
        one = made(article, system, n)
        draws = (one.text, f"{one.text} again", "")
        return dataclasses.replace(one, extra={"draws": draws, "dtype": "x"}) if system == "random" else one

    monkeypatch.setattr(stub_work, "summary", with_draws)


@pytest.fixture
def planned(store: Store, tmp_path: Path) -> Callable[..., Pinned]:
    """Makes the plan of a small run; of one with its texts in files where asked."""
    folder = {} if store.url.startswith("sqlite") else {"texts_folder": str(tmp_path / "texts")}

    def plan(in_files: bool, **changes: object) -> Pinned:
        texts = {"texts": "parquet", **folder} if in_files else {}
        return pin(load_recipe(Phase1Recipe, "sample", {"n": [3, 7], "bundle_size": 2, "limit": 8, **texts, **changes}))

    return plan


def drive(store: Store, pinned: Pinned, **more: Any) -> Any:
    return driver.start(store, pinned, "inline", QUIET, STUB, **more)


def rows(store: Store, run_id: str) -> list[dict[str, object]]:
    """All that readers get of a run, without which it is and what it cost."""
    ids = sorted(store.content_hashes(run_id))
    return [
        {name: value for name, value in row.items() if name not in ("run_id", "seconds")}
        for article in store.article_texts(run_id, ids)
        for row in sorted(article.summaries, key=lambda row: (row["system"], row["n"]))
    ]


def test_a_driver_writes_the_same_rows_either_way(store: Store, planned: Callable[..., Pinned]) -> None:
    one, other = drive(store, planned(False)), drive(store, planned(True))
    assert (other.state, other.articles, other.summaries) == (one.state, one.articles, one.summaries)
    assert rows(store, other.run_id) == rows(store, one.run_id)
    assert require_whole(store, other.run_id) == one.summaries
    assert planned(True).recipe.hash == planned(False).recipe.hash
    # What is kept of a run that has ended, whose texts are told apart by hashes.
    for texts in (True, False):
        a, b = (store.points(run.run_id, texts=texts) for run in (one, other))
        assert a.text.tolist() == b.text.tolist()
        assert a.articles == b.articles


def outputs(nws: Callable[..., Any], url: str, run_id: str, folder: Path) -> dict[str, bytes]:
    """What each command says of a run, and the files that it writes."""
    folder.mkdir()
    store = ("--store", url)
    commands = {
        "csv": ("export", run_id, "--rows", f"{folder}/rows.csv", "--with-articles"),
        "jsonl": ("export", run_id, "--rows", f"{folder}/rows.jsonl"),
        "parquet": ("export", run_id, "--rows", f"{folder}/rows.parquet", "--with-articles"),
        "report": ("report", run_id, "--out", f"{folder}/report"),
        "page": ("report", run_id, "--page", f"{folder}/page.html"),
        "compare": ("compare", run_id, "--json"),
        "show": ("show", run_id, "--json"),
        "plan": ("plan", run_id, "--json"),
        "status": ("status", run_id),
    }
    found = {}
    for name, arguments in commands.items():
        result = nws(*arguments, *store)
        found[name] = f"{result.code} {result.out}".replace(str(folder), "FOLDER").encode()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".png", ".svg", ".pdf"):
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def served_report(client: TestClient, address: str) -> str:
    """The report page of `nws serve`, once it is computed."""
    deadline = time.monotonic() + 120
    while 'http-equiv="refresh"' in (answer := client.get(address)).text:
        assert time.monotonic() < deadline
    return str(answer.text)


def test_what_is_shown_of_a_run_is_the_same_to_the_last_byte(
    store: Store, planned: Callable[..., Pinned], nws: Callable[..., Any], tmp_path: Path
) -> None:
    """Of the very same run, before and after its texts went to files."""
    run_id = drive(store, planned(False)).run_id

    def read() -> dict[str, object]:
        info = store.run_info(run_id)
        with nws_api.open_store(store.url) as opened:
            result = opened.run(run_id)
            frames = [
                result.to_pandas().to_json(),
                result.curves().to_json(),
                str(result),
                *sorted(map(repr, result.rows)),
            ]
        with (
            open_store(store.url, read_only=True) as opened,
            TestClient(make_app(opened, None, 8300)[0], base_url="http://localhost") as client,
        ):
            served = served_report(client, f"/runs/{run_id}/report")
        return {
            "rows": rows(store, run_id),
            "judged": [dataclasses.asdict(text) for text in texts_of_run(store, info, 7, (), None)],
            "points": store.points(run_id, repeated_words=True).repeated_words.tolist(),
            "frames": frames,
            "served": served,
        }

    before = read() | outputs(nws, store.url, run_id, tmp_path / "before")
    put_into_files(store, run_id, None if store.url.startswith("sqlite") else tmp_path / "texts", at_once=3)
    with store.query("select count(text) from summaries") as answer:
        assert list(answer.rows) == [(0,)]
    after = read() | outputs(nws, store.url, run_id, tmp_path / "after")
    assert before.keys() == after.keys()
    for name, expected in before.items():
        assert after[name] == expected, name


def test_an_interrupted_run_is_resumed_with_its_texts_where_they_were(
    store: Store, planned: Callable[..., Pinned], monkeypatch: pytest.MonkeyPatch
) -> None:
    record, calls = RunWriter._record, []

    def stop(self: RunWriter, *args: Any, **more: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return record(self, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(RunWriter, "_record", stop)
        outcome = drive(store, planned(True))
    assert (outcome.state, outcome.articles) == ("interrupted", 4)
    assert require_whole(store, outcome.run_id) == outcome.summaries
    folder = folder_of_run(store, outcome.run_id)
    (folder.path / f"1-{'0' * 16}.parquet.part").touch()  # of a driver that was killed
    outcome = driver.resume(store, outcome.run_id, "inline", None, None, QUIET, makers=STUB)
    assert (outcome.state, outcome.articles) == ("done", 8)
    assert rows(store, outcome.run_id) == rows(store, drive(store, planned(False)).run_id)
    assert require_whole(store, outcome.run_id) == outcome.summaries


def test_a_study_has_the_texts_of_its_shards(store: Store, planned: Callable[..., Pinned]) -> None:
    name = "phase1-20261125-abcdef"
    shards = study.create_study(store, name, planned(True), StudySettings(1, "inline"), 3, None, QUIET)
    assert study.drive_study(store, name, ShardsHere(store, STUB), 2, QUIET).state == "done"
    one = drive(store, planned(False))
    assert rows(store, name) == rows(store, one.run_id)
    assert sum(require_whole(store, shard) for shard in shards) == one.summaries
    assert store.points(name, texts=True).text.sum() == store.points(one.run_id).text.sum()
    root = folder_of_run(store, shards[0]).path.parent
    assert sorted(path.name for path in root.iterdir()) == shards
    store.remove_run(name, "elsewhere")
    assert list(root.iterdir()) == []


def test_a_disk_without_room_for_texts_ends_the_run_with_the_cause(
    store: Store, planned: Callable[..., Pinned], monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, files = os.fsync, []

    def full(descriptor: int) -> None:
        if os.readlink(f"/proc/self/fd/{descriptor}").endswith(".part"):
            files.append(descriptor)
            if len(files) == 3:
                raise OSError(errno.ENOSPC, "No space left on device")
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No space left on device"):
            drive(store, planned(True), run_id="phase1-x")
    info = store.run_info("phase1-x")
    assert info.state == "failed"
    assert "No space left on device" in str(info.error)
    assert "nws resume phase1-x" in str(info.error)
    assert require_whole(store, "phase1-x") == info.summaries > 0
    outcome = driver.resume(store, "phase1-x", "inline", None, None, QUIET, makers=STUB)
    assert (outcome.state, outcome.articles) == ("done", 8)


def test_a_folder_that_cannot_be_written_to_stops_a_run_before_it_is_there(
    store: Store, planned: Callable[..., Pinned], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").touch()
    pinned = planned(True, texts_folder=str(tmp_path / "a file" / "x"))
    with monkeypatch.context() as patch:
        patch.setattr(driver, "open_pools", None)  # nor are actors started
        for begin in (
            lambda: drive(store, pinned),
            lambda: study.create_study(store, "phase1-y", pinned, StudySettings(1, "inline"), 2, None, QUIET),
        ):
            with pytest.raises(StoreError, match="cannot be written to: Not a directory"):
                begin()
    assert store.list_runs() == []
    outcome = drive(store, planned(True))
    with store.writing() as connection:
        moved = tmp_path / "a file" / "y"
        connection.exec_driver_sql(f"update text_folders set folder = '{moved}'")
    with pytest.raises(StoreError, match="cannot be written to: Not a directory"):
        driver.resume(store, outcome.run_id, "inline", None, None, QUIET, makers=STUB)


@pytest.fixture
def in_postgres(postgres_url: str) -> Iterator[Store]:
    with open_store(postgres_url) as opened:
        yield opened


def test_postgres_without_a_folder_is_refused_when_it_is_submitted(in_postgres: Store) -> None:
    pinned = pin(load_recipe(Phase1Recipe, "sample", {"n": [3], "limit": 1, "texts": "parquet"}))
    with pytest.raises(StoreError, match="needs a texts_folder"):
        drive(in_postgres, pinned)
    with pytest.raises(StoreError, match="needs a texts_folder"):
        study.create_study(
            in_postgres, "phase1-y", pinned, StudySettings(1, "ray"), 1, None, QUIET, address="http://h:1"
        )
    assert in_postgres.list_runs() == []


def test_reuse_and_content_kept_go_through_files(store: Store, planned: Callable[..., Pinned], tmp_path: Path) -> None:
    """With the real sweep: what is copied from files of another run is scored again among other articles."""
    few = driver.start(store, planned(True, limit=2, n=[3]), "inline", QUIET, reuse=True)
    said = io.StringIO()
    more = driver.start(store, planned(True, limit=4, n=[3]), "inline", Console(file=said, width=300), reuse=True)
    assert more.reused == few.summaries - 2  # all but `other-article`, which depends on all articles
    assert "Measuring content kept: 2 articles" in said.getvalue()
    with open_store(f"sqlite:///{tmp_path / 'alone.db'}") as alone:
        expected = driver.start(alone, planned(False, limit=4, n=[3]), "inline", QUIET)
        found, wanted = rows(store, more.run_id), rows(alone, expected.run_id)
    for row, other in zip(found, wanted, strict=True):
        assert row["kept"] == pytest.approx(other["kept"], abs=1e-6)
        assert (row["text"], row["extra"]) == (other["text"], other["extra"])
    assert any(len(row["extra"].get("draws", ())) == 5 for row in found)
    with store.query("select count(*) from summaries where length(cast(extra as text)) > 30") as answer:
        assert list(answer.rows) == [(0,)]  # of draws the rows have the number
    store.remove_run(few.run_id, "elsewhere")
    assert rows(store, more.run_id) == found
    assert len(files_of(store, few.run_id)) == 1
